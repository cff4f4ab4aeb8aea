"""What documents bring is bounded: no expression, template or data file takes seconds or gigabytes."""

from __future__ import annotations

import json
import sqlite3
import tracemalloc
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from mcp_sim import Simulator
from mcp_sim.plans.rendering.templates import Scope, spelled
from mcp_sim.simulator.compile import check
from mcp_sim.types.errors import Unevaluable
from mcp_sim.world.cel import expression

Json = Any
pytestmark = pytest.mark.time_limit(30)
MOMENT = datetime(2029, 3, 1, tzinfo=UTC)
TEN = "[1,2,3,4,5,6,7,8,9,10]"
ENDLESS = [
    "".join(f"{TEN}.all({name}, " for name in "abcdefghijklmn") + "true" + ")" * 14,
    "".join(f"{TEN}.exists(//,\n{name}, " for name in "abcdefghijklmn") + "false" + ")" * 14,
    "['x'].map(a, a + a)" + ".map(a, a + a + a + a + a + a + a + a)" * 40 + ".size() > 0",
    "deal.all(a, deal.all(b, deal.all(c, a.id != b.id)))",
    "deal.filter(a, a.amount >= 0.0).size() > 0",
    "deal.map(a, deal).size() > 0",
    "deal.all(b, [1].map(a, deal).size() > 0)",
    "deal.all(a, find('deal', {}).size() > 0)",
    "1" + "+1" * 200_000,
    "(" * 100_000,
]


@pytest.mark.parametrize("text", ENDLESS, ids=range(len(ENDLESS)))
async def test_no_expression_runs_for_long_and_check_runs_none(tmp_path: Path, text: str) -> None:
    entity = "deal" if "deal" in text else "contact"
    body: Json = {
        "mcp_sim": 1,
        "tools": "crm",
        "world": {"records": {entity: 3000}},
        "expect": [{"state": {"cel": text}}],
    }
    if entity == "contact":
        body["perturbations"] = [{"error": {}, "tools": "get_deal", "when": {"state": text}}]
    (tmp_path / "scenario.yaml").write_text(json.dumps(body))
    began = process_time()
    problems = [problem for problem in check([tmp_path / "scenario.yaml"]) if problem.severity == "error"]
    assert process_time() - began < 5
    if problems:
        assert any("4000 characters" in str(problem) for problem in problems)
        return
    async with Simulator.load(tmp_path / "scenario.yaml").open() as world:
        began = process_time()
        await world.call("get_deal", {"deal_id": "deal_0001"})
        assert world.grade().verdicts[0].outcome == "failed"
        assert process_time() - began < 5


def test_what_takes_no_time_is_evaluated() -> None:
    rows = [{"id": n, "amount": 2.0} for n in range(400)]
    for text in ("deal.all(d, d.amount > 1.0)", "deal.filter(d, d.id > 5).map(d, d.id).exists(i, i == 7)"):
        assert expression(text, ["deal"]).holds({"deal": rows}, {})
    joined = "d.id > 0 && d.id < 9 && d.amount > 1.0 && d.amount < 3.0 && deal.exists(e, e.id == d.id)"
    assert expression(f"deal.exists(d, {joined})", ["deal"]).holds({"deal": rows}, {})
    with pytest.raises(Unevaluable, match="combines more than 500 values"):
        expression("deal.filter(d, d.id > 5).size() > 1", ["deal"]).holds({"deal": rows * 2}, {})


@pytest.mark.parametrize("spelling", [".999999999f", ",.99999999f", "%999999999d", "%-0999999999Y", "%_99999999H"])
def test_a_template_pads_nothing_without_end(spelling: str) -> None:
    tracemalloc.start()
    for value in (1, 2.5, "2029-03-01T09:00:00Z"):
        assert len(str(spelled(value, spelling, Scope({}, MOMENT, MOMENT)))) < 100
    assert tracemalloc.get_traced_memory()[1] < 1 << 20
    tracemalloc.stop()


GROWING = {
    "a view of blobs": "CREATE VIEW deal AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n "
    "LIMIT 900000) SELECT id, zeroblob(4000) AS title FROM n",
    "a huge blob": "CREATE VIEW deal AS SELECT 1 AS id, zeroblob(900000000) AS title",
    "a view without end": "CREATE VIEW deal AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
    "SELECT max(id) AS id FROM n",
    "a generated column": "CREATE TABLE deal (id INT, title GENERATED ALWAYS AS (zeroblob(600000000)))",
}


@pytest.mark.parametrize("what", GROWING)
def test_a_database_makes_no_gigabytes_from_nothing(tmp_path: Path, what: str) -> None:
    with closing(sqlite3.connect(tmp_path / "data.db")) as connection, connection:
        connection.execute(GROWING[what])
        if "TABLE" in GROWING[what]:
            connection.executemany("INSERT INTO deal (id) VALUES (?)", [(n,) for n in range(5)])
    check_data(tmp_path, "data.db")


def test_a_table_has_no_more_columns_than_can_be_compared(tmp_path: Path) -> None:
    names = ["id", *(f"c{n}" for n in range(1, 200_000))]
    (tmp_path / "deal.csv").write_text(f"{','.join(names)}\n{'1,' * (len(names) - 1)}1\n" + "1,\n" * 1000)
    check_data(tmp_path, "deal.csv")


def check_data(folder: Path, file: str) -> None:
    """Check that a data file is refused soon, and takes no memory."""
    body = {"mcp_sim": 1, "tools": "crm", "world": {"records": file}}
    (folder / "scenario.yaml").write_text(json.dumps(body))
    began = process_time()
    tracemalloc.start()
    problems = check([folder / "scenario.yaml"])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert any(problem.severity == "error" and file in str(problem) for problem in problems)
    assert process_time() - began < 20
    assert peak < 700 << 20
