"""Backends and operations that a spec declares for tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.backend_answers import STRING, tool
from support.matched_tools import simulator

from mcp_sim.types.errors import DocumentError

Json = Any
ACTION = {"type": "string", "enum": ["add", "list", "clear"]}
MANAGE = tool("manage_notes", {"action": ACTION, "text": STRING}, optional=["text"])
KEEP = [tool("keep_in_mind", {"text": STRING}), tool("show_my_mind")]


def problems(folder: Path, tools: list[Json], sim: Json) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        simulator(folder, tools, spec={"sim": sim})
    return [f"{problem.path}: {problem.message}" for problem in caught.value.problems]


def test_a_tool_whose_operation_is_unknown_is_an_error_at_its_entry(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, KEEP, {"keep_in_mind": {"backend": "notes"}})
    assert found.startswith(
        "sim.keep_in_mind.backend: could not find which operation of notes this tool is; set `operation:`; "
        "choose from 'add', 'change', 'clear'"
    )


def test_a_misspelt_operation_is_an_error_with_the_nearest_one(tmp_path: Path) -> None:
    sim = {"keep_in_mind": {"backend": "notes", "operation": "ad"}, "show_my_mind": {"backend": "notes"}}
    found = problems(tmp_path, KEEP, sim)
    assert found[0] == "sim.keep_in_mind.operation: unknown operation 'ad' of notes; did you mean 'add'?"
    assert found[1].startswith("sim.show_my_mind.backend: could not find")
    sim = {"manage_notes": {"choices": {"list": {"backend": "notes", "operation": "reed"}}}}
    assert problems(tmp_path, [MANAGE], sim) == [
        "sim.manage_notes.choices.list.operation: unknown operation 'reed' of notes; did you mean 'read'?"
    ]


async def test_a_declared_operation_gets_the_arguments_of_its_own_roles(tmp_path: Path) -> None:
    tools = [tool("add_todo", {"task": STRING, "index": {"type": "integer"}}), tool("list_todos"), tool("clear_todos")]
    sim = {"add_todo": {"backend": "notes", "operation": "change"}}
    async with simulator(tmp_path, tools, {"todos": ["milk"]}, {"sim": sim}) as simulated:
        plan = simulated.scenario.domain.plans["add_todo"]
        assert (plan.operation, plan.arguments) == ("change", {"text": "task", "index": "index"})
