"""Compare served calls with the bare MCP SDK server that returns the same bytes: over stdio and over HTTP.

    python benchmarks/served.py [stdio] [http] [--quick]

Over stdio: the start up to the first tools/list and the first call, and the time of a call. Over HTTP: a get, a create
and a list of 20 records, on 8 connections that are kept alive, each with a world of its own; each sends its next call
when the last one is answered. All in both eras of the protocol. mcp-sim has a world of 1,000 records, checks three
faults that match, and writes a trace; both servers write their usual log.

The servers are measured in turns, round after round. A figure over HTTP is the median of its rounds, a ratio the median
of the ratios within each round, with the least and the greatest one. Lower is better everywhere.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measuring import calibration, micro, print_table, ratio, spread
from wire import ERAS, Connection, Listening, Peer, start_server

from mcp_sim import Simulator
from mcp_sim.types import ToolResult

HERE = Path(__file__).parent
TOOLS = HERE.parent / "tool_specs" / "crm" / "crm.tools.json"
TOOL, ARGUMENTS = "get_contact", {"contact_id": "con_00001"}
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "get": (TOOL, ARGUMENTS),
    "create": ("create_deal", {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}),
    "list of 20": ("search_contacts", {"limit": 20}),
}
BARE, OURS = "bare SDK server", "mcp-sim"
NEVER = 1_000_000_000

SCENARIO = f"""\
mcp_sim: 1
name: overhead
tools: crm
world:
  records:
    company: 100
    contact: {{count: 500, rows: [{{id: con_00001, job_title: "{"Prefers to be called before noon. " * 50}"}}]}}
    deal: 250
    activity: 150
perturbations:
  - error: {{status: 503}}
    when: {{nth: {NEVER}}}
  - latency: 1s
    when: {{every: {NEVER}}}
  - rate_limit: {{limit: {NEVER}, window: 1s}}
"""


@dataclass(frozen=True, slots=True)
class Sides:
    """Commands of both servers; `results` are what the reference returns for the calls, by tool."""

    scenario: Path
    results: dict[str, Any]
    _results_file: Path

    def bare(self, over: str) -> list[str]:
        return [sys.executable, str(HERE / "wire.py"), over, str(TOOLS), str(self._results_file)]

    def ours(self, *options: str) -> list[str]:
        trace = str(self.scenario.with_name("trace.jsonl"))
        return [sys.executable, "-m", "mcp_sim", "serve", str(self.scenario), "--trace", trace, *options]


@contextmanager
def open_sides() -> Generator[Sides]:
    """Yield both servers. Their files are removed at the end of the block."""
    with TemporaryDirectory() as folder:
        scenario, results_file = Path(folder, "overhead.yaml"), Path(folder, "results.json")
        scenario.write_text(SCENARIO, encoding="utf-8")
        results = asyncio.run(_simulated_results(scenario))
        results_file.write_text(json.dumps(results), encoding="utf-8")
        yield Sides(scenario, results, results_file)


async def _simulated_results(scenario: Path) -> dict[str, Any]:
    """Return the answers of the simulator by tool, which the reference returns too."""
    results = dict[str, Any]()
    async with Simulator.load(scenario).open() as world:
        for tool, arguments in CALLS.values():
            body = (await world.call(tool, arguments)).body
            assert isinstance(body, ToolResult)
            results[tool] = body.value
    return results


def main(over: Sequence[str], *, quick: bool) -> None:
    with open_sides() as sides:
        if "stdio" in over:
            starts, calls = (2, 50) if quick else (15, 2_000)
            print(f"{starts} starts, {calls} calls each")
            measure_stdio({BARE: sides.bare("stdio"), OURS: sides.ours()}, starts, calls)
        if "http" in over:
            measure_http(sides, *((2, 40) if quick else (7, 2_000)))


def measure_stdio(commands: Mapping[str, Sequence[str]], starts: int, calls: int) -> None:
    """Measure the start up to the first tools/list and a call that follows at once, then calls, through raw pipes."""
    first = {name: list[tuple[float, float]]() for name in commands}
    for _ in range(starts):
        for name, command in commands.items():
            first[name].append(seconds_to_first_answers(command))
    for title, spans in (("tools/list", 0), ("tools/call", 1)):
        median = {name: statistics.median([each[spans] for each in measured]) for name, measured in first.items()}
        rows = [[name, f"{span * 1000:,.0f}", ratio(span, median[BARE])] for name, span in median.items()]
        print_table(f"Start to first {title} over stdio", ["", "ms, median", "ratio"], rows)
    for era in ERAS:
        figures = {name: time_stdio_calls(command, era, calls) for name, command in commands.items()}
        print_calls(f"Calls over stdio, protocol {era}", figures)


def seconds_to_first_answers(command: Sequence[str]) -> tuple[float, float]:
    """Return the seconds from the start to the first list of tools, and to the first call."""
    with Peer(command) as peer:
        peer.request("tools/list", {})
        listed = time.perf_counter()
        peer.request("tools/call", {"name": TOOL, "arguments": ARGUMENTS})
        return listed - peer.started, time.perf_counter() - peer.started


def time_stdio_calls(command: Sequence[str], era: str, calls: int) -> tuple[float, float]:
    """Return median seconds from request to answer, and processor seconds of the server, per call."""
    with Peer(command, era) as peer:
        peer.request("tools/list", {})
        for _ in range(20):
            peer.request("tools/call", {"name": TOOL, "arguments": ARGUMENTS})
        lines = [peer.encode_request("tools/call", {"name": TOOL, "arguments": ARGUMENTS}) for _ in range(calls)]
        before, spans = peer.cpu_seconds(), list[float]()
        for line in lines:
            began = time.perf_counter()
            peer.exchange(line)
            spans.append(time.perf_counter() - began)
        return sorted(spans)[calls // 2], (peer.cpu_seconds() - before) / calls


def print_calls(title: str, figures: dict[str, tuple[float, float]]) -> None:
    reference = next(iter(figures.values()))
    rows = [
        [name, micro(span), ratio(span, reference[0]), micro(cpu), ratio(cpu, reference[1])]
        for name, (span, cpu) in figures.items()
    ]
    print_table(title, ["", "us per call, median", "ratio", "us CPU per call", "ratio"], rows)


CONNECTIONS = 8
WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Figures:
    """Processor seconds and real seconds of the server per call, and seconds that a call took (median)."""

    cpu: float
    wall: float
    median: float


def measure_http(sides: Sides, rounds: int, calls: int) -> None:
    print(f"{rounds} rounds of {calls} calls each, {CONNECTIONS} connections")
    print(f"{BARE}: mcp {version('mcp')} with telemetry middleware, JSON responses, uvicorn with access log, uvloop")
    print(f"{OURS}: three faults that match, trace on disk, log of calls")
    loops = [calibration()]
    for era in ERAS:
        compare(sides, era, rounds, calls)
        loops.append(calibration())
    print(f"\na loop for calibration: {spread(loops, milli)} ms")


def compare(sides: Sides, era: str, rounds: int, calls: int) -> None:
    """Measure the servers in turns, with each kind of call."""
    rows = list[list[str]]()
    commands = {
        BARE: sides.bare("http"),
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
        ([timing.cpu for timing in of], [timing.cpu for timing in reference], micro),
        ([timing.wall for timing in of], [timing.wall for timing in reference], micro),
        ([timing.median for timing in of], [timing.median for timing in reference], milli),
    ]
    cells = [name, f"{size:,}"]
    for ours, theirs, show in columns:
        ratios = [mine / other if other else 0.0 for mine, other in zip(ours, theirs, strict=True)]
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
    request = connection.encode_call(tool, arguments)
    spans, body = list[float](), b""
    for _ in range(times):
        began = time.perf_counter()
        body = await connection.exchange(request)
        spans.append(time.perf_counter() - began)
        connection.check_result(body)
    return spans, len(body)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("over", nargs="*", metavar="stdio|http", help="what to measure (default: both)")
    parser.add_argument("--quick", action="store_true", help="small counts, to check that it runs")
    args = parser.parse_args()
    main(args.over or ("stdio", "http"), quick=args.quick)
