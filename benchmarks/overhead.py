"""Measure the overhead of the simulation, compared with the bare SDK server and one constant result.

    python benchmarks/overhead.py [--quick]

Both servers are measured in turns, in one run.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from bare_server import bare_server
from mcp import Client
from raw_client import ERAS, Peer
from sides import ARGUMENTS, BARE, OURS, TOOL, Sides, definitions, open_sides
from table import micro, print_table, ratio

from mcp_sim import Simulator
from mcp_sim.server.testing import connected
from mcp_sim.world.sinks.jsonl import Jsonl


def main(*, quick: bool) -> None:
    starts, calls = (2, 50) if quick else (15, 2_000)
    with open_sides() as sides:
        print(f"{starts} starts, {calls} calls each")
        measure_stdio({BARE: sides.bare("bare_server.py"), OURS: sides.ours()}, starts, calls)
        asyncio.run(measure_in_memory(sides, calls))
        asyncio.run(measure_simulator(sides.scenario, sides.scenario.with_name("alone.jsonl"), calls))


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


async def measure_in_memory(sides: Sides, calls: int) -> None:
    """Measure with the SDK's client in the same process; its own work is part of both figures."""
    async with AsyncExitStack() as stack:
        bare = await stack.enter_async_context(Client(bare_server(definitions(), sides.results)))
        world = await stack.enter_async_context(Simulator.load(sides.scenario).open())
        simulated = await stack.enter_async_context(connected(world))
        figures = {
            BARE: await time_calls(lambda: bare.call_tool(TOOL, ARGUMENTS), calls),
            OURS: await time_calls(lambda: simulated.call_tool(TOOL, ARGUMENTS), calls),
        }
    print_calls("Calls in memory, through the SDK's client", figures)


async def measure_simulator(scenario: Path, trace: Path, calls: int) -> None:
    """Measure the processor time of the simulator itself, without MCP, by verb."""
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
            _, cpu = await time_calls(lambda w=world, t=tool, a=arguments: w.call(t, a), calls)
            rows.append([verb, micro(cpu)])
    print_table("The simulator alone, trace on", ["", "us CPU per call"], rows)


async def time_calls(call: Callable[[], Awaitable[object]], calls: int) -> tuple[float, float]:
    """Return median seconds from call to answer, and processor seconds of this process, per call."""
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
    parser.add_argument("--quick", action="store_true", help="small counts, to check that it runs")
    main(quick=parser.parse_args().quick)
