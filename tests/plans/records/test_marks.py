"""An answer that rests on a guess has the reasons in the ledger, and a plan shows those of its tool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.given import NUMBER, STRING, tool

from mcp_sim import Simulator
from mcp_sim.plans.records.marks import doubts_of
from mcp_sim.server.call_log import step_lines
from mcp_sim.simulator.compile import load
from mcp_sim.world.trace import step_bytes, step_from_json

BOXES = {"boxes": [{"box_id": "B1", "weight": 3, "hall": "H7"}, {"box_id": "B2", "weight": 5, "hall": "H7"}]}
LIST, GET = tool("list_boxes", weight=NUMBER, hall=STRING), tool("get_box", "box_id")


def service(folder: Path, tools: list[dict[str, Any]], state: Any) -> Path:
    (folder / "tools.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    (folder / "scenario.yaml").write_text(json.dumps({"mcp_sim": 1, "tools": "tools.json", "world": {"state": state}}))
    return folder / "scenario.yaml"


async def reasons(path: Path, *calls: tuple[str, dict[str, Any]]) -> list[str]:
    """Return why the last of some calls is a guess."""
    async with Simulator.load(path).open() as world:
        for name, arguments in calls:
            await world.call(name, arguments)
        step = world.ledger.steps[-1]
        assert step["guessed"] is bool(step.get("guesses"))
        return step.get("guesses", [])


ROLE = "the argument order_id has no role in the plan"


@pytest.mark.parametrize(("order", "expected"), [({"order_id": "O1"}, True), ({}, False)])
async def test_an_argument_without_a_role_is_a_reason_and_leaves_the_record_in_doubt(
    tmp_path: Path, order: Any, expected: bool
) -> None:
    rows = [{**row, "status": "open"} for row in BOXES["boxes"]]
    path = service(tmp_path, [LIST, GET, tool("close_box", "box_id", order_id=STRING)], {"boxes": rows})
    close = ("close_box", {"box_id": "B1", **order})
    assert (ROLE in await reasons(path, close)) is expected
    doubted = ["an earlier call may have changed records of box"]
    assert await reasons(path, close, ("get_box", {"box_id": "B1"})) == doubted * expected
    assert await reasons(path, ("close_box", {"box_id": "B9", **order})) == []


@pytest.mark.parametrize(
    ("boxes", "expected"),
    [(BOXES["boxes"], ["no part of the plan selects what is closed"]),
     ([{**BOXES["boxes"][0], "closed": True}], []),
     ([{**BOXES["boxes"][0], "status": "closed"}], [])],
)  # fmt: skip
async def test_a_word_that_selects_records_and_that_the_plan_does_not_use_is_a_reason(
    tmp_path: Path, boxes: Any, expected: list[str]
) -> None:
    path = service(tmp_path, [GET, tool("list_closed_boxes")], {"boxes": boxes})
    assert [*expected] == [reason for reason in await reasons(path, ("list_closed_boxes", {})) if "selects" in reason]


@pytest.mark.parametrize(
    ("get", "expected"),
    [(tool("get_box_weight", "box_id"), ["the tool may show weight alone"]),
     (tool("get_box_by_hall", hall=STRING), []),
     ({**tool("get_box_weight", "box_id"), "outputSchema": {"type": "object", "properties": {"weight": NUMBER}}}, [])],
)  # fmt: skip
async def test_a_tool_named_after_a_field_may_show_it_alone(tmp_path: Path, get: Any, expected: list[str]) -> None:
    path = service(tmp_path, [LIST, get], {"boxes": BOXES["boxes"][:1]})
    asked = {"hall": "H7"} if get["name"] == "get_box_by_hall" else {"box_id": "B1"}
    assert await reasons(path, (get["name"], asked)) == expected
    refused = dict.fromkeys(asked, "none")
    assert await reasons(path, (get["name"], refused)) == []


@pytest.mark.parametrize(("verb", "expected"), [("cancel", True), ("close", False)])
async def test_what_calls_a_record_off_leaves_it_in_doubt(tmp_path: Path, verb: str, expected: bool) -> None:
    rows = [{"order_id": "O1", "status": "open", "paid": 9}, {"order_id": "O2", "status": "cancelled", "paid": 9}]
    path = service(tmp_path, [tool("get_order", "order_id"), tool(f"{verb}_order", "order_id")], {"orders": rows})
    call = (f"{verb}_order", {"order_id": "O1"})
    assert ("nothing says which fields the call changes" in await reasons(path, call)) is expected
    doubted = ["an earlier call may have changed records of order"]
    assert await reasons(path, call, ("get_order", {"order_id": "O1"})) == doubted * expected


async def test_an_entity_that_the_given_state_lacks_is_a_reason(tmp_path: Path) -> None:
    path = service(tmp_path, [LIST, GET, tool("create_hall", "name"), tool("list_halls")], BOXES)
    assert await reasons(path, ("create_hall", {"name": "H7"})) == ["the given state has no records of hall"]
    path = service(tmp_path, [LIST, GET, tool("create_hall", "name"), tool("list_halls")], {**BOXES, "halls": []})
    assert await reasons(path, ("create_hall", {"name": "H7"})) == []


async def test_one_of_several_records_is_a_reason(tmp_path: Path) -> None:
    path = service(tmp_path, [LIST, tool("get_box", "hall")], BOXES)
    assert await reasons(path, ("get_box", {"hall": "H7"})) == ["nothing says which of several records is meant"]
    path = service(tmp_path, [LIST, tool("get_box", "hall")], {"boxes": BOXES["boxes"][:1]})
    assert await reasons(path, ("get_box", {"hall": "H7"})) == []


async def test_a_refused_create_is_a_guess_if_the_state_has_the_parent_elsewhere(tmp_path: Path) -> None:
    tools = [LIST, GET, tool("create_label", "text", "box_id"), tool("list_labels")]
    path = service(tmp_path, tools, {**BOXES, "labels": [{"label_id": "L1", "text": "old", "box_id": "B1"}]})
    assert await reasons(path, ("create_label", {"text": "new", "box_id": "B1"})) == []
    assert await reasons(path, ("create_label", {"text": "new", "box_id": "B9"})) == []
    elsewhere = ["the state has 'H7' in another place"]
    assert await reasons(path, ("create_label", {"text": "new", "box_id": "H7"})) == elsewhere


async def test_a_key_that_the_state_has_elsewhere_is_a_reason_to_doubt_that_nothing_is_found(tmp_path: Path) -> None:
    path = service(tmp_path, [LIST, GET, tool("update_box", "box_id", weight=NUMBER)], BOXES)
    assert await reasons(path, ("get_box", {"box_id": "B9"})) == []
    elsewhere = ["the state has 'H7' in another place"]
    assert await reasons(path, ("get_box", {"box_id": "H7"})) == elsewhere
    assert await reasons(path, ("update_box", {"box_id": "H7", "weight": 2})) == elsewhere


@pytest.mark.parametrize("operation", ["get", "list", "update"])
async def test_the_argument_that_chooses_an_operation_has_a_role(tmp_path: Path, operation: str) -> None:
    choices = {"type": "string", "enum": ["create", "get", "list", "update", "delete"]}
    flag = {"type": "boolean"}
    path = service(
        tmp_path,
        [tool("manage_task", operation=choices, task_id=STRING, title=STRING, done=flag)],
        {"tasks": [{"task_id": "T1", "title": "wash", "done": False}]},
    )
    arguments = {"get": {"task_id": "T1"}, "list": {}, "update": {"task_id": "T1", "title": "dry"}}[operation]
    assert await reasons(path, ("manage_task", {"operation": operation, **arguments})) == []


async def test_ledger_log_and_plan_have_the_reasons(tmp_path: Path) -> None:
    path = service(tmp_path, [GET, tool("list_available_boxes"), tool("delete_box", "box_id", order_id=STRING)], BOXES)
    reason = "no part of the plan selects what is available"
    async with Simulator.load(path).open() as world:
        await world.call("list_available_boxes", {})
        step = step_from_json(world.ledger.steps[-1])
        assert step.guesses == (reason,)
        assert json.loads(step_bytes(step)) == world.ledger.steps[-1]
        assert step_lines(step)[0].endswith(f" (guessed: {reason})")
    domain = load(path).domain
    assert doubts_of(domain.plans["list_available_boxes"], domain) == [reason]
    assert doubts_of(domain.plans["delete_box"], domain) == [ROLE]
    assert doubts_of(domain.plans["get_box"], domain) == []
