"""What is read of a program without running it, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.libraries import ACT, library

from mcp_sim.simulator.compile import check, load

HEADS = {
    "from mcp_sim.programs import tool": "@tool",
    "from mcp_sim.programs import tool as answer": "@answer('act')",
    "import mcp_sim.programs": "@mcp_sim.programs.tool",
    "import mcp_sim.programs as p": "@p.tool()",
    "from mcp_sim import programs": "@programs.tool",
}


@pytest.mark.parametrize("head", HEADS)
def test_decorators_count_under_the_names_that_a_program_imports_them_by(tmp_path: Path, head: str) -> None:
    path = library(tmp_path, f"{head}\n\n{HEADS[head]}\ndef act(world, a, b):\n    return a\n", ACT)
    assert [*load(path).domain.programs[0].functions] == ["act"]


@pytest.mark.parametrize("head", ["from elsewhere import tool\n\n@tool", "import mcp\n\n@mcp.tool()"])
def test_decorators_of_others_mean_nothing(tmp_path: Path, head: str) -> None:
    path = library(tmp_path, f"{head}\ndef act(world, a, b):\n    return a\n", ACT)
    assert not load(path).domain.programs[0].functions


@pytest.mark.parametrize(
    ("program", "line", "problem"),
    [
        ("@tool\nasync def act(world, a, b):\n    return a\n", 3, "must not be async"),
        ("@tool\ndef act(world):\n    return 1\n\n@tool('fly')\ndef act(world):\n    return 2\n", 7, "the name of"),
        ("@tool\ndef act(world, c):\n    return 1\n", 3, "takes 'c', which act does not have"),
        ("@tool(reads=1 == 1)\ndef act(world):\n    return 1\n", 2, "must be written as True or False"),
        ("@tool(verb='fly')\ndef act(world):\n    return 1\n", 3, "choose from 'compute', 'create'"),
        ("tables = {'item': {'links': {'a': 'box'}}}\n", 2, "links to the unknown table 'box'"),
        ("tables = {'changes': {}}\n", 2, "is no name for a table"),
        ("tables = dict(item={})\n", 2, "must be a literal mapping"),
    ],
)
def test_problems_are_reported_at_their_line(tmp_path: Path, program: str, line: int, problem: str) -> None:
    path = library(tmp_path, f"from mcp_sim.programs import tool\n{program}", ACT)
    found = [one for one in check([path]) if one.file.endswith("library.py")]
    assert [one.line for one in found if problem in one.message] == [line]
