"""Compare calls of inferred plans with the same server as a program: trusted, and in a sandbox.

    python benchmarks/programs.py [--rounds N]

The three are measured in turns, round after round. A result is the median of the rounds; the clock's time counts, since
a sandbox is another process. The last row iterates over 100,000 rows in one call, beside a loop over plain dicts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
from table import micro, print_table, ratio

from mcp_sim import Simulator
from mcp_sim.world.world import World

TEXT = {"type": "string"}
ITEM = {"type": "object", "properties": {"id": TEXT, "name": TEXT, "done": {"type": "boolean"}}}
TOOLS: list[dict[str, Any]] = [
    {
        "name": "create_item",
        "inputSchema": {"type": "object", "properties": {"name": TEXT}, "required": ["name"]},
        "outputSchema": ITEM,
    },
    {
        "name": "get_item",
        "inputSchema": {"type": "object", "properties": {"id": TEXT}, "required": ["id"]},
        "outputSchema": ITEM,
    },
    {
        "name": "list_items",
        "inputSchema": {"type": "object", "properties": {"limit": {"type": "integer", "default": 20}}},
        "outputSchema": {"type": "object", "properties": {"items": {"type": "array", "items": ITEM}}},
    },
]
COUNT = {"name": "count_items", "inputSchema": {"type": "object"}}
PROGRAM = """\
from mcp_sim.programs import Refused, tool

tables = {"item": {"ids": "item_1", "fields": {"name": "", "done": False}}}

@tool
def create_item(world, name):
    return world.item.add(name=name)

@tool
def get_item(world, id):
    item = world.item.get(id)
    if item is None:
        raise Refused(f"Item {id} not found")
    return item

@tool
def list_items(world, limit=20):
    return {"items": world.item.page(limit=limit).rows}

@tool
def count_items(world):
    return sum(1 for row in world.item if row["done"])
"""
STATE = {"items": [{"id": f"item_{n}", "name": f"Item {n}", "done": False} for n in range(1, 101)]}
SIDES: dict[str, tuple[str, dict[str, Any]]] = {
    "plan": ("plan", {}),
    "program": ("program", {"trust": True}),
    "sandbox": ("program", {"sandbox": True}),
}
CALLS: list[tuple[str, str, dict[str, Any], int]] = [
    ("get", "get_item", {"id": "item_7"}, 200),
    ("create", "create_item", {"name": "Pear"}, 200),
    ("list of 20", "list_items", {}, 100),
]
MANY = 100_000


async def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        async with AsyncExitStack() as stack:
            worlds = {
                side: await stack.enter_async_context(Simulator.load(Path(folder, f"{name}.yaml"), **how).open())
                for side, (name, how) in SIDES.items()
            }
            table = [
                [name, *await figures(worlds, tool, arguments, calls, rounds)] for name, tool, arguments, calls in CALLS
            ]
            heads = ("call", *worlds, "program, ratio", "sandbox, ratio")
            print_table("Microseconds per call, median of rounds", heads, table)
        await iteration(Path(folder), rounds)


def write(folder: Path) -> None:
    """Write a scenario with plans, and one with a program."""
    for name, more in (("plan", dict[str, str]()), ("program", {"program": "items.py"})):
        tools = TOOLS if name == "plan" else [*TOOLS, COUNT]
        (folder / f"{name}_tools.json").write_text(json.dumps({"mcp_sim": 1, "tools": tools, **more}))
        document = {
            "mcp_sim": 1,
            "tools": f"{name}_tools.json",
            "world": {"records": {"item": {"rows": STATE["items"]}}},
        }
        (folder / f"{name}.yaml").write_text(json.dumps(document))
    (folder / "items.py").write_text(PROGRAM)


async def figures(worlds: dict[str, World], tool: str, arguments: dict[str, Any], calls: int, rounds: int) -> list[str]:
    """Return the medians of all sides, and the ratios to the first one."""
    taken: dict[str, list[float]] = {side: [] for side in worlds}
    for _ in range(rounds):
        for side, world in worlds.items():
            began = time.perf_counter()
            answers = [await world.call(tool, arguments) for _ in range(calls)]
            taken[side].append((time.perf_counter() - began) / calls)
            assert all(answer.ok for answer in answers)
    medians = [statistics.median(times) for times in taken.values()]
    return [*map(micro, medians), *(ratio(median, medians[0]) for median in medians[1:])]


async def iteration(folder: Path, rounds: int) -> None:
    """Print how long a program takes for 100,000 rows."""
    rows = [{"id": f"item_{n}", "name": "x", "done": False} for n in range(MANY)]
    document = {"mcp_sim": 1, "tools": "program_tools.json", "world": {"records": {"item": {"rows": rows}}}}
    (folder / "many.json").write_text(json.dumps(document))
    plain, program = list[float](), list[float]()
    async with Simulator.load(folder / "many.json", trust=True).open() as world:
        await world.call("count_items", {})
        for _ in range(rounds):
            began = time.perf_counter()
            sum(1 for row in rows if row["done"])
            plain.append(time.perf_counter() - began)
            began = time.perf_counter()
            await world.call("count_items", {})
            program.append(time.perf_counter() - began)
    medians = statistics.median(plain), statistics.median(program)
    table = [[f"{MANY:,} rows", *(f"{median * 1e3:.1f}" for median in medians), ratio(medians[1], medians[0])]]
    print_table("Milliseconds for a loop over all rows", ("loop", "plain dicts", "program", "ratio"), table)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Compare plans, programs and programs in a sandbox.")
    parser.add_argument("--rounds", type=int, default=7, metavar="N", help="rounds of each (default 7)")
    anyio.run(main, parser.parse_args().rounds)
