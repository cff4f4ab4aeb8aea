"""Measure the memory that a server retains for clients that vanished: sessions opened and abandoned.

    python benchmarks/abandoned.py [--quick]

Each client opens a session, makes a call in a world of its own, and vanishes. Half of the clients close their
connection. The others leave it open, with a request for an event stream that they do not read.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from raw_client import ERAS
from raw_http import Connection, Listening, Refused, start_server
from sides import ARGUMENTS, TOOL, Sides, open_sides
from table import print_table

MOST_AT_ONCE = 32


@dataclass(frozen=True, slots=True)
class Outcome:
    """How many sessions were opened, and how many were refused with 503."""

    opened: int
    refused: int


def main(*, quick: bool) -> None:
    sessions = 50 if quick else 5_000
    options: dict[str, Sequence[str]] = {
        "default limits": (),
        "enough sessions": ("--max-sessions", str(sessions)),
        "closed after 1 s": ("--max-sessions", str(sessions), "--session-idle", "1s"),
    }
    if quick:
        options["default limits"] = ("--max-sessions", "20")
    with open_sides() as sides:
        rows = [asyncio.run(measure_abandoned(name, sides, given, sessions)) for name, given in options.items()]
    head = ["", "opened", "refused (503)", "MB before", "MB after", "status of a new client"]
    print_table(f"{sessions:,} sessions, opened and abandoned", head, rows)


async def measure_abandoned(name: str, sides: Sides, options: Sequence[str], sessions: int) -> list[str]:
    """Return a row: the sessions, the server's memory before and after, and the status that later clients get."""
    served = sides.ours("--http", "127.0.0.1:0", "--log-level", "error", *options)
    with start_server([*served, "--ledger-keep", "100"]) as server:
        before = server.resident_megabytes()
        left = list[Connection]()
        outcome = await open_and_abandon(server, sessions, left)
        after = server.resident_megabytes()
        answer = await later_statuses(server, wait="--session-idle" in options)
    return [name, f"{outcome.opened:,}", f"{outcome.refused:,}", f"{before:,.0f}", f"{after:,.0f}", answer]


async def open_and_abandon(server: Listening, sessions: int, left: list[Connection]) -> Outcome:
    """Open all sessions; `left` keeps the connections that stay open."""
    limit, refused = asyncio.Semaphore(MOST_AT_ONCE), list[int]()

    async def one(number: int) -> None:
        async with limit:
            connection = Connection(server.port, f"/w/world-{number}/mcp", ERAS[0])
            try:
                await connection.open()
                await connection.exchange(
                    connection.encode_request("tools/call", {"name": TOOL, "arguments": ARGUMENTS})
                )
            except Refused as error:
                refused.append(error.status)
                await connection.close()
                return
            if number % 2:
                connection.listen()
                left.append(connection)
            else:
                await connection.close()

    await asyncio.gather(*(one(number) for number in range(sessions)))
    if any(status != 503 for status in refused):
        raise RuntimeError(f"refused with {set(refused)}")
    return Outcome(sessions - len(refused), len(refused))


async def later_statuses(server: Listening, *, wait: bool) -> str:
    """Return the statuses of later clients in both eras; with `wait`, once there is room again."""
    statuses = list[str]()
    for era in ERAS:
        status = await new_client_status(server, era)
        while wait and status != 200:
            status = await new_client_status(server, era)
        statuses.append(f"{status}")
    return " and ".join(statuses)


async def new_client_status(server: Listening, era: str) -> int:
    """Return the status that a new client of an existing world gets."""
    connection = Connection(server.port, "/w/world-0/mcp", era)
    with suppress(Refused):
        await connection.open()
        await connection.exchange(connection.encode_request("tools/call", {"name": TOOL, "arguments": ARGUMENTS}))
        await connection.close()
        return 200
    await connection.close()
    return 503


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small counts, to check that it runs")
    main(quick=parser.parse_args().quick)
