"""Backends and operations that a spec declares for tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from support.backend_answers import STRING, success_value, tool
from support.matched_tools import simulator

from mcp_sim import Simulator
from mcp_sim.cli import main
from mcp_sim.simulator.compile import load
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


async def test_a_choice_of_a_tool_is_overridden_by_itself(tmp_path: Path) -> None:
    sim = {"manage_notes": {"choices": {"clear": {"backend": "notes", "operation": "read"}}}}
    async with simulator(tmp_path, [MANAGE], {"notes": ["milk"]}, {"sim": sim}) as sim_, sim_.open() as world:
        plan = sim_.scenario.domain.plans["manage_notes"]
        assert {value: one.operation for value, one in plan.choices.items()} == {
            "add": "add", "list": "read", "clear": "read",
        }  # fmt: skip
        success_value(await world.call("manage_notes", {"action": "add", "text": "eggs"}))
        assert success_value(await world.call("manage_notes", {"action": "clear"})) == "1. milk\n2. eggs"


async def test_the_choices_of_a_backend_have_entities_of_their_server_in_namespaces(tmp_path: Path) -> None:
    (tmp_path / "some.yaml").write_text(yaml.safe_dump({"mcp_sim": 1, "name": "some", "tools": [MANAGE]}))
    (tmp_path / "two.yaml").write_text(yaml.safe_dump({
        "mcp_sim": 1, "name": "two", "tools": {"a": "some.yaml", "b": "some.yaml"}, "world": {"namespaces": True},
    }))  # fmt: skip
    async with Simulator.load(tmp_path / "two.yaml").open() as world:
        success_value(await world.call("a/manage_notes", {"action": "add", "text": "milk"}))
        assert success_value(await world.call("a/manage_notes", {"action": "list"})) == "1. milk"
        assert "milk" not in success_value(await world.call("b/manage_notes", {"action": "list"}))


def test_plan_writes_the_choices_of_a_backend_as_they_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "some.yaml"
    path.write_text(yaml.safe_dump({"mcp_sim": 1, "name": "some", "tools": [MANAGE]}))
    before = load(path).domain.plans["manage_notes"]
    assert main(["plan", str(path), "--write"]) == 0
    assert "operation: add" in path.read_text()
    after = load(path).domain.plans["manage_notes"]
    assert {value: (one.backend, one.operation, one.arguments) for value, one in after.choices.items()} == {
        value: (one.backend, one.operation, one.arguments) for value, one in before.choices.items()
    }
    assert "add, list (read), clear" in capsys.readouterr().out
