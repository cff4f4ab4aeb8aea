"""The final answer as a table against records of the world, and agents that do research."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.grades import GradedVerdict

STATE: Any = {
    "rows": {
        "town": [{"id": "t1", "name": "Sele"}, {"id": "t2", "name": "Okno"}],
        "bridge": [
            {"id": "b1", "name": "Old Bridge", "town": "t1", "length": 1200, "opened": "1990-05-01"},
            {"id": "b2", "name": "New Bridge", "town": "t2", "length": 80.5, "opened": "2020-05-01"},
            {"id": "b3", "name": "Footbridge", "town": "t2", "length": 9, "opened": "2001-05-01"},
        ],
    },
    "links": {"bridge.town": "town"},
}
COLUMNS = {"bridge": "name", "town": "town.name", "length": "length", "opened on": "opened"}
TABLE = {"entity": "bridge", "where": {"length": {"gte": 50}}, "columns": COLUMNS, "key": "bridge"}
HEAD = "Here they are:\n\n| Bridge | town | length | Opened on |\n|---|:-:|---|--:|\n"
OLD, NEW = "| **old bridge** | Sele | 1,200 m | 1990-05-01 |\n", "| New Bridge | Okno | 80.5 | 2020-05-01 |\n"


async def verdict(folder: Path, answer: str | None, **options: Any) -> GradedVerdict:
    scenario = folder / "scenario.yaml"
    expect = [{"table": {**TABLE, **options}, "id": "table"}]
    document = {"mcp_sim": 1, "tools": "search_world", "world": {"state": STATE}, "expect": expect}
    scenario.write_text(json.dumps(document), encoding="utf-8")
    async with Simulator.load(scenario).open() as world:
        await world.call("web_search", {"query": "bridge"})
        return world.grade(answer).verdicts[0]


ANSWERS: list[tuple[str | None, dict[str, Any], str, str]] = [
    (HEAD + NEW + OLD, {}, "passed", "row F1 1.000, item F1 1.000: 2 of 2 rows right, 2 given"),
    (HEAD + OLD, {}, "failed", "row F1 0.667, item F1 0.667: 1 of 2 rows right, 1 given; missing: New Bridge"),
    (HEAD + OLD, {"row_f1": 0.6, "item_f1": 0.6}, "passed", "row F1 0.667"),
    (HEAD + OLD, {"row_f1": 0.6, "item_f1": 0.7}, "failed", "row F1 0.667"),
    (HEAD + OLD + NEW + "| Ponte | Sele | 60 | 1990-05-01 |", {}, "failed", "not one of them: Ponte"),
    (HEAD + OLD + NEW.replace("80.5", "81"), {}, "failed", "item F1 0.875"),
    (HEAD + OLD + NEW.replace("80.5", "81"), {"near": {"length": 0.01}}, "passed", "row F1 1.000"),
    (HEAD + OLD + NEW.replace("05-01", "05-03"), {"near": {"opened on": 2}}, "passed", "row F1 1.000"),
    (HEAD + OLD + NEW.replace("05-01", "05-04"), {"near": {"opened on": 2}}, "failed", "opened on of new bridge is"),
    ("They are Old Bridge and New Bridge.", {}, "failed", "has no Markdown table with the columns bridge, town"),
    (HEAD.replace("length", "size") + OLD + NEW, {}, "failed", "has no Markdown table"),
    (None, {}, "not judged", "the final answer is not known"),
    (HEAD + OLD, {"where": {"length": 1}}, "vacuous", "no bridge record fits"),
]


@pytest.mark.parametrize(("answer", "options", "outcome", "because"), ANSWERS)
async def test_rows_and_items_are_compared(
    answer: str | None, options: dict[str, Any], outcome: str, because: str, tmp_path: Path
) -> None:
    judged = await verdict(tmp_path, answer, **options)
    assert (judged.outcome, because in judged.because) == (outcome, True), judged.because


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"entity": "bridges"}, "unknown entity 'bridges'; did you mean 'bridge'"),
        ({"columns": {"bridge": "name", "town": "town.nam"}}, "town has no field 'nam'"),
        ({"key": "name"}, "unknown column 'name'"),
    ],
)
async def test_names_are_checked_at_load(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=message):
        await verdict(tmp_path, "", **options)


async def test_who_reads_only_snippets_or_trusts_the_first_source_fails() -> None:
    """The research task that ships: its facts are in pages alone, and an older survey shows other heights."""
    async with Simulator(compiled("calm_search_world")).open() as world:
        truth = {row["name"]: row for _, row in world.view.rows("lighthouse")}
        towns = {row["id"]: row["name"] for _, row in world.view.rows("town")}
        found = value(await world.call("search/web_search", {"query": "lighthouse tower height metres", "count": 50}))
        assert not any(f" {row['height']} metres" in found for row in truth.values())
        heights = {name: row["height"] for name, row in truth.items()}
        surveys = {row["lighthouse"]: row["height"] for _, row in world.view.rows("survey")}
        first = {name: surveys.get(row["id"], row["height"]) for name, row in truth.items()}

        def outcome(believed: dict[str, int]) -> str:
            rows = [
                f"| {name} | {towns[truth[name]['town']]} | {height} | {truth[name]['built']} |"
                for name, height in believed.items()
                if height >= 90
            ]
            answer = "\n".join(["| lighthouse | town | height | built |", "|---|---|---|---|", *rows])
            return next(item.outcome for item in world.grade(answer).verdicts if item.id == "right-table")

        assert outcome(heights) == "passed"
        assert outcome(first) == "failed"
        assert outcome({}) == "failed"
