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


async def test_rows_that_a_create_takes_are_kept_though_tools_name_their_records(tmp_path: Path) -> None:
    questions = {"type": "array", "items": {"type": "object", "properties": {"text": TEXT}}}
    surveys = spec(
        tool("create_survey", "title", questions=questions),
        tool("get_survey", "survey_id"),
        tool("add_question", "survey_id", "text"),
        tool("get_question", "question_id"),
    )
    asked = [{"text": "Soup?"}, {"text": "Bread?"}]
    async with service(tmp_path, surveys, "").open() as world:
        survey = value(await world.call("create_survey", {"title": "Lunch", "questions": asked}))
        assert [question["text"] for question in survey["questions"]] == ["Soup?", "Bread?"]
        assert value(await world.call("get_survey", {"survey_id": survey["id"]}))["questions"] == survey["questions"]
        bread = value(await world.call("get_question", {"question_id": survey["questions"][1]["id"]}))
        assert (bread["text"], bread["survey_id"]) == ("Bread?", survey["id"])
