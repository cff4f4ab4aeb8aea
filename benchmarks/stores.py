"""Measure what a store costs: milliseconds per create, from the first calls to the last, with one process and two.

    python benchmarks/stores.py [--quick]

Each result is printed as a multiple of a plain SQLite insert and commit in the same run: one line as long as a ledger
entry, with the same journal and durability.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import statistics
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from table import print_table, ratio

from mcp_sim import Simulator, World
from mcp_sim.simulator.persistence import StoreKeeper, identity
from mcp_sim.types.kinds import stores

CALLS = 1_500
ENDS = 100
WARMING = 20
LINE = b"x" * 900


async def main(*, quick: bool) -> None:
    calls = 30 if quick else CALLS
    ends = calls // 15 if quick else ENDS
    with TemporaryDirectory() as folder:
        reference = plain_inserts(Path(folder) / "plain.db", calls)
        rows = [_row("plain insert and commit", reference, ends, _median(reference))]
        for name, count in (("create, no store", 0), ("create, one process", 1), ("create, two in turns", 2)):
            seconds = await creates(Path(folder) / f"{count}.db", calls, count)
            rows.append(_row(name, seconds, ends, _median(reference)))
    head = [
        "milliseconds per call, median",
        f"first {ends}",
        f"last {ends}",
        "last / first",
        "longest",
        "of a plain insert",
    ]
    print_table(f"Calls with a store ({calls:,} creates in calm_crm)", head, rows)


def plain_inserts(path: Path, calls: int) -> list[float]:
    """Return the seconds of each insert and commit."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE entries (at INTEGER PRIMARY KEY, line BLOB NOT NULL)")
    seconds = list[float]()
    for at in range(calls):
        began = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO entries VALUES (?, ?)", (at, LINE))
        connection.execute("COMMIT")
        seconds.append(time.perf_counter() - began)
    connection.close()
    return seconds


async def creates(path: Path, calls: int, processes: int) -> list[float]:
    """Return the seconds of each create in a world without a store, or with one that some processes use in turns."""
    async with AsyncExitStack() as stack:
        worlds = [await stack.enter_async_context(opened(path, processes)) for _ in range(max(1, processes))]
        for n in range(WARMING * len(worlds)):
            await worlds[n % len(worlds)].call("create_deal", {"title": "Warm", "contact_id": "con_00001"})
        seconds = list[float]()
        for n in range(calls):
            deal: dict[str, Any] = {"title": f"Order {n}", "amount": n, "contact_id": "con_00001"}
            began = time.perf_counter()
            await worlds[n % len(worlds)].call("create_deal", deal)
            seconds.append(time.perf_counter() - began)
        return seconds


@asynccontextmanager
async def opened(path: Path, processes: int) -> AsyncGenerator[World]:
    """Yield a world as one process has it: with a connection to the store of its own."""
    async with Simulator(Simulator.load("calm_crm").scenario) as simulator:
        if not processes:
            yield simulator.world()
            return
        store = stores["sqlite"].model_validate({"path": path})
        with store.open(identity(simulator.scenario, None, "benchmark")) as connection:
            yield StoreKeeper(simulator, connection, "w").world(None, "virtual")


def _row(name: str, seconds: list[float], ends: int, reference: float) -> list[str]:
    first, last = _median(seconds[:ends]), _median(seconds[-ends:])
    milliseconds = [f"{1000 * value:.2f}" for value in (first, last)]
    return [name, *milliseconds, ratio(last, first), f"{1000 * max(seconds):.1f}", ratio(_median(seconds), reference)]


def _median(seconds: list[float]) -> float:
    return statistics.median(seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="30 calls")
    asyncio.run(main(quick=parser.parse_args().quick))
