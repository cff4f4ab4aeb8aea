"""Measure worlds: forks, calls and lists by the number of records, and the memory of ten thousand live worlds.

    python benchmarks/worlds.py [--quick]

Each result is printed with a reference from the same run: plain Python on plain dicts of the same records.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import gc
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from table import micro, print_table, ratio

from mcp_sim import Simulator, World
from mcp_sim.types.scenario import GivenRecords, Scenario

SIZES = (1_000, 100_000)
MEBIBYTE = 1024 * 1024


async def main(*, quick: bool) -> None:
    calls, worlds = (50, 200) if quick else (1_000, 10_000)
    await measure_live_worlds(worlds)
    measured = {size: await measure_size(size, calls) for size in SIZES}
    small, large = (measured[size] for size in SIZES)
    rows = [[name, micro(small[name]), micro(large[name]), ratio(large[name], small[name])] for name in small]
    head = ["microseconds each, median", *(f"{size:,} records" for size in SIZES), "ratio"]
    print_table(f"Operations by size ({calls} of each)", head, rows)


def with_contacts(scenario: Scenario, contacts: int) -> Scenario:
    """Return the calm CRM with this number of contacts."""
    given = scenario.records["contact"]
    return replace(scenario, records={**scenario.records, "contact": GivenRecords(contacts, given.rows)})


async def measure_size(size: int, times: int) -> dict[str, float]:
    """Return the seconds of each operation on a world of `size` contacts that has been written to."""
    calm = Simulator.load("calm_crm").scenario
    async with Simulator(with_contacts(calm, size), ledger_keep=10) as simulator:
        began = time.perf_counter()
        world = simulator.world()
        opened = time.perf_counter() - began
        print(f"opening a world of {size:,} contacts for the first time: {opened:.2f} s")
        for n in range(20):
            await world.call("update_contact", {"contact_id": "con_00001", "job_title": f"Buyer {n}"})
        table = dict(world.view.rows("contact"))
        return {
            "fork": median(world.fork, times),
            "reference: copy a dict of the records": median(lambda: dict(table), min(times, 50)),
            **await measure_calls(world, times),
            "reference: filter a list of the records": median(lambda: filter_leads(table), min(times, 30)),
        }


async def measure_calls(world: World, times: int) -> dict[str, float]:
    """Return the seconds of calls by verb, each on a fork."""
    person: dict[str, Any] = {"name": "Bo Maas", "email": "bo@example.org"}
    calls: dict[str, tuple[str, dict[str, Any], int]] = {
        "get": ("get_contact", {"contact_id": "con_00001"}, times),
        "update": ("update_contact", {"contact_id": "con_00001", "stage": "customer"}, times),
        "create": ("create_contact", person, times),
        "list, first page": ("search_contacts", {"limit": 20}, min(times, 30)),
        "list, filtered by a field": ("search_contacts", {"stage": "lead", "limit": 20}, min(times, 30)),
        "list, filtered by a link": ("search_contacts", {"company_id": "cmp_001", "limit": 20}, min(times, 30)),
        "search by text": ("search_contacts", {"query": "ada vos", "limit": 20}, min(times, 30)),
    }
    return {name: await median_call_seconds(world.fork(), *call) for name, call in calls.items()}


async def median_call_seconds(world: World, tool: str, arguments: dict[str, Any], times: int) -> float:
    """Return the median seconds of equal calls. The first one must succeed."""
    first = await world.call(tool, arguments)
    assert first.ok, first

    async def once() -> None:
        await world.call(tool, arguments)

    return await median_async(once, times)


def filter_leads(table: dict[Any, dict[str, Any]]) -> dict[str, Any]:
    hits = [record for record in table.values() if record.get("stage") == "lead"]
    return {"contacts": hits[:20], "total": len(hits)}


async def measure_live_worlds(number: int) -> None:
    """Measure the resident memory of live worlds, each with earlier calls and a fork."""
    async with Simulator.load("calm_crm") as simulator:
        await make_calls_and_fork(simulator.world("warm-up"), 0)
        gc.collect()
        before, began = resident_bytes(), time.perf_counter()
        kept = list[World]()
        for n in range(number):
            world = simulator.world(f"w{n}")
            kept.append(await make_calls_and_fork(world, n))
            kept.append(world)
        spent = time.perf_counter() - began
        grown = resident_bytes() - before
        state = dict(kept[0].view.rows("contact"))
        copied = copy_bytes(state)
        rows = [
            ["worlds, each with its fork", f"{number:,}"],
            ["memory in all", f"{grown / MEBIBYTE:,.0f} MiB"],
            ["memory of a world and its fork", f"{grown / number / 1024:,.1f} KiB"],
            ["reference: a copy of the contacts alone", f"{copied / 1024:,.1f} KiB"],
            ["time in all", f"{spent:.1f} s"],
        ]
        print_table("Live worlds: 20 calls, 5 of them writes, and one fork each", ["", "value"], rows)


async def make_calls_and_fork(world: World, n: int) -> World:
    """Make 20 calls, 5 of them writes. Return a fork from the end."""
    for at in range(15):
        await world.call("get_contact", {"contact_id": f"con_{1 + (n + at) % 200:05d}"})
    for at in range(5):
        await world.call("create_deal", {"title": f"Order {at}", "amount": 100 * at, "contact_id": "con_00001"})
    return world.fork()


def copy_bytes(records: dict[Any, Any]) -> float:
    """Return the bytes of one deep copy of the records, averaged over many."""
    gc.collect()
    before = resident_bytes()
    copies = [copy.deepcopy(records) for _ in range(100)]
    return (resident_bytes() - before) / len(copies)


def resident_bytes() -> int:
    """Return the resident bytes of this process (Linux)."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def median(action: Callable[[], object], times: int) -> float:
    spans = list[float]()
    for _ in range(times):
        began = time.perf_counter()
        action()
        spans.append(time.perf_counter() - began)
    return sorted(spans)[times // 2]


async def median_async(action: Callable[[], Awaitable[object]], times: int) -> float:
    spans = list[float]()
    for _ in range(times):
        began = time.perf_counter()
        await action()
        spans.append(time.perf_counter() - began)
    return sorted(spans)[times // 2]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small counts, to check that it runs")
    asyncio.run(main(quick=parser.parse_args().quick))
