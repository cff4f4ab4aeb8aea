"""What all backends share: roles, choices, requests, refusals, and the operations as a library."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.backend_answers import STRING, simulator, success_value, tool
from support.matched_tools import backends
from support.matched_tools import simulator as of_spec

from mcp_sim.backends.library import Library
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import UnknownKind
from mcp_sim.types.kinds import BACKENDS_WITHOUT_MATCH
from mcp_sim.types.kinds import backends as kinds

NOW = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


async def test_an_argument_that_selects_the_operation_makes_a_plan_with_choices(tmp_path: Path) -> None:
    action = {"type": "string", "enum": ["add", "list", "clear"]}
    manage = tool("manage_notes", {"action": action, "text": STRING}, optional=["text"])
    async with simulator(tmp_path, [manage]) as sim, sim.open() as world:
        plan = sim.scenario.domain.plans["manage_notes"]
        assert (plan.backend, plan.choice, sorted(plan.choices)) == ("notes", "action", ["add", "clear", "list"])
        success_value(await world.call("manage_notes", {"action": "add", "text": "milk"}))
        assert success_value(await world.call("manage_notes", {"action": "list"})) == "1. milk"


async def test_a_spec_chooses_a_backend_for_a_tool_that_does_not_match(tmp_path: Path) -> None:
    tools = [tool("keep_in_mind", {"text": STRING}), tool("show_my_mind")]
    sim = {
        "keep_in_mind": {"backend": "notes", "operation": "add"},
        "show_my_mind": {"backend": "notes", "operation": "read"},
    }
    async with of_spec(tmp_path, tools, spec={"sim": sim}) as simulated, simulated.open() as world:
        assert backends(simulated) == {"keep_in_mind": "notes add", "show_my_mind": "notes read"}
        success_value(await world.call("keep_in_mind", {"text": "milk"}))
        assert success_value(await world.call("show_my_mind", {})) == "1. milk"


async def test_a_wrapped_text_is_plain_in_the_value_and_in_the_content(tmp_path: Path) -> None:
    wrapped = {"result": STRING}
    tools = [tool("add_todo", {"task": STRING}, wrapped), tool("list_todos", {}, wrapped), tool("clear_todos")]
    async with simulator(tmp_path, tools, {"todos": ["milk"]}) as sim, sim.open() as world:
        listed = await world.call("list_todos", {})
        assert success_value(listed) == {"result": "1. milk"}
        assert isinstance(listed.body, ToolResult)
        assert listed.body.content == [{"type": "text", "text": "1. milk"}]


async def test_operations_are_called_without_a_tool_and_see_earlier_changes(tmp_path: Path) -> None:
    async with simulator(tmp_path, [tool("ping")]) as sim, sim.open() as world:
        notes = Library("notes", world.view, NOW)
        notes.add("milk")
        notes.add(text="eggs")
        assert notes.read().text == "1. milk\n2. eggs"
        notes.remove(1)
        assert notes.read().facts["count"] == 1
        assert [change.op for change in notes.changes] == ["put", "put", "remove"]
        assert world.view.count("note") == 0
        with pytest.raises(Refused, match="No note 7; there are 1 to 1"):
            notes.tick(7)


async def test_a_library_is_called_like_python(tmp_path: Path) -> None:
    async with simulator(tmp_path, [tool("ping")]) as sim, sim.open() as world:
        notes = Library("notes", world.view, NOW)
        with pytest.raises(AttributeError, match="did you mean 'clear'"):
            notes.clean()
        with pytest.raises(TypeError, match="takes 1 arguments, 2 were given"):
            notes.add("milk", "eggs")
        with pytest.raises(TypeError, match="no argument 'txt'; did you mean 'text'"):
            notes.add(txt="milk")
        with pytest.raises(TypeError, match="several values for 'text'"):
            notes.add("milk", text="eggs")
        assert "add" in dir(notes)
        with pytest.raises(TypeError, match="has no operations"):
            Library("records", world.view, NOW)
        with pytest.raises(UnknownKind):
            Library("note", world.view, NOW)


def test_every_operation_is_found_and_has_an_explanation() -> None:
    for kind in sorted(set(kinds.names()) - BACKENDS_WITHOUT_MATCH):
        backend = kinds[kind]()
        if isinstance(backend, OperationsBackend):
            for operation in backend.known.values():
                assert operation.name.isidentifier(), (kind, operation.name)
                function = backend.function(operation)
                assert function.__doc__, (kind, operation.name)
