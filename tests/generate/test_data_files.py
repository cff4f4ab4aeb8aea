"""Worlds given as JSON, CSV, SQLite or a folder: values are converted, problems are reported with their place."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mcp_sim.generate.records import generate
from mcp_sim.simulator.compile import check, load
from mcp_sim.types import Record

TOOLS: list[dict[str, Any]] = [
    {
        "name": f"get_{name}",
        "inputSchema": {"type": "object", "properties": {f"{name}_id": {"type": kind}}, "required": [f"{name}_id"]},
        "outputSchema": {"type": "object", "properties": {"id": {"type": kind}, **fields}, "required": ["id"]},
    }
    for name, kind, fields in (
        (
            "customer",
            "string",
            {
                "name": {"type": "string"},
                "age": {"type": "integer", "minimum": 0},
                "vip": {"type": "boolean"},
                "score": {"type": ["number", "null"]},
                "tags": {"type": "array", "items": {"type": "string"}},
            },
        ),
        ("order", "integer", {"customer_id": {"type": "string"}, "total": {"type": "number"}}),
    )
]
CSV = 'id,Name,age,vip,score,tags\nc1,"Vos, Ada",41,yes,1.5,"[""a"",""b""]"\nc2,Bo,7,false,,[]\n'
ADA: Record = {"id": "c1", "name": "Vos, Ada", "age": 41, "vip": True, "score": 1.5, "tags": ["a", "b"]}
BO: Record = {"id": "c2", "name": "Bo", "age": 7, "vip": False, "score": None, "tags": []}


def scenario(folder: Path, records: str) -> Path:
    """Write a scenario with two entities and these given records. Return its path."""
    tools = folder / "shop.tools.json"
    tools.write_text(json.dumps({"tools": TOOLS}), encoding="utf-8")
    path = folder / "scenario.yaml"
    path.write_text(f"mcp_sim: 1\nname: shop\ntools: shop.tools.json\nworld: {{{records}}}\n", encoding="utf-8")
    return path


def tables(path: Path) -> dict[str, list[Record]]:
    """Return all initial records of a scenario by entity."""
    given = load(path)
    return {name: [*rows.values()] for name, rows in generate(given.domain, given.records, given.seed).items()}


def problems(path: Path) -> list[str]:
    return [str(problem).partition("/")[2].rpartition("/")[2] for problem in check([path])]


def test_a_csv_file_has_the_types_of_the_schemas(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
    found = tables(scenario(tmp_path, "records: {customer: people.csv, order: 0}"))
    assert found == {"customer": [ADA, BO], "order": []}


def test_a_file_is_added_to_by_rows_and_by_a_count(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
    found = tables(scenario(tmp_path, "records: {customer: {file: people.csv, count: 5, rows: [{id: x9}]}, order: 0}"))
    assert [row["id"] for row in found["customer"]][:3] == ["c1", "c2", "x9"]
    assert len(found["customer"]) == 5


def test_json_holds_tables_as_lists_or_as_mappings_from_keys(tmp_path: Path) -> None:
    whole = {"customers": {"c1": {"name": "Ada"}, "c2": {"name": "Bo"}}, "orders": [{"id": 7, "customer_id": "c1"}]}
    (tmp_path / "data.json").write_text(json.dumps(whole), encoding="utf-8")
    found = tables(scenario(tmp_path, "records: data.json"))
    assert [(row["id"], row["name"]) for row in found["customer"]] == [("c1", "Ada"), ("c2", "Bo")]
    assert [(row["id"], row["customer_id"]) for row in found["order"]] == [(7, "c1")]


def test_nested_records_become_records_of_their_own(tmp_path: Path) -> None:
    whole = {"customer": [{"id": "c1", "name": "Ada", "orders": [{"id": 1, "total": 2}, {"id": 2, "total": 3.5}]}]}
    (tmp_path / "data.json").write_text(json.dumps(whole), encoding="utf-8")
    found = tables(scenario(tmp_path, "records: data.json"))
    assert [(row["id"], row["customer_id"], row["total"]) for row in found["order"]] == [(1, "c1", 2), (2, "c1", 3.5)]
    assert "orders" not in found["customer"][0]


def test_a_sqlite_file_is_read_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(path)) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("CREATE TABLE customers (id TEXT, name TEXT, age REAL, vip INTEGER, score REAL, tags TEXT)")
        base.execute("INSERT INTO customers VALUES ('c1', 'Vos, Ada', 41.0, 1, 1.5, '[\"a\", \"b\"]')")
        base.execute("INSERT INTO customers VALUES ('c2', 'Bo', 7, 0, NULL, '[]')")
        base.execute("CREATE TABLE migrations (id INTEGER)")
        base.commit()
    before = path.read_bytes()
    place = scenario(tmp_path, 'records: {"*": shop.sqlite, order: 3}')
    found = tables(place)
    assert found["customer"] == [ADA, BO]
    assert len(found["order"]) == 3
    assert path.read_bytes() == before
    assert problems(place) == ["shop.sqlite: warning: migrations: no tool uses this table, and it is ignored; choose "
                               "from 'customer', 'order'"]  # fmt: skip


ENDLESS = "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t) SELECT i AS id FROM t WHERE i < 0"


def test_a_view_of_sqlite_replaces_a_missing_table(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as base:
        base.execute("CREATE TABLE people (id TEXT, name TEXT, age INTEGER, vip INTEGER, score REAL, tags TEXT)")
        base.execute("INSERT INTO people VALUES ('c2', 'Bo', 7, 0, NULL, '[]')")
        base.execute("CREATE VIEW customers AS SELECT * FROM people")
        base.execute("CREATE TABLE orders (id INTEGER, customer_id TEXT)")
        base.execute(f"CREATE VIEW 'order' AS {ENDLESS}")
        base.commit()
    place = scenario(tmp_path, "records: shop.sqlite")
    assert tables(place)["customer"] == [BO]
    assert [one.partition(":")[2].partition(",")[0] for one in problems(place)] == [
        " warning: people: no tool uses this table"
    ]


def test_an_endless_view_is_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcp_sim.generate.data_files.tables._MAX_STEPS", 100_000)
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as base:
        base.execute(f"CREATE VIEW orders AS {ENDLESS}")
        base.commit()
    place = scenario(tmp_path, "records: shop.sqlite")
    assert problems(place) == ["shop.sqlite: cannot be read as SQLite: the view orders: interrupted"]


def test_a_folder_holds_a_file_per_table(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "customers.csv").write_text(CSV, encoding="utf-8")
    (folder / "orders.json").write_text('[{"id": 1, "customer_id": "c2"}]', encoding="utf-8")
    found = tables(scenario(tmp_path, "records: data"))
    assert found["customer"] == [ADA, BO]
    assert found["order"][0]["customer_id"] == "c2"


def test_other_separators_are_understood(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id;name;age\nc1;Ada, V;3\n", encoding="utf-8")
    (tmp_path / "b.tsv").write_text("id\tcustomer_id\n5\tc1\n", encoding="utf-8")
    found = tables(scenario(tmp_path, "records: {customer: a.csv, order: b.tsv}"))
    assert (found["customer"][0]["name"], found["customer"][0]["age"]) == ("Ada, V", 3)
    assert (found["order"][0]["id"], found["order"][0]["customer_id"]) == (5, "c1")


FAULTS = {
    "types": (
        "id,age\nc1,old\n\nc2,-4\n",
        [
            "people.csv:2: people[0].age: must be of type integer, not 'old'",
            "people.csv:4: people[1].age: -4 is less than the minimum of 0",
        ],
    ),
    "numbers": ("id,score\nc1,1e999\n", ["people.csv:2: people[0].score: must be of type number, not '1e999'"]),
    "keys": ("id,age\nc1,1\nc1,2\n", ["people.csv:3: people[1].id: a second customer 'c1'"]),
    "columns": (
        "id,nmae\nc1,x\n",
        ["people.csv: warning: people.nmae: column 'nmae' of customer is not used by any tool; did you mean 'name'?"],
    ),
    "lengths": ("id,name\nc1\nc2,b,c\n", [
        "people.csv:2: people[0]: has 1 values, and the first line 2",
        "people.csv:3: people[1]: has 3 values, and the first line 2",
    ]),
    "names": ("id,id\nc1,c1\n", ["people.csv:1: the column 'id' occurs twice"]),
    "quotes": ('id,name\nc1,"x\n', ["people.csv: is not CSV: unexpected end of data"]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), FAULTS.values(), ids=FAULTS)
def test_problems_of_a_file_have_line_numbers(text: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(text, encoding="utf-8")
    assert problems(scenario(tmp_path, "records: {customer: people.csv}")) == expected


def test_problems_of_json_have_line_numbers(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(
        '{"customer": [\n  {"id": "c1"},\n  {"id": "c2", "age": "x"}\n]}', encoding="utf-8"
    )
    (found,) = problems(scenario(tmp_path, "records: data.json"))
    assert found.startswith("data.json:3: customer[1].age: ")


def test_many_problems_of_a_table_are_counted(tmp_path: Path) -> None:
    rows = "".join(f"c{n},x\n" for n in range(50))
    (tmp_path / "people.csv").write_text(f"id,age\n{rows}", encoding="utf-8")
    found = problems(scenario(tmp_path, "records: {customer: people.csv}"))
    assert len(found) == 21
    assert found[-1] == "people.csv: people: 30 more values are wrong"


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ("records: {customer: nowhere.csv}", "file 'nowhere.csv' not found in the folder of scenario.yaml"),
        (
            "records: {customer: many}",
            "expected a number of records or a file beside scenario.yaml, got 'many'",
        ),
        ("records: {custmer: people.csv}", "unknown entity; did you mean 'customer'?"),
        ("records: {customer: {file: people.csv, count: 1}}", "count is 1, but there are 2 rows, which count includes"),
        ('records: {"*": {count: 3}}', "means every entity, and needs a file"),
        ("records: broken.sqlite", "cannot be read as SQLite: file is not a database"),
        ("records: [1]", "expected a mapping from entities to records, or a file, got a list"),
        ("state: nowhere.json", "world.state: file 'nowhere.json' not found in the folder of scenario.yaml"),
        ("state: people.yaml", "must be a mapping, not a list"),
    ],
)
def test_invalid_records_in_a_scenario_are_reported(records: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "people.yaml").write_text("- 1\n", encoding="utf-8")
    (tmp_path / "broken.sqlite").write_bytes(b"x" * 200)
    assert any(problem.endswith(expected) for problem in problems(scenario(tmp_path, records)))


def test_dangling_links_are_reported(tmp_path: Path) -> None:
    whole = {"customer": [{"id": "c1"}], "order": [{"id": 1, "customer_id": "c1"}, {"id": 2, "customer_id": "c9"}]}
    (tmp_path / "data.json").write_text(json.dumps(whole), encoding="utf-8")
    (found,) = problems(scenario(tmp_path, "records: data.json"))
    assert "warning" in found
    assert found.endswith("1 of its records link to no customer, as 'c9' in customer_id")


def test_a_state_may_be_in_a_file(tmp_path: Path) -> None:
    whole = {"customers": {"c1": {"id": "c1", "name": "Ada"}}}
    (tmp_path / "state.json").write_text(json.dumps(whole), encoding="utf-8")
    found = tables(scenario(tmp_path, "state: state.json"))
    assert [row["name"] for row in found["customer"]] == ["Ada"]


def test_data_files_are_documents_of_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(CSV, encoding="utf-8")
    path = scenario(tmp_path, "records: {customer: people.csv}")
    before = load(path)
    assert [file.name for file in before.files] == ["scenario.yaml", "shop.tools.json", "people.csv"]
    (tmp_path / "people.csv").write_text(CSV.replace("Bo", "Bob"), encoding="utf-8")
    assert load(path).sha256 != before.sha256


def test_generated_records_link_to_records_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("mcp_sim: 1\ntools: crm\nworld: {records: {contact: people.csv, deal: 5}}\n", encoding="utf-8")
    (tmp_path / "people.csv").write_text("id,name\ncon_00007,Bo\n", encoding="utf-8")
    assert problems(path) == []
    assert {deal["contact_id"] for deal in tables(path)["deal"]} == {"con_00007"}
    (tmp_path / "people.csv").write_text("id,name\n", encoding="utf-8")
    assert "no deal is generated: each must link to a contact, and none exists" in str(check([path]))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string", "format": "date"}, "tasks.csv:2: tasks[0].due_date: '05.01.2030' is no ISO 8601 date"),
        ({"type": "string"}, "tasks.csv:2: warning: tasks[0].due_date: '05.01.2030' is no ISO 8601 date"),
    ],
)
def test_a_date_with_the_year_last_is_a_warning_and_an_error_in_date_fields(
    tmp_path: Path, schema: Record, expected: str
) -> None:
    output = {"type": "object", "properties": {"id": {"type": "string"}, "due_date": schema}, "required": ["id"]}
    tool = {"name": "get_task", "inputSchema": TOOLS[0]["inputSchema"], "outputSchema": output}
    (tmp_path / "tasks.tools.json").write_text(json.dumps({"tools": [tool]}), encoding="utf-8")
    (tmp_path / "tasks.csv").write_text("id,due_date\nt1,05.01.2030\nt2,06.01.2030\nt3,\n", encoding="utf-8")
    path = tmp_path / "scenario.yaml"
    path.write_text("mcp_sim: 1\ntools: tasks.tools.json\nworld: {records: {task: tasks.csv}}\n", encoding="utf-8")
    (problem,) = [one for one in problems(path) if "is a guess" not in one]
    assert problem.startswith(expected)
