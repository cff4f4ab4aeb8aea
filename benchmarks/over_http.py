"""Compare mcp-sim over HTTP with the bare SDK server, by kind of call, in both eras.

    python benchmarks/over_http.py [--quick] [--workers N] [--beside NAME=COMMAND ...]

Both servers answer a get, a create and a list of 20 records with results of the same size. mcp-sim checks three faults
that match, and writes a trace; both write their usual log. Each of 8 connections is kept alive, has a world of its own,
and sends its next call when the last one is answered.

`--beside` measures other servers in the same turns, in the era with a handshake. COMMAND gets the files TOOLS.json and
RESULTS.json, serves the tools with those results at /mcp, and prints its URL on stderr (as bare_http.py).

All servers are measured in turns, round after round. A figure is the median of its rounds, a ratio the median of the
ratios within each round, with the least and the greatest one. Lower is better everywhere. The last line shows what a
fixed loop takes on this machine, and how that varied.

With `--workers` mcp-sim with one worker is compared with several ones, in the protocol without sessions. The client
sends a call on each connection, then reads the answers: it uses little of the processor, but some, and so does the
kernel. More workers are not faster than there are idle cores. A call on a new connection is passed on if another worker
has its world. In the last row each call names a world of another worker than the call before it.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from raw_client import ERAS
from raw_http import Connection, Listening, start_server
from sides import BARE, CALLS, OURS, Sides, open_sides
from table import calibrate, micro, print_table, spread

from mcp_sim.server.workers import worker_of

CONNECTIONS = 8
WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Figures:
    """Processor seconds and real seconds of the server per call, and seconds that a call took (median)."""

    cpu: float
    wall: float
    median: float


def main(*, quick: bool, others: Mapping[str, str]) -> None:
    rounds, calls = (2, 40) if quick else (7, 2_000)
    print(f"{rounds} rounds of {calls} calls each, {CONNECTIONS} connections")
    print(f"{BARE}: mcp {version('mcp')} with telemetry middleware, JSON responses, uvicorn with access log, uvloop")
    print(f"{OURS}: three faults that match, trace on disk, log of calls")
    loops = [calibrate()]
    with open_sides() as sides:
        for era in ERAS:
            compare(sides, era, rounds, calls, others if era == ERAS[0] else {})
            loops.append(calibrate())
    print(f"\na loop for calibration: {spread(loops, milli)} ms")


def compare(sides: Sides, era: str, rounds: int, calls: int, others: Mapping[str, str]) -> None:
    """Measure the servers in turns, with each kind of call."""
    rows = list[list[str]]()
    commands = {
        BARE: sides.bare("bare_http.py"),
        **{name: sides.other(command) for name, command in others.items()},
        OURS: sides.ours("--http", "127.0.0.1:0"),
    }
    with ExitStack() as stack:
        servers = {name: stack.enter_context(start_server(command)) for name, command in commands.items()}
        for kind, call in CALLS.items():
            worlds = [f"/w/{era}-{kind.replace(' ', '-')}-{n}/mcp" for n in range(CONNECTIONS)]
            taken: dict[str, list[Figures]] = {name: [] for name in servers}
            sizes = dict[str, int]()
            for _ in range(rounds):
                for name, server in servers.items():
                    paths = worlds if name == OURS else ["/mcp"] * CONNECTIONS
                    figures, sizes[name] = asyncio.run(measure(server, paths, era, call, calls))
                    taken[name].append(figures)
            rows += [row(f"{kind}, {name}", taken[name], taken[BARE], sizes[name]) for name in servers]
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
    server: Listening,
    paths: Sequence[str],
    era: str,
    call: tuple[str, dict[str, Any]],
    calls: int,
    connect: Callable[[int, str, str], Connection] = Connection,
) -> tuple[Figures, int]:
    """Make the calls after a few to warm up. Return their figures, and the size of a response."""
    connections = [connect(server.port, path, era) for path in paths]
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
    request = connection.encode_call(tool, arguments)
    spans, body = list[float](), b""
    for _ in range(times):
        began = time.perf_counter()
        body = await connection.exchange(request)
        spans.append(time.perf_counter() - began)
        connection.check_result(body)
    return spans, len(body)


# workers --------------------------------------------------------------------------------------------------------------


def compare_workers(workers: int, *, quick: bool) -> None:
    """Measure mcp-sim with one worker and with several, in turns."""
    rounds, calls = (2, 40) if quick else (7, 4_000)
    print(f"{rounds} rounds of {calls} calls each, {CONNECTIONS} connections, protocol {ERAS[1]}")
    loops = [calibrate()]
    rows = list[list[str]]()
    with open_sides() as sides:
        several = ("--workers", str(workers))
        with (
            start_server(sides.ours("--http", "127.0.0.1:0")) as one,
            start_server(sides.ours("--http", "127.0.0.1:0", *several)) as many,
        ):
            for name, way, call in _ways(workers):
                taken = dict[Listening, list[tuple[float, float, float]]]({one: [], many: []})
                for _ in range(rounds):
                    for server in (one, many):
                        taken[server].append(spent(server, way, call, calls))
                rows += [_worker_row(f"{name}, 1 worker", taken[one], taken[one])]
                rows += [_worker_row(f"{name}, {workers} workers", taken[many], taken[one])]
            print(f"resident: {one.resident_megabytes():.0f} MiB with one worker; each of several: {_private(many)}")
    head = ["", "us per call", "ratio", "us CPU, server", "ratio", "us CPU, client"]
    print_table("Calls over HTTP by the number of workers", head, rows)
    loops.append(calibrate())
    print(f"\na loop for calibration: {spread(loops, milli)} ms")


Way = Callable[[int, tuple[str, dict[str, Any]], int], None]


def _ways(workers: int) -> list[tuple[str, Way, tuple[str, dict[str, Any]]]]:
    """Return names of what is measured, what makes the calls, and which call."""
    names = [f"turn-{n}" for n in range(100)]
    first = [next(name for name in names if worker_of(name, workers) == number) for number in range(workers)]

    def kept(port: int, call: tuple[str, dict[str, Any]], calls: int) -> None:
        call_on_kept(port, [[f"/w/{call[0]}-{n}/mcp"] for n in range(CONNECTIONS)], call, calls)

    def switching(port: int, call: tuple[str, dict[str, Any]], calls: int) -> None:
        paths = [f"/w/{name}/mcp" for name in first]
        call_on_kept(port, [paths for _ in range(CONNECTIONS)], call, calls)

    get = CALLS["get"]
    return [
        *((kind, kept, call) for kind, call in CALLS.items()),
        ("get, a connection per call", call_on_new, get),
        ("get, each passed on", switching, get),
    ]


def call_on_kept(port: int, paths: Sequence[Sequence[str]], call: tuple[str, dict[str, Any]], calls: int) -> None:
    """Make calls on connections that are kept alive. Each uses its paths one after the other."""
    requests = [[_request(port, path, call) for path in one] for one in paths]
    sockets = [socket.create_connection(("127.0.0.1", port)) for _ in paths]
    for n in range(max(1, calls // len(paths))):
        for one, ready in zip(sockets, requests, strict=True):
            one.sendall(ready[n % len(ready)])
        for one in sockets:
            read_answer(one)
    for one in sockets:
        one.close()


def call_on_new(port: int, call: tuple[str, dict[str, Any]], calls: int) -> None:
    """Make each call on a new connection, several at a time."""
    requests = [_request(port, f"/w/new-{n}/mcp", call) for n in range(CONNECTIONS)]
    for _ in range(max(1, calls // CONNECTIONS)):
        sockets = [socket.create_connection(("127.0.0.1", port)) for _ in requests]
        for one, ready in zip(sockets, requests, strict=True):
            one.sendall(ready)
        for one in sockets:
            read_answer(one)
            one.close()


def read_answer(one: socket.socket) -> None:
    """Read a response. Raises `RuntimeError` if it is not the result of a call."""
    data = one.recv(65_536)
    while True:
        head, _, body = data.partition(b"\r\n\r\n")
        _, found, rest = head.partition(b"content-length: ")
        if found and len(body) == int(rest.partition(b"\r\n")[0]):
            break
        more = one.recv(65_536)
        if not more:
            break
        data += more
    if b'"structuredContent"' not in data:
        raise RuntimeError(data.decode())


def _request(port: int, path: str, call: tuple[str, dict[str, Any]]) -> bytes:
    return Connection(port, path, ERAS[1]).encode_request("tools/call", {"name": call[0], "arguments": call[1]})


def spent(server: Listening, way: Way, call: tuple[str, dict[str, Any]], calls: int) -> tuple[float, float, float]:
    """Return the seconds per call, and the processor seconds of the server and of the client."""
    way(server.port, call, WARM_UP * CONNECTIONS)
    cpu, own, began = server.cpu_seconds(), time.process_time(), time.perf_counter()
    way(server.port, call, calls)
    took, mine = time.perf_counter() - began, time.process_time() - own
    return took / calls, (server.cpu_seconds() - cpu) / calls, mine / calls


def _worker_row(
    name: str, of: Sequence[tuple[float, float, float]], reference: Sequence[tuple[float, ...]]
) -> list[str]:
    cells = [name]
    for column in (0, 1):
        ratios = [
            one[column] / other[column] if other[column] else 0.0 for one, other in zip(of, reference, strict=True)
        ]
        median = statistics.median(one[column] for one in of)
        cells += [micro(median), spread(ratios, lambda ratio: f"{ratio:.2f}")]
    return [*cells, micro(statistics.median(one[2] for one in of))]


def _private(server: Listening) -> str:
    """Return the memory of each process that it shares with no other one (Linux)."""
    sizes = list[str]()
    for pid in (server.pid, *server.workers()):
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
        kibibytes = sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_"))
        sizes.append(f"{kibibytes / 1024:.0f}")
    return f"{', '.join(sizes)} MiB not shared (parent first)"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small counts, to check that it runs")
    parser.add_argument("--workers", type=int, metavar="N", help="compare one worker with N")
    parser.add_argument("--beside", action="append", default=[], metavar="NAME=COMMAND", help="another server")
    args = parser.parse_args()
    if args.workers is None:
        main(quick=args.quick, others=dict(one.split("=", 1) for one in args.beside))
    else:
        compare_workers(args.workers, quick=args.quick)
