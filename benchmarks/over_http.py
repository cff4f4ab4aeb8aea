"""Compare mcp-sim over HTTP with the bare SDK server and one constant result, by connections, in both eras.

    python benchmarks/over_http.py [--quick]

Each connection is kept alive, has a world of its own, and sends its next call when the last one is answered. Both
servers are measured in turns, round after round. A result is the median of its rounds. Finally, many worlds are called
at the same time.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from raw_client import ERAS
from raw_http import Connection, Listening, start_server
from sides import ARGUMENTS, BARE, OURS, TOOL, Sides, open_sides
from table import micro, print_table, ratio

CONNECTIONS = (1, 16, 64)
SERVED = ("--http", "127.0.0.1:0", "--log-level", "warning")


@dataclass(frozen=True, slots=True)
class Load:
    """A number of connections, each with a world of its own, and the number of all calls."""

    era: str
    paths: Sequence[str]
    calls: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Calls per second, seconds of a call (median, 99th percentile), processor seconds of a call."""

    rate: float
    median: float
    slow: float
    cpu: float


def main(*, quick: bool) -> None:
    rounds, calls, worlds = (2, 70, 5) if quick else (9, 1_000, 200)
    with open_sides() as sides:
        print(f"{rounds} rounds of {calls} calls each")
        for era in ERAS:
            compare(sides, era, rounds, calls)
        many_worlds(sides, worlds, calls * 8)


def compare(sides: Sides, era: str, rounds: int, calls: int) -> None:
    """Measure both servers in turns, at each number of connections."""
    rows = list[list[str]]()
    with start_server(sides.bare("bare_http.py")) as bare, start_server(sides.ours(*SERVED)) as ours:
        for connections in CONNECTIONS:
            worlds = [f"/w/{era}-{connections}-{n}/mcp" for n in range(connections)]
            loads = [(bare, Load(era, ["/mcp"] * connections, calls)), (ours, Load(era, worlds, calls))]
            reference, figures = measure_in_turns(loads, rounds)
            rows += [row(f"{BARE}, {connections}", reference, reference)]
            rows += [row(f"{OURS}, {connections}", figures, reference)]
    head = ["connections", "calls/s", "ratio", "ms p50", "ratio", "ms p99", "ratio", "us CPU per call", "ratio"]
    print_table(f"Calls over HTTP, protocol {era}", head, rows)


def measure_in_turns(loads: Sequence[tuple[Listening, Load]], rounds: int) -> list[Figures]:
    """Return the medians of the rounds of each server."""
    taken = [[asyncio.run(measure_load(server, load)) for server, load in loads] for _ in range(rounds)]
    return [medians([figures[at] for figures in taken]) for at in range(len(loads))]


def medians(rounds: Sequence[Figures]) -> Figures:
    def of(figure: Callable[[Figures], float]) -> float:
        return statistics.median(map(figure, rounds))

    return Figures(of(lambda f: f.rate), of(lambda f: f.median), of(lambda f: f.slow), of(lambda f: f.cpu))


def row(name: str, of: Figures, reference: Figures) -> list[str]:
    cells = [name, f"{of.rate:,.0f}", ratio(of.rate, reference.rate)]
    cells += [f"{of.median * 1000:.2f}", ratio(of.median, reference.median)]
    cells += [f"{of.slow * 1000:.2f}", ratio(of.slow, reference.slow)]
    return [*cells, micro(of.cpu), ratio(of.cpu, reference.cpu)]


def many_worlds(sides: Sides, worlds: int, calls: int) -> None:
    """Measure mcp-sim alone with many connections, each in a world of its own."""
    rows = list[list[str]]()
    for era in ERAS:
        with start_server(sides.ours(*SERVED)) as server:
            paths = [f"/w/{n}/mcp" for n in range(worlds)]
            of = asyncio.run(measure_load(server, Load(era, paths, calls)))
            rows.append([era, f"{of.rate:,.0f}", f"{of.median * 1000:.1f}", f"{of.slow * 1000:.1f}", micro(of.cpu)])
    print_table(f"{worlds} concurrent worlds", ["", "calls/s", "ms p50", "ms p99", "us CPU per call"], rows)


async def measure_load(server: Listening, load: Load) -> Figures:
    """Send the load after a few calls to warm up. Return its measurements."""
    connections = [Connection(server.port, path, load.era) for path in load.paths]
    for connection in connections:
        await connection.open()
    await asyncio.gather(*(repeat_call(connection, 10) for connection in connections))
    before, began = server.cpu_seconds(), time.perf_counter()
    each = max(1, load.calls // len(connections))
    spans = [span for spent in await asyncio.gather(*(repeat_call(c, each) for c in connections)) for span in spent]
    took, cpu = time.perf_counter() - began, server.cpu_seconds() - before
    for connection in connections:
        await connection.close()
    spans.sort()
    return Figures(len(spans) / took, spans[len(spans) // 2], spans[len(spans) * 99 // 100], cpu / len(spans))


async def repeat_call(connection: Connection, times: int) -> list[float]:
    """Return the seconds of each of this number of consecutive calls."""
    request = connection.encode_request("tools/call", {"name": TOOL, "arguments": ARGUMENTS})
    spans = list[float]()
    for _ in range(times):
        began = time.perf_counter()
        body = await connection.exchange(request)
        spans.append(time.perf_counter() - began)
        if b'"result"' not in body:
            raise RuntimeError(body.decode())
    return spans


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small counts, to check that it runs")
    main(quick=parser.parse_args().quick)
