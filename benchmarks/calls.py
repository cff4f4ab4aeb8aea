"""Measure calls and worlds in process: by verb, as a program, and by the number of live worlds.

    python benchmarks/calls.py [verbs] [programs] [worlds] [--quick]

`verbs`: calls of inferred plans, as multiples of the least that a call must do. The reference does what no simulator
can leave out, in plain Python: it checks the arguments under the compiled inputSchema, gets the record from a dict, and
writes one line of JSON. Every figure is the median of rounds that take turns, in microseconds of the processor, with
the spread of the rounds. `plain` is a world without perturbations and trace. `faults` has three perturbations that
match the tool and do not act, `trace` writes a trace to a file besides, and `rate_limit` only counts.

`programs`: the same server as inferred plans and as a program. The last row iterates over 100,000 rows, beside a loop
over plain dicts.

`worlds`: a fork of a world with 100,000 records, a new world of a seed that was used before, the first calls of 500
new worlds at once, and the memory of 10,000 live worlds, each with its fork and 20 calls.
"""

from __future__ import annotations

import argparse
import asyncio
import copy
import gc
import json
import os
import statistics
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema_rs
from measuring import Figure, Measure, calibration, cpu_seconds, in_turns, micro, print_table, ratio

from mcp_sim import Simulator, World
from mcp_sim.types.scenario import GivenRecords
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


async def measure_verbs(*, quick: bool) -> None:
    """Measure the calls by verb, and print them."""
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


GET = ("get_contact", [{"contact_id": "con_00001"}])


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


async def measure_programs(*, quick: bool) -> None:
    rounds = 1 if quick else 7
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


# worlds ---------------------------------------------------------------------------------------------------------------

RECORDS = 100_000
MEBIBYTE = 1024 * 1024


async def measure_worlds(*, quick: bool) -> None:
    times, many, at_once = (50, 200, 50) if quick else (1_000, 10_000, 500)
    await measure_live_worlds(many)
    calm = Simulator.load("calm_crm").scenario
    contacts = replace(calm, records={**calm.records, "contact": GivenRecords(RECORDS)})
    async with Simulator(contacts, ledger_keep=10) as simulator:
        world = simulator.world()
        await world.call("update_contact", {"contact_id": "con_00001", "job_title": "Buyer"})
        table = dict(world.view.rows("contact"))
        rows = [
            ["another world of the same seed", micro(median(simulator.world, 20))],
            ["fork", micro(median(world.fork, times))],
            ["reference: copy a dict of the records", micro(median(lambda: dict(table), 20))],
        ]
    print_table(f"Worlds of {RECORDS:,} contacts, microseconds each", ["", "median"], rows)
    async with Simulator(calm) as simulator:
        worlds = [simulator.world(f"w{number}") for number in range(at_once)]
        spans = [[await seconds_per_call(simulated, *GET) for simulated in worlds] for _ in range(3)]
    first, *_, later = map(statistics.median, spans)
    rows = [["first", micro(first), ratio(first, later)], ["later", micro(later), "1.00x"]]
    print_table(f"A get in each of {at_once:,} new worlds, microseconds", ["call", "median", "ratio"], rows)


async def measure_live_worlds(number: int) -> None:
    """Measure the resident memory of live worlds, each with earlier calls and a fork."""
    async with Simulator.load("calm_crm") as simulator:
        await make_calls_and_fork(simulator.world("warm-up"), 0)
        gc.collect()
        before, began = resident_bytes(), time.perf_counter()
        kept = list[World]()
        for n in range(number):
            world = simulator.world(f"w{n}")
            kept.append(await make_calls_and_fork(world, n))
            kept.append(world)
        spent = time.perf_counter() - began
        grown = resident_bytes() - before
        state = dict(kept[0].view.rows("contact"))
        copied = copy_bytes(state)
        rows = [
            ["worlds, each with its fork", f"{number:,}"],
            ["memory in all", f"{grown / MEBIBYTE:,.0f} MiB"],
            ["memory of a world and its fork", f"{grown / number / 1024:,.1f} KiB"],
            ["reference: a copy of the contacts alone", f"{copied / 1024:,.1f} KiB"],
            ["time in all", f"{spent:.1f} s"],
        ]
        print_table("Live worlds: 20 calls, 5 of them writes, and one fork each", ["", "value"], rows)


async def make_calls_and_fork(world: World, n: int) -> World:
    """Make 20 calls, 5 of them writes. Return a fork from the end."""
    for at in range(15):
        await world.call("get_contact", {"contact_id": f"con_{1 + (n + at) % 200:05d}"})
    for at in range(5):
        await world.call("create_deal", {"title": f"Order {at}", "amount": 100 * at, "contact_id": "con_00001"})
    return world.fork()


def copy_bytes(records: dict[Any, Any]) -> float:
    """Return the bytes of one deep copy of the records, averaged over many."""
    gc.collect()
    before = resident_bytes()
    copies = [copy.deepcopy(records) for _ in range(100)]
    return (resident_bytes() - before) / len(copies)


def resident_bytes() -> int:
    """Return the resident bytes of this process (Linux)."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def median(action: Callable[[], object], times: int) -> float:
    """Return the median seconds of an action."""
    spans = list[float]()
    for _ in range(times):
        began = time.perf_counter()
        action()
        spans.append(time.perf_counter() - began)
    return statistics.median(spans)


PARTS: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {
    "verbs": measure_verbs,
    "programs": measure_programs,
    "worlds": measure_worlds,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=[*PARTS], choices=PARTS, help="what to measure (default: all)")
    parser.add_argument("--quick", action="store_true", help="few rounds and calls, to check that it runs")
    options = parser.parse_args()
    for name in options.parts:
        asyncio.run(PARTS[name](quick=options.quick))
