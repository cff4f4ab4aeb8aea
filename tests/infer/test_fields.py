"""Fields that no schema shows: those of filters and of the verbs of updates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support.services import service, value

Json = Any
TEXT = {"type": "string"}


def tool(name: str, *needed: str, **arguments: Json) -> Json:
    schema = {"type": "object", "properties": dict.fromkeys(needed, TEXT) | arguments, "required": [*needed]}
    return {"name": name, "inputSchema": schema}


def spec(*tools: Json) -> str:
    return f"tools: {json.dumps([*tools])}"


DESK = spec(
    tool(
        "list_cases",
        status={"type": "string", "enum": ["all", "open", "closed"]},
        severity={"type": "string", "enum": ["low", "high"]},
        escalated={"type": "boolean"},
        team=TEXT,
        min_age={"type": "integer"},
        include_history={"type": "boolean"},
    ),
    tool("create_case", "subject", severity={"type": "string", "enum": ["low", "high"]}),
    tool("close_case", "case_id"),
    tool("get_case", "case_id"),
)


async def test_filters_of_a_list_are_fields_if_no_schema_shows_the_records(tmp_path: Path) -> None:
    async with service(tmp_path, DESK, "records: {case: 30}") as sim, sim.open() as world:
        plan = world.scenario.domain.plans["list_cases"]
        assert {name: rule.field for name, rule in plan.filters.items()} == {
            "status": "status", "severity": "severity", "escalated": "escalated", "team": "team", "min_age": "age",
        }  # fmt: skip
        by_state = [value(await world.call("list_cases", {"status": state}))["count"] for state in ("open", "closed")]
        assert sum(by_state) == 30
        assert 0 < by_state[0] < 30
        assert value(await world.call("list_cases", {"status": "all"}))["count"] == 30
        flagged = value(await world.call("list_cases", {"escalated": True, "severity": "high"}))["cases"]
        assert all(case["escalated"] is True and case["severity"] == "high" for case in flagged)


async def test_a_new_record_starts_in_the_first_state_and_a_verb_changes_it(tmp_path: Path) -> None:
    async with service(tmp_path, DESK, "records: {case: 3}") as sim, sim.open() as world:
        made = value(await world.call("create_case", {"subject": "Squeaking brakes"}))
        assert made["status"] == "open"
        assert value(await world.call("close_case", {"case_id": made["id"]}))["status"] == "closed"
        closed = value(await world.call("list_cases", {"status": "closed"}))["cases"]
        assert made["id"] in [case["id"] for case in closed]


async def test_a_choice_without_a_shown_field_filters_by_a_hidden_field(tmp_path: Path) -> None:
    case = {"type": "object", "properties": {"id": TEXT, "subject": TEXT}, "required": ["id", "subject"]}
    rows = {"type": "object", "properties": {"cases": {"type": "array", "items": case}}, "required": ["cases"]}
    listed = tool("list_cases", queue={"type": "string", "enum": ["mail", "phone"]}) | {"outputSchema": rows}
    desk = spec(listed, tool("get_case", "case_id") | {"outputSchema": case})
    async with service(tmp_path, desk, "records: {case: 12}") as sim, sim.open() as world:
        parts = [value(await world.call("list_cases", {"queue": queue}))["cases"] for queue in ("mail", "phone")]
        by_mail, by_phone = [{case["id"] for case in part} for part in parts]
        assert by_mail
        assert by_phone
        assert not by_mail & by_phone


async def test_a_verb_sets_a_flag_that_is_also_an_argument(tmp_path: Path) -> None:
    todo = spec(
        tool("create_chore", "title", completed={"type": "boolean"}),
        tool("complete_chore", "chore_id"),
        tool("get_chore", "chore_id"),
    )
    async with service(tmp_path, todo, "records: {chore: 2}") as sim, sim.open() as world:
        chore = value(await world.call("create_chore", {"title": "Sweep", "completed": False}))
        done = value(await world.call("complete_chore", {"chore_id": chore["id"]}))
        assert done["completed"] is True
        assert "status" not in done


async def test_records_without_a_schema_have_a_creation_time(tmp_path: Path) -> None:
    chores = [
        tool("create_chore", "dueBy"),
        tool("list_chores"),
        tool("create_visit", "visit_date"),
        tool("list_visits"),
    ]
    for one in chores:
        one["description"] = "For the house."
    async with service(tmp_path, spec(*chores), "records: {chore: 0, visit: 0}") as sim, sim.open() as world:
        await world.call("create_chore", {"dueBy": "Monday"})
        await world.call("create_visit", {"visit_date": "2030-02-01"})
        (chore,) = value(await world.call("list_chores", {}))["chores"]
        assert chore["createdAt"].startswith("2030-01-01T09:00")
        (visit,) = value(await world.call("list_visits", {}))["visits"]
        assert "created_at" in visit


async def test_an_argument_that_ends_like_a_bound_may_be_a_field(tmp_path: Path) -> None:
    stays = spec(tool("search_stays", "check_in", "check_out"))
    async with service(tmp_path, stays, "records: {stay: 3}") as sim, sim.open() as world:
        rules = world.scenario.domain.plans["search_stays"].filters
        assert {name: rule.field for name, rule in rules.items()} == {"check_in": "check_in", "check_out": "check_out"}
