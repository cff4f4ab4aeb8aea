"""Summaries, statistics and counts, which are computed from records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import service, value

Json = Any
TEXT = {"type": "string"}
ADD = {
    "name": "add_chore",
    "inputSchema": {
        "type": "object",
        "properties": {"title": TEXT, "category": TEXT, "minutes": {"type": "integer"}, "done": {"type": "boolean"}},
        "required": ["title"],
    },
}
CHORES: list[tuple[str, str, int, bool]] = [
    ("Sweep", "home", 10, True), ("Weed", "garden", 45, False), ("Dust", "home", 20, True)
]  # fmt: skip
NAMES = ["get_chore_stats", "chore_summary", "get_weekly_report", "statistics", "get_dashboard"]
RESULTS: list[dict[str, Json]] = [
    {},
    {"outputSchema": {"type": "object", "properties": {"result": TEXT}, "required": ["result"]}},
    {"outputSchema": {"type": "object", "additionalProperties": True}},
]


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("name", NAMES)
async def test_a_digest_is_computed_from_the_records(tmp_path: Path, name: str, result: dict[str, Json]) -> None:
    about = "Returns JSON."
    summed = {"name": name, "description": about, "inputSchema": {"type": "object", "properties": {"category": TEXT}}}
    summed |= result
    tools = json.dumps([ADD, summed, {"name": "list_chores", "inputSchema": {"type": "object"}}])
    async with service(tmp_path, f"tools: {tools}", "records: {chore: 0}") as sim, sim.open() as world:
        for title, category, minutes, done in CHORES:
            await world.call("add_chore", {"title": title, "category": category, "minutes": minutes, "done": done})
        shown = [value(await world.call(name, asked)) for asked in ({}, {"category": "home"})]
        whole, home = (json.loads(each["result"]) if "result" in each else each for each in shown)
        expected = {"total_chores": 3, "by_category": {"garden": 1, "home": 2}, "total_minutes": 75, "done_chores": 2}
        assert {key: whole[key] for key in expected} == expected
        assert (home["category"], home["total_chores"], home["total_minutes"]) == ("home", 2, 30)


async def test_a_digest_sums_amounts_whose_type_nothing_declares(tmp_path: Path) -> None:
    add: Json = {"name": "add_expense", "inputSchema": {"type": "object", "properties": {"amount": {}, "category": {}}}}
    tools = json.dumps([add, {"name": "expense_summary", "inputSchema": {"type": "object"}}])
    async with service(tmp_path, f"tools: {tools}", "records: {expense: 0}") as sim, sim.open() as world:
        for amount in (42.5, 7):
            await world.call("add_expense", {"amount": amount, "category": "food"})
        shown = value(await world.call("expense_summary", {}))
    assert (shown["total_expenses"], shown["total_amount"]) == (2, 49.5)


async def test_a_digest_of_a_server_that_answers_in_sentences_is_short(tmp_path: Path) -> None:
    tools = json.dumps([ADD, {"name": "get_chore_stats", "inputSchema": {"type": "object"}}])
    async with service(tmp_path, f"text: prose\ntools: {tools}", "records: {chore: 0}") as sim, sim.open() as world:
        await world.call("add_chore", {"title": "Sweep", "category": "home", "minutes": 10})
        shown = value(await world.call("get_chore_stats", {}))
        assert shown.startswith("Total chores: 1\n")
        assert len(shown) < 120


async def test_a_declared_map_counts_records_by_a_field_and_no_amounts(tmp_path: Path) -> None:
    counts = {"type": "object", "additionalProperties": {"type": "integer"}}
    parts = dict.fromkeys(("by_category", "chores_by_category", "count_by_category", "minutes_by_category"), counts)
    declared = {"type": "object", "properties": {"chores": {"type": "integer"}, **parts}, "required": [*parts]}
    summed = {"name": "chore_summary", "inputSchema": {"type": "object"}, "outputSchema": declared}
    async with (
        service(tmp_path, f"tools: {json.dumps([ADD, summed])}", "records: {chore: 0}") as sim,
        sim.open() as world,
    ):
        for title, category, minutes, _ in CHORES:
            await world.call("add_chore", {"title": title, "category": category, "minutes": minutes})
        shown = value(await world.call("chore_summary", {}))
        by_category = {"garden": 1, "home": 2}
        assert [shown[name] for name in ("by_category", "chores_by_category", "count_by_category")] == [by_category] * 3
        assert shown["minutes_by_category"] != by_category
