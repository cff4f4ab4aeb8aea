"""Measure calls of the built-in world model in process, as multiples of the least that a call must do.

    python benchmarks/builtin.py [--quick]

The reference does what no simulator can leave out, in plain Python: it checks the arguments under the compiled
inputSchema, gets the record from a dict, and writes one line of JSON. It takes turns with all calls in the same run.
Every figure is the median of the rounds, in microseconds of the processor, with the spread of the rounds; the lower,
the better. `plain` is a world without perturbations and trace. `faults` has three perturbations that match the tool and
do not act, `trace` writes a trace to a file besides, and `rate_limit` only counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema_rs
from table import micro, print_table, ratio
from timing import Figure, Measure, calibration, cpu_seconds, in_turns

from mcp_sim import Simulator
from mcp_sim.world.sinks.jsonl import Jsonl
from mcp_sim.world.world import World

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


async def main(*, quick: bool) -> None:
    """Measure everything and print it."""
    rounds, calls = (3, 20) if quick else (9, 100)
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
            figures = await in_turns(measures, rounds)
    print_figures(figures)


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
        for one in asked:
            if schema.is_valid(one):
                lines.append(encode({"tool": tool, "arguments": one, "result": records[one["contact_id"]]}))
        return (cpu_seconds() - began) / calls

    return once


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds and calls, to check that it runs")
    asyncio.run(main(quick=parser.parse_args().quick))
