"""What does the simulation cost on top of the protocol? Against the bare SDK server with one constant result.

    python benchmarks/overhead.py [--quick]

The reference has the same tools and returns the same bytes for every call, so what differs is mcp-sim: a world of 1,000
records, three perturbations that match the tool, and a trace on disk. Both are measured in turns, in one run.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bare_server import bare_server
from mcp import Client
from raw_client import ERAS, Peer
from table import micro, print_table, ratio

from mcp_sim import Simulator
from mcp_sim.sinks.jsonl import Jsonl
from mcp_sim.testing import connected
from mcp_sim.types import ToolResult

HERE = Path(__file__).parent
TOOLS = HERE.parent / "tool_specs" / "crm.tools.json"
TOOL, ARGUMENTS = "get_contact", {"contact_id": "con_00001"}
NEVER = 1_000_000_000

SCENARIO = f"""\
mcp_sim: 1
name: overhead
tools: crm
world:
  records: {{company: 100, contact: 500, deal: 250, activity: 150}}
perturbations:
  - error: {{status: 503}}
    when: {{nth: {NEVER}}}
  - latency: 1s
    when: {{every: {NEVER}}}
  - rate_limit: {{limit: {NEVER}, window: 1s}}
"""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two that are compared: how its process is started."""

    name: str
    command: Sequence[str]


def main(*, quick: bool) -> None:
    starts, calls = (2, 50) if quick else (10, 2_000)
    with TemporaryDirectory() as folder:
        scenario, result = Path(folder, "overhead.yaml"), Path(folder, "result.json")
        scenario.write_text(SCENARIO, encoding="utf-8")
        result.write_text(json.dumps(asyncio.run(constant_result(scenario))), encoding="utf-8")
        sides = (
            Side("bare SDK server", [sys.executable, str(HERE / "bare_server.py"), str(TOOLS), str(result)]),
            Side("mcp-sim", served(scenario, Path(folder, "trace.jsonl"))),
        )
        print(f"one result: {result.stat().st_size} bytes; {starts} starts, {calls} calls each")
        over_stdio(sides, starts, calls)
        asyncio.run(in_memory(scenario, json.loads(result.read_bytes()), calls))
        asyncio.run(alone(scenario, Path(folder, "alone.jsonl"), calls))


def definitions() -> list[dict[str, Any]]:
    return json.loads(TOOLS.read_text(encoding="utf-8"))["tools"]


def served(scenario: Path, trace: Path) -> list[str]:
    return [sys.executable, "-m", "mcp_sim", "serve", str(scenario), "--trace", str(trace)]


async def constant_result(scenario: Path) -> Any:
    """What the simulator answers: the reference returns the same value."""
    async with Simulator.load(scenario).open() as world:
        body = (await world.call(TOOL, ARGUMENTS)).body
        assert isinstance(body, ToolResult)
        return body.value


def over_stdio(sides: Sequence[Side], starts: int, calls: int) -> None:
    """Start to first tools/list, then calls, through a pipe and nothing else."""
    first = {side.name: list[float]() for side in sides}
    for _ in range(starts):
        for side in sides:
            first[side.name].append(first_listing(side))
    median = {name: sorted(spans)[len(spans) // 2] for name, spans in first.items()}
    reference = median[sides[0].name]
    rows = [[name, f"{span * 1000:,.0f}", ratio(span, reference)] for name, span in median.items()]
    print_table("Start to first tools/list over stdio", ["", "ms, median", "ratio"], rows)
    for era in ERAS:
        figures = {side.name: stdio_calls(side, era, calls) for side in sides}
        print_calls(f"Calls over stdio, protocol {era}", figures)


def first_listing(side: Side) -> float:
    with Peer(side.command) as peer:
        peer.request("tools/list", {})
        return time.perf_counter() - peer.started


def stdio_calls(side: Side, era: str, calls: int) -> tuple[float, float]:
    """Seconds from request to answer (median), and of processor time in the server, per call."""
    with Peer(side.command, era) as peer:
        peer.request("tools/list", {})
        for _ in range(20):
            peer.request("tools/call", {"name": TOOL, "arguments": ARGUMENTS})
        lines = [peer.framed("tools/call", {"name": TOOL, "arguments": ARGUMENTS}) for _ in range(calls)]
        before, spans = peer.cpu_seconds(), list[float]()
        for line in lines:
            began = time.perf_counter()
            peer.answered(line)
            spans.append(time.perf_counter() - began)
        return sorted(spans)[calls // 2], (peer.cpu_seconds() - before) / calls


async def in_memory(scenario: Path, result: dict[str, Any], calls: int) -> None:
    """The SDK's client in the same process: its own work is part of both figures."""
    async with AsyncExitStack() as stack:
        bare = await stack.enter_async_context(Client(bare_server(definitions(), result)))
        world = await stack.enter_async_context(Simulator.load(scenario).open())
        simulated = await stack.enter_async_context(connected(world))
        figures = {
            "bare SDK server": await timed(lambda: bare.call_tool(TOOL, ARGUMENTS), calls),
            "mcp-sim": await timed(lambda: simulated.call_tool(TOOL, ARGUMENTS), calls),
        }
    print_calls("Calls in memory, through the SDK's client", figures)


async def alone(scenario: Path, trace: Path, calls: int) -> None:
    """Processor time of the simulator itself, without MCP, by verb."""
    by_verb: dict[str, tuple[str, dict[str, Any]]] = {
        "get": (TOOL, dict(ARGUMENTS)),
        "get, not found": (TOOL, {"contact_id": "con_99999"}),
        "invalid arguments": (TOOL, {"contact_id": 5}),
        "list, 20 of 500": ("search_contacts", {}),
        "search": ("search_contacts", {"query": "vos"}),
        "create": ("create_deal", {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}),
        "update": ("update_contact", {**ARGUMENTS, "stage": "customer"}),
    }
    rows = list[list[str]]()
    async with Simulator(Simulator.load(scenario).scenario, sinks=[Jsonl(trace, b"{}")]) as simulator:
        for verb, (tool, arguments) in by_verb.items():
            world = simulator.world(verb)
            _, cpu = await timed(lambda w=world, t=tool, a=arguments: w.call(t, a), calls)
            rows.append([verb, micro(cpu)])
    print_table("The simulator alone, trace on", ["", "us CPU per call"], rows)


async def timed(call: Callable[[], Awaitable[object]], calls: int) -> tuple[float, float]:
    """Seconds from call to answer (median), and of processor time in this process, per call."""
    for _ in range(20):
        await call()
    before, spans = time.process_time(), list[float]()
    for _ in range(calls):
        began = time.perf_counter()
        await call()
        spans.append(time.perf_counter() - began)
    return sorted(spans)[calls // 2], (time.process_time() - before) / calls


def print_calls(title: str, figures: dict[str, tuple[float, float]]) -> None:
    reference = next(iter(figures.values()))
    rows = [
        [name, micro(span), ratio(span, reference[0]), micro(cpu), ratio(cpu, reference[1])]
        for name, (span, cpu) in figures.items()
    ]
    print_table(title, ["", "us per call, median", "ratio", "us CPU per call", "ratio"], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small counts: does it run at all?")
    main(quick=parser.parse_args().quick)
