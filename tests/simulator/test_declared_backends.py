"""Backends and operations that a spec declares for tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.backend_answers import STRING, tool
from support.matched_tools import simulator

from mcp_sim.types.errors import DocumentError

Json = Any
ACTION = {"type": "string", "enum": ["set", "list", "clear"]}
MANAGE = tool("manage_cache", {"action": ACTION, "key": STRING, "value": STRING}, optional=["key", "value"])
KEEP = [tool("keep_in_mind", {"text": STRING}), tool("show_my_mind")]


def problems(folder: Path, tools: list[Json], sim: Json) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        simulator(folder, tools, spec={"sim": sim})
    return [f"{problem.path}: {problem.message}" for problem in caught.value.problems]


def test_a_tool_whose_operation_is_unknown_is_an_error_at_its_entry(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, KEEP, {"keep_in_mind": {"backend": "key_value"}})
    assert found.startswith(
        "sim.keep_in_mind.backend: could not find which operation of key_value this tool is; set `operation:`; "
        "choose from 'clear', 'count', 'decrement'"
    )


def test_a_misspelt_operation_is_an_error_with_the_nearest_one(tmp_path: Path) -> None:
    sim = {"keep_in_mind": {"backend": "key_value", "operation": "sett"}, "show_my_mind": {"backend": "key_value"}}
    found = problems(tmp_path, KEEP, sim)
    assert found[0] == "sim.keep_in_mind.operation: unknown operation 'sett' of key_value; did you mean 'set'?"
    assert found[1].startswith("sim.show_my_mind.backend: could not find")
    sim = {"manage_cache": {"choices": {"list": {"backend": "key_value", "operation": "gett"}}}}
    assert problems(tmp_path, [MANAGE], sim) == [
        "sim.manage_cache.choices.list.operation: unknown operation 'gett' of key_value; did you mean 'get'?"
    ]


async def test_a_declared_operation_gets_the_arguments_of_its_own_roles(tmp_path: Path) -> None:
    pair = {"setting": STRING, "value": STRING}
    tools = [tool("get_setting", pair), tool("set_setting", pair)]
    sim = {"get_setting": {"backend": "key_value", "operation": "set"}}
    async with simulator(tmp_path, tools, spec={"sim": sim}) as simulated:
        plan = simulated.scenario.domain.plans["get_setting"]
        assert (plan.operation, plan.arguments) == ("set", {"key": "setting", "value": "value"})
