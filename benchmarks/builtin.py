"""Measure the built-in world model: calls by verb and size of the world, and the creation of worlds.

    python benchmarks/builtin.py [--quick]

Every verb is called in a small and in a large world, which take turns, round after round. A result is the median of
its rounds. Then the generation of records is timed.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

from table import micro, print_table, ratio

from mcp_sim import Simulator
from mcp_sim.generate.records import generate
from mcp_sim.simulator.compile import load
from mcp_sim.types.scenario import GivenRecords, Scenario
from mcp_sim.world.world import World

SIZES = (1_000, 100_000)
QUICK_SIZES = (100, 1_000)
MOST_FILTERED = 0.020
"""Seconds that a filtered list over the large world may take."""

Arguments = dict[str, Any]
Call = tuple[str, str, Callable[[int, int], Arguments]]
"""Label, tool, and its arguments by the number of the call and the number of records."""


def contact_id(call: int, size: int) -> str:
    """Return the id of a contact, a different one at each call."""
    return f"con_{call * 7919 % (size // 2) + 1:05d}"


CALLS: tuple[Call, ...] = (
    ("get", "get_contact", lambda call, size: {"contact_id": contact_id(call, size)}),
    ("create", "create_contact", lambda call, _size: {"name": f"Ada Vos {call}", "email": f"ada.{call}@vos.example"}),
    ("update", "update_contact", lambda call, size: {"contact_id": contact_id(call, size), "phone": f"+31 20 {call}"}),
    ("delete", "delete_contact", lambda call, size: {"contact_id": f"con_{size - call:05d}"}),
    ("list, a page", "search_contacts", lambda _call, _size: {"limit": 20}),
    ("list, filtered by equality", "search_contacts", lambda _call, _size: {"stage": "lead", "limit": 20}),
    ("list, filtered by range", "list_deals", lambda _call, _size: {"min_amount": 5000, "limit": 20}),
    ("search", "search_contacts", lambda _call, _size: {"query": "vos", "limit": 20}),
)


def main(*, quick: bool) -> None:
    """Measure everything and print it."""
    small, large = QUICK_SIZES if quick else SIZES
    rounds, calls = (3, 5) if quick else (9, 30)
    figures = asyncio.run(measure_calls((small, large), rounds, calls))
    rows = [
        [name, micro(times[0]), micro(times[1]), ratio(times[1], times[0])]
        for (name, _, _), times in zip(CALLS, figures, strict=True)
    ]
    head = ["verb", f"{small:,} records", f"{large:,} records", "ratio"]
    print_table("Microseconds per call, median of rounds", head, rows)
    slowest = max(times[1] for (name, _, _), times in zip(CALLS, figures, strict=True) if "filtered" in name)
    print(f"\nslowest filtered list: {slowest * 1e3:.1f} ms (limit: {MOST_FILTERED * 1e3:.0f} ms)")
    print_generation((small, large))


# calls ----------------------------------------------------------------------------------------------------------------


async def measure_calls(sizes: Sequence[int], rounds: int, calls: int) -> list[list[float]]:
    """Return seconds per call for every verb and size."""
    simulators = [Simulator(crm_of_size(size)) for size in sizes]
    taken: list[list[list[float]]] = [[[] for _ in sizes] for _ in CALLS]
    numbers = count(1)
    async with simulators[0].open() as first, simulators[1].open() as second:
        worlds = (first, second)
        for _ in range(rounds):
            for at, (_, tool, arguments) in enumerate(CALLS):
                for place, (world, size) in enumerate(zip(worlds, sizes, strict=True)):
                    asked = [arguments(next(numbers) % (size // 3), size) for _ in range(calls)]
                    taken[at][place].append(await seconds_per_call(world, tool, asked))
    return [[statistics.median(times) for times in verb] for verb in taken]


async def seconds_per_call(world: World, tool: str, asked: Sequence[Arguments]) -> float:
    """Return the seconds of one call."""
    start = time.perf_counter()
    for arguments in asked:
        await world.call(tool, arguments)
    return (time.perf_counter() - start) / len(asked)


# worlds ---------------------------------------------------------------------------------------------------------------


def crm_of_size(size: int) -> Scenario:
    """Return the calm CRM with this number of contacts and deals."""
    calm = load("calm_crm")
    return replace(calm, records={**calm.records, "contact": GivenRecords(size), "deal": GivenRecords(size)})


def print_generation(sizes: Sequence[int]) -> None:
    """Print the records generated per second, by the size of the world."""
    rows: list[list[str]] = []
    first = 0.0
    for size in sizes:
        made = crm_of_size(size)
        start = time.perf_counter()
        tables = generate(made.domain, made.records, 7)
        taken = time.perf_counter() - start
        each = taken / sum(len(table) for table in tables.values())
        first = first or each
        rows.append([f"{size:,} contacts and deals", f"{1 / each:,.0f}", micro(each), ratio(each, first)])
    print_table("Generation", ["world", "records per second", "us per record", "ratio"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small worlds and few rounds, to check that it runs")
    main(quick=parser.parse_args().quick)
