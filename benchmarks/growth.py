"""Measure how the cost of a call grows: with records, earlier calls, earlier creates, tools and live worlds.

    python benchmarks/growth.py [--quick] [--most EXPONENT]

All sizes of an axis take turns in one run. A figure is the median of the rounds, in microseconds of the processor. The
exponent is the slope of cost over size in logarithms: 0 means that the size does not matter, 1 that the cost is linear.
The spread is that of the largest size. Where a call returns rows, it returns one page. Exits with 1 if an exponent is
greater than `--most`. Then the first use of each index is timed, and a full garbage collection by the number of worlds.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from builtin import CALLS, Call, seconds_per_call
from table import micro, print_table
from timing import Figure, Measure, calibration, cpu_seconds, exponent, in_turns

from mcp_sim import Simulator
from mcp_sim.generate.records import generate
from mcp_sim.simulator.compile import load
from mcp_sim.types.scenario import GivenRecords, Scenario
from mcp_sim.world.world import World

COUNTED = frozenset({("records", "list by range"), ("records", "search")})
READS = ("get", "list of 20", "list by equality", "list by range", "search")
NEW = count(1)
TOOLS = Path(__file__).parent.parent / "tool_specs" / "crm.tools.json"


MOST = 0.2
"""The greatest exponent that passes."""

COUNTING = 0.8
"""Added to it for calls that look at every match: more records have more matches."""


async def main(*, quick: bool, most: float) -> int:
    """Measure every axis and print it. Return the exit status."""
    rounds, calls = (1, 3) if quick else (5, 20)
    factor = 20 if quick else 1
    print(f"calibration loop: {calibration() * 1e3:.2f} ms")
    grown = list[str]()
    for title, sizes, open_world, verbs in AXES:
        small = [max(1, size // factor) for size in sizes]
        async with AsyncExitStack() as stack:
            worlds = {size: await open_world(stack, size) for size in small}
            measures = {
                f"{verb}/{size}": measure(world, CALLS[verb], calls) for verb in verbs for size, world in worlds.items()
            }
            exponents = print_axis(title, small, verbs, await in_turns(measures, rounds))
        allowed = {verb: most + COUNTING if (title, verb) in COUNTED else most for verb in verbs}
        grown += [
            f"{verb} grows with the number of {title}: {exponents[verb]:.2f}"
            for verb in verbs
            if exponents[verb] > allowed[verb]
        ]
    await print_first_uses(100_000 // factor)
    await print_collections([size // factor for size in (100, 1_000, 3_000)])
    print_generation([size // factor for size in (1_000, 10_000, 100_000)])
    for line in grown:
        print(line, file=sys.stderr)
    return 1 if grown else 0


def measure(world: World, call: Call, calls: int) -> Measure:
    """Return the measure of a call on a fork of a world, after a write that no index knows yet."""
    tool, arguments = call

    async def once() -> float:
        fork = world.fork()
        await write(fork)
        return await seconds_per_call(fork, tool, [arguments(next(NEW)) for _ in range(calls)])

    return once


async def write(world: World) -> None:
    number = next(NEW)
    await world.call("create_contact", {"name": f"Bo Maas {number}", "email": f"bo.{number}@maas.example"})


def print_axis(title: str, sizes: Sequence[int], verbs: Sequence[str], figures: dict[str, Figure]) -> dict[str, float]:
    """Print the costs of an axis. Return the exponents by verb."""
    rows, exponents = list[list[str]](), dict[str, float]()
    for verb in verbs:
        mine = [figures[f"{verb}/{size}"] for size in sizes]
        exponents[verb] = exponent(sizes, mine)
        rows.append([verb, *(micro(one.median) for one in mine), mine[-1].spread, f"{exponents[verb]:.2f}"])
    head = ["microseconds", *(f"{size:,}" for size in sizes), "spread", "exponent"]
    print_table(f"A call by the number of {title}", head, rows)
    return exponents


# axes -----------------------------------------------------------------------------------------------------------------


def crm_of_size(size: int) -> Scenario:
    """Return the calm CRM with this number of contacts and deals."""
    calm = load("calm_crm")
    return replace(calm, records={**calm.records, "contact": GivenRecords(size), "deal": GivenRecords(size)})


async def world_of(stack: AsyncExitStack, scenario: Scenario) -> World:
    simulator = await stack.enter_async_context(Simulator(scenario, ledger_keep=100))
    return simulator.world()


async def with_records(stack: AsyncExitStack, size: int) -> World:
    return await world_of(stack, crm_of_size(size))


async def with_calls(stack: AsyncExitStack, size: int) -> World:
    world = await world_of(stack, crm_of_size(500))
    for number in range(size):
        await world.call("get_contact", {"contact_id": f"con_{number % 400 + 1:05d}"})
    return world


async def with_creates(stack: AsyncExitStack, size: int) -> World:
    world = await world_of(stack, crm_of_size(500))
    for _ in range(size):
        await write(world)
    return world


async def with_tools(stack: AsyncExitStack, size: int) -> World:
    return await world_of(stack, crm_with_tools(Path(stack.enter_context(TemporaryDirectory())), size))


def crm_with_tools(folder: Path, size: int) -> Scenario:
    """Return the CRM with this number of other tools."""
    tools = json.loads(TOOLS.read_text(encoding="utf-8"))["tools"]
    get = next(tool for tool in tools if tool["name"] == "get_contact")
    tools += [{**get, "name": f"get_contact_{number}"} for number in range(size)]
    (folder / "many.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    document = {"mcp_sim": 1, "name": "many", "tools": "many.json", "world": {"records": {"contact": 500}}}
    (folder / "many.yaml").write_text(json.dumps(document), encoding="utf-8")
    return load(folder / "many.yaml")


async def with_worlds(stack: AsyncExitStack, size: int) -> World:
    """Return one of many worlds, each with a few calls."""
    simulator = await stack.enter_async_context(Simulator(crm_of_size(500), ledger_keep=100))
    worlds = [simulator.world(f"w{number}") for number in range(size)]
    for world in worlds:
        await write(world)
    stack.callback(worlds.clear)
    return worlds[0]


AXES: tuple[tuple[str, Sequence[int], Callable[[AsyncExitStack, int], Any], Sequence[str]], ...] = (
    ("records", (1_000, 10_000, 100_000), with_records, (*READS, "create", "update")),
    ("earlier calls", (100, 1_000, 10_000), with_calls, ("get", "create")),
    ("earlier creates", (100, 1_000, 10_000), with_creates, (*READS, "create")),
    ("tools", (10, 100, 1_000), with_tools, ("get", "create")),
    ("worlds", (10, 100, 1_000), with_worlds, ("get", "create")),
)


# first uses -----------------------------------------------------------------------------------------------------------


async def print_first_uses(size: int) -> None:
    """Print the first and the second call of each kind in a new world: the first one builds an index."""
    rows: list[list[str]] = []
    async with Simulator(crm_of_size(size)) as simulator:
        world = simulator.world()
        await world.call("get_contact", {"contact_id": "con_00001"})
        for verb in READS[1:]:
            tool, arguments = CALLS[verb]
            first, later = [await seconds_per_call(world, tool, [arguments(1)]) for _ in range(2)]
            rows.append([verb, f"{first * 1e3:.1f}", f"{later * 1e3:.1f}"])
    print_table(f"The first use of an index over {size:,} records, milliseconds", ["", "first", "second"], rows)


async def print_collections(sizes: Sequence[int]) -> None:
    """Print a full garbage collection by the number of worlds with 20 calls each."""
    rows: list[list[str]] = []
    for size in sizes:
        async with AsyncExitStack() as stack:
            simulator = await stack.enter_async_context(Simulator.load("calm_crm"))
            worlds = [simulator.world(f"w{number}") for number in range(size)]
            for world in worlds:
                await seconds_per_call(world, "get_contact", [{"contact_id": "con_00001"}] * 15)
                for _ in range(5):
                    await write(world)
            gc.collect()
            began = cpu_seconds()
            gc.collect()
            taken = cpu_seconds() - began
            rows.append([f"{size:,}", f"{len(gc.get_objects()) / size:,.0f}", f"{taken * 1e3:.1f}"])
    print_table("A full garbage collection", ["worlds", "objects per world", "ms"], rows)


def print_generation(sizes: Sequence[int]) -> None:
    """Print the time to generate a record, by the size of the world."""
    rows: list[list[str]] = []
    for size in sizes:
        made = crm_of_size(size)
        began = cpu_seconds()
        tables = generate(made.domain, made.records, 7)
        taken = cpu_seconds() - began
        rows.append([f"{size:,} contacts and deals", micro(taken / sum(len(table) for table in tables.values()))])
    print_table("Generation", ["world", "us per record"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes and one round, to check that it runs")
    parser.add_argument("--most", type=float, default=MOST, metavar="EXPONENT", help=f"default {MOST}")
    arguments = parser.parse_args()
    sys.exit(asyncio.run(main(quick=arguments.quick, most=arguments.most)))
