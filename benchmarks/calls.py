"""Measure the cost of a call: in process by verb and as a program, and over stdio and HTTP.

    python benchmarks/calls.py [verbs] [programs] [stdio] [http] [--quick]

`verbs`: calls of inferred plans, as multiples of the least that a call must do. The reference does what no simulator
can leave out, in plain Python: it checks the arguments under the compiled inputSchema, gets the record from a dict, and
writes one line of JSON. Every figure is the median of rounds that take turns, in microseconds of the processor, with
the spread of the rounds. `plain` is a world without perturbations and trace. `faults` has three perturbations that
match the tool and do not act, `trace` writes a trace to a file besides, and `rate_limit` only counts.

`programs`: the same server as inferred plans and as a program. The last row iterates over 100,000 rows, beside a loop
over plain dicts.

`stdio`, `http`: served calls, beside the bare MCP SDK server that returns the same bytes. Over stdio: the start up to
the first tools/list and the first call, and the time of a call. Over HTTP: a get, a create and a list of 20 records, on
8 connections that are kept alive, each with a world of its own; each sends its next call when the last one is answered.
All in both eras of the protocol. mcp-sim has a world of 1,000 records, checks three faults that match, and writes a
trace; both servers write their usual log. They are measured in turns, round after round. A figure over HTTP is the
median of its rounds, a ratio the median of the ratios within each round, with the least and the greatest one. Lower is
better everywhere.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import time
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema_rs
from common.measuring import (
    Figure,
    Measure,
    calibration,
    cpu_seconds,
    in_turns,
    micro,
    parser_of,
    print_table,
    ratio,
    spread,
)
from common.wire import ERAS, Connection, Listening, Peer, start_server

from mcp_sim import Simulator, World
from mcp_sim.types import ToolResult
from mcp_sim.world.sinks.jsonl import Jsonl

NEVER = 1_000_000_000
HEAD = """\
mcp_sim: 1
name: speed
tools: crm
world:
  records: {company: 100, contact: 500, deal: 250, activity: 150}
"""
FAULTS = f"""\
perturbations:
  - {{error: {{status: 503}}, when: {{nth: {NEVER}}}}}
  - {{latency: 1s, when: {{probability: 1.0e-12}}}}
  - {{error: {{status: 500}}, id: other, when: {{arguments: {{contact_id: nobody}}}}}}
"""
RATE_LIMIT = f"perturbations:\n  - rate_limit: {{limit: {NEVER}, window: 1s}}\n"
SETTINGS = {"plain": HEAD, "faults": HEAD + FAULTS, "trace": HEAD + FAULTS, "rate_limit": HEAD + RATE_LIMIT}

Arguments = dict[str, Any]
Call = tuple[str, Callable[[int], Arguments]]
"""A tool, and its arguments by the number of the call."""


def contact_id(call: int) -> str:
    return f"con_{call * 7919 % 400 + 1:05d}"


CALLS: dict[str, Call] = {
    "get": ("get_contact", lambda call: {"contact_id": contact_id(call)}),
    "create": ("create_contact", lambda call: {"name": f"Ada Vos {call}", "email": f"ada.{call}@vos.example"}),
    "update": ("update_contact", lambda call: {"contact_id": contact_id(call), "phone": f"+31 20 {call}"}),
    "delete": ("delete_contact", lambda call: {"contact_id": f"con_{call % 90 + 401:05d}"}),
    "list of 20": ("search_contacts", lambda _call: {"limit": 20}),
    "list by equality": ("search_contacts", lambda _call: {"stage": "lead", "limit": 20}),
    "list by range": ("list_deals", lambda _call: {"min_amount": 5000, "limit": 20}),
    "search": ("search_contacts", lambda _call: {"query": "vos", "limit": 20}),
}


def measure_verbs(*, quick: bool) -> None:
    """Measure the calls by verb, and print them."""
    print_figures(asyncio.run(verb_figures(*((1, 5) if quick else (9, 100)))))


async def verb_figures(rounds: int, calls: int) -> dict[str, Figure]:
    with TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            simulators = {
                name: await stack.enter_async_context(opened(Path(folder), name, text))
                for name, text in SETTINGS.items()
            }
            measures: dict[str, Measure] = {"reference": reference(simulators["plain"], 10 * calls)}
            for verb, call in CALLS.items():
                for name, simulator in simulators.items():
                    measures[f"{verb}/{name}"] = measure(simulator, call, calls)
            return await in_turns(measures, rounds)


def print_figures(figures: dict[str, Figure]) -> None:
    unit = figures["reference"]
    print(f"calibration loop: {calibration() * 1e3:.2f} ms; reference: {micro(unit.median)} us ({unit.spread})")
    for name in SETTINGS:
        rows = [
            [verb, micro(figure.median), figure.spread, ratio(figure.median, unit.median)]
            for verb in CALLS
            for figure in (figures[f"{verb}/{name}"],)
        ]
        print_table(f"A call: {name}", ["verb", "us of the processor", "spread", "of the reference"], rows)


@asynccontextmanager
async def opened(folder: Path, name: str, text: str) -> AsyncGenerator[Simulator]:
    path = folder / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    loaded = Simulator.load(path)
    sinks = [Jsonl(folder / "trace.jsonl", b"{}")] if name == "trace" else []
    async with Simulator(loaded.scenario, sinks) as simulator:
        yield simulator
    for sink in sinks:
        sink.close()


def measure(simulator: Simulator, call: Call, calls: int) -> Measure:
    """Return the measure of a call: each round in a fresh world, after one call that is not counted."""
    tool, arguments = call
    numbers = count(1)

    async def once() -> float:
        world = simulator.world()
        await world.call(tool, arguments(0))
        return await seconds_per_call(world, tool, [arguments(next(numbers) % NEVER) for _ in range(calls)])

    return once


async def seconds_per_call(world: World, tool: str, asked: Sequence[Arguments]) -> float:
    """Return the processor seconds of one call."""
    began = cpu_seconds()
    for arguments in asked:
        await world.call(tool, arguments)
    return (cpu_seconds() - began) / len(asked)


def reference(simulator: Simulator, calls: int) -> Measure:
    """Return the measure of a checked lookup in a dict with one line of JSON."""
    tool, arguments = CALLS["get"]
    records = dict(simulator.base().rows("contact"))
    schema = jsonschema_rs.validator_for(simulator.scenario.domain.tools[tool].input_schema)
    encode = json.JSONEncoder(separators=(",", ":")).encode

    async def once() -> float:
        lines = list[str]()
        asked = [arguments(number) for number in range(calls)]
        began = cpu_seconds()
        for body in asked:
            if schema.is_valid(body):
                lines.append(encode({"tool": tool, "arguments": body, "result": records[body["contact_id"]]}))
        return (cpu_seconds() - began) / calls

    return once


# programs -------------------------------------------------------------------------------------------------------------

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
}
ITEM_CALLS: list[tuple[str, str, dict[str, Any], int]] = [
    ("get", "get_item", {"id": "item_7"}, 200),
    ("create", "create_item", {"name": "Pear"}, 200),
    ("list of 20", "list_items", {}, 100),
]
MANY = 100_000


def measure_programs(*, quick: bool) -> None:
    asyncio.run(compare_programs(1 if quick else 7))


async def compare_programs(rounds: int) -> None:
    with TemporaryDirectory() as folder:
        write_items(Path(folder))
        async with AsyncExitStack() as stack:
            worlds = {
                side: await stack.enter_async_context(Simulator.load(Path(folder, f"{name}.yaml"), **how).open())
                for side, (name, how) in SIDES.items()
            }
            table = [
                [name, *await program_figures(worlds, tool, arguments, calls, rounds)]
                for name, tool, arguments, calls in ITEM_CALLS
            ]
            heads = ("call", *worlds, "program, ratio")
            print_table("Microseconds per call, median of rounds", heads, table)
        await iteration(Path(folder), rounds)


def write_items(folder: Path) -> None:
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


async def program_figures(
    worlds: dict[str, World], tool: str, arguments: dict[str, Any], calls: int, rounds: int
) -> list[str]:
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


# served ---------------------------------------------------------------------------------------------------------------

HERE = Path(__file__).parent
CRM = HERE.parent / "tool_specs" / "crm" / "crm.tools.json"
TOOL, ARGUMENTS = "get_contact", {"contact_id": "con_00001"}
SERVED: dict[str, tuple[str, dict[str, Any]]] = {
    "get": (TOOL, ARGUMENTS),
    "create": ("create_deal", {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}),
    "list of 20": ("search_contacts", {"limit": 20}),
}
BARE, OURS = "bare SDK server", "mcp-sim"
OVERHEAD = f"""\
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
        return [sys.executable, str(HERE / "common" / "wire.py"), over, str(CRM), str(self._results_file)]

    def ours(self, *options: str) -> list[str]:
        trace = str(self.scenario.with_name("trace.jsonl"))
        return [sys.executable, "-m", "mcp_sim", "serve", str(self.scenario), "--trace", trace, *options]


@contextmanager
def open_sides() -> Generator[Sides]:
    """Yield both servers. Their files are removed at the end of the block."""
    with TemporaryDirectory() as folder:
        scenario, results_file = Path(folder, "overhead.yaml"), Path(folder, "results.json")
        scenario.write_text(OVERHEAD, encoding="utf-8")
        results = asyncio.run(simulated_results(scenario))
        results_file.write_text(json.dumps(results), encoding="utf-8")
        yield Sides(scenario, results, results_file)


async def simulated_results(scenario: Path) -> dict[str, Any]:
    """Return the answers of the simulator by tool, which the reference returns too."""
    results = dict[str, Any]()
    async with Simulator.load(scenario).open() as world:
        for tool, arguments in SERVED.values():
            body = (await world.call(tool, arguments)).body
            assert isinstance(body, ToolResult)
            results[tool] = body.value
    return results


def measure_stdio(*, quick: bool) -> None:
    """Measure the start up to the first tools/list and a call that follows at once, then calls, through raw pipes."""
    starts, calls = (2, 50) if quick else (15, 2_000)
    with open_sides() as sides:
        compare_stdio({BARE: sides.bare("stdio"), OURS: sides.ours()}, starts, calls)


def compare_stdio(commands: Mapping[str, Sequence[str]], starts: int, calls: int) -> None:
    print(f"{starts} starts, {calls} calls each")
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


def measure_http(*, quick: bool) -> None:
    """Measure calls on kept connections in both eras."""
    rounds, calls = (2, 40) if quick else (7, 2_000)
    print(f"{rounds} rounds of {calls} calls each, {CONNECTIONS} connections")
    print(f"{BARE}: mcp {version('mcp')} with telemetry middleware, JSON responses, uvicorn with access log, uvloop")
    print(f"{OURS}: three faults that match, trace on disk, log of calls")
    loops = [calibration()]
    with open_sides() as sides:
        for era in ERAS:
            compare_http(sides, era, rounds, calls)
            loops.append(calibration())
    print(f"\na loop for calibration: {spread(loops, milli)} ms")


def compare_http(sides: Sides, era: str, rounds: int, calls: int) -> None:
    """Measure the servers in turns, with each kind of call."""
    rows = list[list[str]]()
    commands = {
        BARE: sides.bare("http"),
        OURS: sides.ours("--http", "127.0.0.1:0"),
    }
    with ExitStack() as stack:
        servers = {name: stack.enter_context(start_server(command)) for name, command in commands.items()}
        for kind, call in SERVED.items():
            worlds = [f"/w/{era}-{kind.replace(' ', '-')}-{n}/mcp" for n in range(CONNECTIONS)]
            taken: dict[str, list[Figures]] = {name: [] for name in servers}
            sizes = dict[str, int]()
            for _ in range(rounds):
                for name, server in servers.items():
                    paths = worlds if name == OURS else ["/mcp"] * CONNECTIONS
                    figures, sizes[name] = asyncio.run(measure_connections(server, paths, era, call, calls))
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


async def measure_connections(
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


PARTS: dict[str, Callable[..., None]] = {
    "verbs": measure_verbs,
    "programs": measure_programs,
    "stdio": measure_stdio,
    "http": measure_http,
}

if __name__ == "__main__":
    options = parser_of(__doc__, PARTS).parse_args()
    for name in options.parts:
        PARTS[name](quick=options.quick)
