"""Tools with several operations, one plan for each."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.declared import STRING, Json, domain, tool
from support.strategies import scenario_of

from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.types.domain import Domain

OPERATIONS = ["create", "read", "update", "delete", "list", "search"]


def notes(argument: str, schema: Json) -> Domain:
    parts = {"id": STRING, "title": STRING, "content": STRING, "query": STRING}
    return domain(tool("manage_notes", {argument: schema, **parts}, argument))


@pytest.mark.parametrize("argument", ["operation", "action", "mode", "command"])
def test_an_argument_chooses_the_operation_of_a_tool(argument: str) -> None:
    plan = notes(argument, {"type": "string", "enum": OPERATIONS}).plans["manage_notes"]
    assert (plan.choice, plan.entity, plan.guessed) == (argument, "note", False)
    found = {value: (one.verb, one.entity, one.key) for value, one in plan.choices.items()}
    assert found == {
        "create": ("create", "note", None),
        "read": ("get", "note", "id"),
        "update": ("update", "note", "id"),
        "delete": ("delete", "note", "id"),
        "list": ("list", "note", None),
        "search": ("search", "note", None),
    }
    assert plan.choices["create"].sets == {"title": "title", "content": "content"}
    assert plan.choices["search"].query == "query"


def test_a_verb_in_the_name_wins_over_an_argument() -> None:
    modes = {"type": "string", "enum": ["create", "update"]}
    plan = domain(tool("delete_note", {"id": STRING, "mode": modes}, "id"), tool("get_note", {"id": STRING}, "id"))
    assert (plan.plans["delete_note"].verb, plan.plans["delete_note"].choice) == ("delete", None)


async def test_each_operation_of_a_tool_works_and_names_missing_arguments(tmp_path: Path) -> None:
    operation = {"type": "string", "enum": [*OPERATIONS, "stats"]}
    parts = {"operation": operation, "id": STRING, "title": STRING, "content": STRING}
    scenario = scenario_of([tool("manage_notes", parts, "operation")])
    async with Simulator(scenario) as simulator, simulator.open("w") as world:

        async def call(**arguments: Json) -> tuple[Json, bool]:
            body = (await world.call("manage_notes", arguments)).body
            assert isinstance(body, ToolResult)
            return body.value, body.is_error

        made, _ = await call(operation="create", title="Tea")
        assert (await call(operation="read", id=made["id"])) == (made, False)
        assert (await call(operation="update", id=made["id"], content="Green"))[0]["content"] == "Green"
        assert (await call(operation="delete", id=made["id"]))[1] is False
        assert (await call(operation="read", id=made["id"]))[1] is True
        assert (await call(operation="delete")) == ("id is required", True)
        assert (await call(operation="stats"))[1] is False
