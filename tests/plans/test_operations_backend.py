"""What all backends share: roles, choices, requests, refusals, and the operations as a library."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.backend_answers import STRING, simulator, success_value, tool
from support.matched_tools import backends
from support.matched_tools import simulator as of_spec

from mcp_sim.plans.library import Library
from mcp_sim.plans.operations_backend import OperationsBackend
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import UnknownKind
from mcp_sim.types.kinds import BACKENDS_WITHOUT_MATCH
from mcp_sim.types.kinds import backends as kinds

NOW = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)


async def test_an_argument_that_selects_the_operation_makes_a_plan_with_choices(tmp_path: Path) -> None:
    action = {"type": "string", "enum": ["set", "get", "clear"]}
    manage = tool("manage_cache", {"action": action, "key": STRING, "value": STRING}, optional=["key", "value"])
    async with simulator(tmp_path, [manage]) as sim, sim.open() as world:
        plan = sim.scenario.domain.plans["manage_cache"]
        assert (plan.backend, plan.choice, sorted(plan.choices)) == ("key_value", "action", ["clear", "get", "set"])
        success_value(await world.call("manage_cache", {"action": "set", "key": "drink", "value": "milk"}))
        assert success_value(await world.call("manage_cache", {"action": "get", "key": "drink"})) == "milk"


async def test_a_spec_chooses_a_backend_for_a_tool_that_does_not_match(tmp_path: Path) -> None:
    tools = [tool("keep_in_mind", {"key": STRING, "value": STRING}), tool("show_my_mind", {"key": STRING})]
    sim = {
        "keep_in_mind": {"backend": "key_value", "operation": "set"},
        "show_my_mind": {"backend": "key_value", "operation": "get"},
    }
    async with of_spec(tmp_path, tools, spec={"sim": sim}) as simulated, simulated.open() as world:
        assert backends(simulated) == {"keep_in_mind": "key_value set", "show_my_mind": "key_value get"}
        success_value(await world.call("keep_in_mind", {"key": "drink", "value": "milk"}))
        assert success_value(await world.call("show_my_mind", {"key": "drink"})) == "milk"


async def test_a_wrapped_text_is_plain_in_the_value_and_in_the_content(tmp_path: Path) -> None:
    wrapped = {"result": STRING}
    tools = [tool("read_file", {"path": STRING}, wrapped), tool("write_file", {"path": STRING, "content": STRING})]
    async with simulator(tmp_path, tools, {"files": {"/list.txt": "1. milk"}}) as sim, sim.open() as world:
        listed = await world.call("read_file", {"path": "/list.txt"})
        assert success_value(listed) == {"result": "1. milk"}
        assert isinstance(listed.body, ToolResult)
        assert listed.body.content == [{"type": "text", "text": "1. milk"}]


async def test_a_library_is_called_like_python(tmp_path: Path) -> None:
    async with simulator(tmp_path, [tool("ping")]) as sim, sim.open() as world:
        keys = Library("key_value", world.view, NOW)
        with pytest.raises(AttributeError, match="did you mean 'clear'"):
            keys.clean()
        with pytest.raises(TypeError, match="takes 2 arguments, 3 were given"):
            keys.exists("milk", "cold", "eggs")
        with pytest.raises(TypeError, match="no argument 'ky'; did you mean 'key'"):
            keys.exists(ky="milk")
        with pytest.raises(TypeError, match="several values for 'key'"):
            keys.exists("milk", key="eggs")
        assert "exists" in dir(keys)
        with pytest.raises(TypeError, match="has no operations"):
            Library("records", world.view, NOW)
        with pytest.raises(UnknownKind):
            Library("key_values", world.view, NOW)


def test_every_operation_is_found_and_has_an_explanation() -> None:
    for kind in sorted(set(kinds.names()) - BACKENDS_WITHOUT_MATCH):
        backend = kinds[kind]()
        if isinstance(backend, OperationsBackend):
            for operation in backend.known.values():
                assert operation.name.isidentifier(), (kind, operation.name)
                function = backend.function(operation)
                assert function.__doc__, (kind, operation.name)
