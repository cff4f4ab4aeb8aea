"""Odd calls of every tool in the catalogue: no agent ends a run, or turns it into a crash."""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random
from time import process_time
from typing import Any, cast

import pytest

from mcp_sim import Simulator
from mcp_sim.spec.sources import shipped
from mcp_sim.types.errors import BadArguments, Crash

Json = Any
pytestmark = pytest.mark.time_limit(300)
CALLS = int(os.environ.get("MCP_SIM_ODD_CALLS", "40"))
"""Calls of each service. `.ci` makes more."""
TEXTS: list[str] = [
    "(",
    ")",
    "(" * 400,
    "((" * 2500,
    "[" * 3000,
    '{"a":' * 2000,
    "\x00",
    "x'ff'",
    "SELECT CAST(x'ff' AS TEXT)",
    "'",
    '"',
    "SELECT " + "(" * 900 + "1" + ")" * 900,
    "' OR 1=1 --",
    "\ud83d",
    "a" * 100_000,
    "NOT " * 1500 + "x",
    "-" * 3000,
    "%s%n",
    "SELECT 1;" * 50,
    "from:" + "(" * 500,
    "2029-99-99",
    "-1",
    "9" * 5000,
    "{}",
    "[]",
    "null",
    "*" * 1001,
    "../" * 300,
    "http://" + "a." * 500,
    "\n" * 500,
    "# " * 500,
    "> " * 1500 + "x",
    "`" * 999,
    "|" * 999,
    "CREATE TABLE (",
    "/*",
    "$$",
    "e'\\",
    "SELECT randomblob(900000000)",
    "WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT * FROM n",
    "=" + "(" * 300 + "1",
    "=A1" + "+A1" * 1000,
    "=" + "-" * 999 + "1",
    "a\u2028b\u202e",
    "1e309",
    "NaN",
    "$(rm -rf /)",
    "",
]


def nested(depth: int) -> Json:
    value: Json = "x"
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


EMPTY: Json = {}
VALUES: list[Json] = [
    *TEXTS,
    *TEXTS,
    0,
    -1,
    10**30,
    1e308,
    True,
    None,
    [],
    {},
    nested(60),
    [EMPTY] * 300,
    [*range(500)],
    {"": ""},
    {"id": {"id": {"id": []}}},
    [None],
    [[]],
    {"from": 1},
]


def usual(schema: Json) -> Json:
    """Return a small value of a schema."""
    known = cast("dict[str, Json]", schema) if isinstance(schema, dict) else {}
    if known.get("enum"):
        return known["enum"][0]
    values: dict[str, Json] = {"integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}}
    return values.get(str(known.get("type")), "x")


@pytest.mark.parametrize("name", shipped("tool_specs"))
async def test_odd_arguments_crash_no_service(name: str) -> None:
    draws, simulator = Random(name), Simulator.load(name)
    tools = [*simulator.scenario.domain.tools.values()]
    async with simulator.open() as world:
        for _ in range(CALLS):
            tool = draws.choice(tools)
            known: Json = tool.input_schema.get("properties") or {}
            names = [name for name in known if draws.random() < 0.5 or name in tool.input_schema.get("required", ())]
            arguments: Json = {name: usual(known[name]) for name in names}
            for odd in draws.sample([*known, "odd"], min(2, len(known) + 1)):
                example = usual(known.get(odd))
                alike = [value for value in VALUES if isinstance(value, type(example))]
                fitting = alike if draws.random() < 0.8 else VALUES
                arguments[odd] = draws.choice(fitting or VALUES)
            began = process_time()
            try:
                await world.call(tool.id, arguments)
            except BadArguments:
                continue
            except Crash as crash:
                shown = {name: str(value)[:100] for name, value in arguments.items()}
                raise AssertionError(f"{tool.id} {shown}: {crash}") from None
            assert process_time() - began < 5, (tool.id, str(arguments)[:200])


@pytest.mark.parametrize(
    ("name", "tool", "arguments"),
    [
        ("postgres", "execute_sql", {"sql": "("}),
        ("sqlite", "read_query", {"query": "SELECT CAST(x'ff' AS TEXT) AS t"}),
        ("mail", "search_emails", {"query": "(" * 400 + "a" + ")" * 400}),
        ("workspace", "API-post-search", {"query": "[" * 3000}),
        ("filesystem", "search_files", {"path": "/srv/shared", "pattern": "**/" * 200 + "x"}),
        ("filesystem", "directory_tree", {"path": "/srv/shared", "excludePatterns": ["*e" * 40 + "!"]}),
        ("maps", "maps_geocode", {"address": " " * 100_000}),
        ("payments", "search_stripe_resources", {"query": "customers:" + "a" * 500_000}),
    ],
)
async def test_known_attacks_are_answered(name: str, tool: str, arguments: Json) -> None:
    async with Simulator.load(name).open() as world:
        await world.call(tool, arguments)
        assert not world.crashed


@pytest.mark.time_limit(60)
async def test_an_order_with_many_spaces_is_read_once(tmp_path: Path) -> None:
    properties = {"sort_by": {"type": "string"}, "limit": {"type": "integer"}}
    tool: Json = {"name": "list_items", "inputSchema": {"type": "object", "properties": properties}}
    (tmp_path / "items.json").write_text(json.dumps({"mcp_sim": 1, "name": "items", "tools": [tool]}))
    async with Simulator.load(tmp_path / "items.json").open() as world:
        assert (await world.call("list_items", {"sort_by": "a" + " " * 500_000 + "b"})).ok
