"""What is refused is refused in words of a service, not in those of Python and its libraries."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mcp_sim import Simulator
from mcp_sim.types import ToolResult

Json = Any
TOOLS = {
    "calculate": ("Evaluate a mathematical expression", ["expression"]),
    "mean": ("Compute the mean of a list of numbers", ["numbers"]),
    "divide": ("Divide two numbers", ["a", "b"]),
    "power": ("Raise a base to an exponent", ["base", "exponent"]),
    "sqrt": ("Compute the square root of a number", ["number"]),
    "convert_time": ("Convert a time between timezones", ["source_timezone", "time", "target_timezone"]),
    "query": ("Run a SQL query", ["sql", "params"]),
    "execute_command": ("Run a shell command", ["command"]),
}
ODD: list[Json] = [
    None, True, "", "abc", -1, 1e308, 10**30, "nan", [], [1, "a"], [None], {"a": 1}, "2**", "(", "1+", "2 3",
    "sqrt(-1)", "sqrt()", "sqrt(1,2,3)", "min()", "'a'+1", "[1][5]", "x=1", "0777", "round(1.5,'a')", "max(1,'a')",
    "/w==", "YQ=", "é", "SELECT ?", "SELECT 'a", "SELECT :x", "SELECT 1;SELECT 2", "INSERT INTO t VALUES (1)",
    "echo 'a", "cat \\", "2030-13-45", "-1d6",
]  # fmt: skip
OF_PYTHON = re.compile(
    r"unsupported operand|math domain|invalid literal|index out of range|NoneType|Traceback|object is not|object has no"
    r"|positional argument|argument \(|not supported between|codec can't|<class|never closed|forgot a comma|simpleeval"
    r"|must be real number|Sorry|bindings|\bNone\b|\bTrue\b|could not convert|Expecting|Incorrect padding|No closing"
    r"|No escaped|Error tokenizing|too large to convert|leading zeros|cannot assign|maybe you meant",
)


@pytest.mark.parametrize("tool", TOOLS)
async def test_no_text_of_python_reaches_the_agent(tool: str, tmp_path: Path) -> None:
    described, names = TOOLS[tool]
    anything: Json = {}
    schema: Json = {"type": "object", "properties": dict.fromkeys(names, anything)}
    listed: Json = [{"name": tool, "description": described, "inputSchema": schema}]
    (tmp_path / "tools.json").write_text(json.dumps({"tools": listed}))
    texts: dict[str, Json] = {}
    async with Simulator.load(tmp_path / "tools.json").open() as world:
        for name in names:
            for value in ODD:
                body = (await world.call(tool, {**dict.fromkeys(names, 1), name: value})).body
                assert isinstance(body, ToolResult)
                if body.is_error:
                    texts[str(body.value)] = value
    assert len(texts) > 1
    assert {text: value for text, value in texts.items() if OF_PYTHON.search(text)} == {}
