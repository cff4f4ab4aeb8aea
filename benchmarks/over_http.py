"""Compare mcp-sim over HTTP with the bare SDK server, by kind of call, in both eras.

    python benchmarks/over_http.py [--quick]

Both servers answer a get, a create and a list of 20 records with results of the same size. mcp-sim checks three faults
that match, and writes a trace; both write their usual log. Each of 8 connections is kept alive, has a world of its own,
and sends its next call when the last one is answered.

Both servers are measured in turns, round after round. A figure is the median of its rounds, a ratio the median of the
ratios within each round, with the least and the greatest one. Lower is better everywhere. The last line shows what a
fixed loop takes on this machine, and how that varied.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from raw_client import ERAS
from raw_http import Connection, Listening, start_server
from sides import BARE, CALLS, OURS, Sides, open_sides
from table import calibrate, micro, print_table, spread

CONNECTIONS = 8
WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Figures:
    """Processor seconds and real seconds of the server per call, and seconds that a call took (median)."""

    cpu: float
    wall: float
    median: float


def main(*, quick: bool) -> None:
    rounds, calls = (2, 40) if quick else (7, 2_000)
    print(f"{rounds} rounds of {calls} calls each, {CONNECTIONS} connections")
    print(f"{BARE}: mcp {version('mcp')} with telemetry middleware, JSON responses, uvicorn with access log, uvloop")
    print(f"{OURS}: three faults that match, trace on disk, log of calls")
    loops = [calibrate()]
    with open_sides() as sides:
        for era in ERAS:
            compare(sides, era, rounds, calls)
            loops.append(calibrate())
    print(f"\na loop for calibration: {spread(loops, milli)} ms")


def compare(sides: Sides, era: str, rounds: int, calls: int) -> None:
    """Measure both servers in turns, with each kind of call."""
    rows = list[list[str]]()
    with start_server(sides.bare("bare_http.py")) as bare, start_server(sides.ours("--http", "127.0.0.1:0")) as ours:
        for kind, (tool, arguments) in CALLS.items():
            name = kind.replace(" ", "-")
            paths = {bare: ["/mcp"] * CONNECTIONS, ours: [f"/w/{era}-{name}-{n}/mcp" for n in range(CONNECTIONS)]}
            taken = dict[Listening, list[Figures]]({bare: [], ours: []})
            sizes = list[int]()
            for _ in range(rounds):
                for server in (bare, ours):
                    figures, size = asyncio.run(measure(server, paths[server], era, (tool, arguments), calls))
                    taken[server].append(figures)
                    sizes.append(size)
            rows += [row(f"{kind}, {BARE}", taken[bare], taken[bare], sizes[0])]
            rows += [row(f"{kind}, {OURS}", taken[ours], taken[bare], sizes[1])]
    head = ["", "bytes", "us CPU per call", "ratio", "us per call", "ratio", "ms p50", "ratio"]
    print_table(f"Calls over HTTP, protocol {era}", head, rows)


def row(name: str, of: Sequence[Figures], reference: Sequence[Figures], size: int) -> list[str]:
    """Return the figures of a server, each with its ratio to the reference."""
    columns = [
        ([one.cpu for one in of], [one.cpu for one in reference], micro),
        ([one.wall for one in of], [one.wall for one in reference], micro),
        ([one.median for one in of], [one.median for one in reference], milli),
    ]
    cells = [name, f"{size:,}"]
    for ours, theirs, show in columns:
        ratios = [one / other if other else 0.0 for one, other in zip(ours, theirs, strict=True)]
        cells += [show(statistics.median(ours)), spread(ratios, lambda ratio: f"{ratio:.2f}")]
    return cells


def milli(seconds: float) -> str:
    return f"{seconds * 1000:.2f}"


async def measure(
    server: Listening, paths: Sequence[str], era: str, call: tuple[str, dict[str, Any]], calls: int
) -> tuple[Figures, int]:
    """Make the calls after a few to warm up. Return their figures, and the size of a response."""
    connections = [Connection(server.port, path, era) for path in paths]
    for connection in connections:
        await connection.open()
    await asyncio.gather(*(repeat(connection, call, WARM_UP) for connection in connections))
    before, began = server.cpu_seconds(), time.perf_counter()
    each = max(1, calls // len(connections))
    taken = await asyncio.gather(*(repeat(connection, call, each) for connection in connections))
    took, cpu = time.perf_counter() - began, server.cpu_seconds() - before
    for connection in connections:
        await connection.close()
    spans = sorted(span for spent, _ in taken for span in spent)
    return Figures(cpu / len(spans), took / len(spans), spans[len(spans) // 2]), taken[0][1]


async def repeat(connection: Connection, call: tuple[str, dict[str, Any]], times: int) -> tuple[list[float], int]:
    """Return the seconds of each of this number of consecutive calls, and the size of the last response."""
    tool, arguments = call
    request = connection.encode_request("tools/call", {"name": tool, "arguments": arguments})
    spans, body = list[float](), b""
    for _ in range(times):
        began = time.perf_counter()
        body = await connection.exchange(request)
        spans.append(time.perf_counter() - began)
        if b'"structuredContent"' not in body:
            raise RuntimeError(body.decode())
    return spans, len(body)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small counts, to check that it runs")
    main(quick=parser.parse_args().quick)
