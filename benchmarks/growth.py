"""Measure how costs grow: of a call with records, earlier calls, tools and worlds; of planning with the tools.

    python benchmarks/growth.py [calls] [planning] [--lists DIR|FILE ...] [--quick] [--most EXPONENT]

All sizes take turns in one run. `calls`: a figure is the median of the rounds, in microseconds of the processor. The
exponent is the slope of cost over size in logarithms: 0 means that the size does not matter, 1 that the cost is linear.
The spread is that of the largest size. Where a call returns rows, it returns one page. Exits with 1 if an exponent is
greater than `--most`. Then the first use of each index is timed, and a full garbage collection by the number of worlds.

`planning`: every case is loaded in a small and in a ten times larger size. A time is the fastest of its rounds, in
seconds of the processor. The ratio compares the time per part (a tool, a property, a word): it is 1 if the cost is
linear, and 10 if it is quadratic. `loading` is an unrelated scenario, the unit of the machine. The tools are those of
`--lists` (tools/list results, or folders of them), or of the shipped tool specs, repeated under other names.
"""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import count, cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from calls import CALLS, Call, seconds_per_call
from common.measuring import (
    Figure,
    Measure,
    calibration,
    cpu_seconds,
    exponent,
    in_turns,
    micro,
    parser_of,
    print_table,
    ratio,
)

from mcp_sim import Simulator
from mcp_sim.generate.records import generate
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sources import shipped
from mcp_sim.types.scenario import GivenRecords, Scenario
from mcp_sim.world.world import World

COUNTED = frozenset({("records", "list by range"), ("records", "search")})
READS = ("get", "list of 20", "list by equality", "list by range", "search")
NEW = count(1)
TOOLS = Path(__file__).parent.parent / "tool_specs" / "crm" / "crm.tools.json"


MOST = 0.2
"""The greatest exponent that passes."""

COUNTING = 0.8
"""Added to it for calls that look at every match: more records have more matches."""


async def measure_calls(*, quick: bool, most: float) -> int:
    """Measure every axis and print it. Return the exit status."""
    rounds, calls = (1, 3) if quick else (5, 20)
    factor = 100 if quick else 1
    print(f"calibration loop: {calibration() * 1e3:.2f} ms")
    grown = list[str]()
    for title, sizes, open_world, verbs in AXES:
        small = [max(1, size // factor) for size in sizes]
        async with AsyncExitStack() as stack:
            worlds = {size: await open_world(stack, size) for size in small}
            measures = {
                f"{verb}/{size}": measure(world, CALLS[verb], calls) for verb in verbs for size, world in worlds.items()
            }
            exponents = print_axis(title, small, verbs, await in_turns(measures, rounds))
        allowed = {verb: most + COUNTING if (title, verb) in COUNTED else most for verb in verbs}
        grown += [
            f"{verb} grows with the number of {title}: {exponents[verb]:.2f}"
            for verb in verbs
            if exponents[verb] > allowed[verb]
        ]
    await print_first_uses(100_000 // factor)
    await print_collections([size // factor for size in (100, 1_000, 3_000)])
    print_generation([size // factor for size in (1_000, 10_000, 100_000)])
    for line in grown:
        print(line, file=sys.stderr)
    return 1 if grown else 0


def measure(world: World, call: Call, calls: int) -> Measure:
    """Return the measure of a call on a fork of a world, after a write that no index knows yet."""
    tool, arguments = call

    async def once() -> float:
        fork = world.fork()
        await write(fork)
        return await seconds_per_call(fork, tool, [arguments(next(NEW)) for _ in range(calls)])

    return once


async def write(world: World) -> None:
    number = next(NEW)
    await world.call("create_contact", {"name": f"Bo Maas {number}", "email": f"bo.{number}@maas.example"})


def print_axis(title: str, sizes: Sequence[int], verbs: Sequence[str], figures: dict[str, Figure]) -> dict[str, float]:
    """Print the costs of an axis. Return the exponents by verb."""
    rows, exponents = list[list[str]](), dict[str, float]()
    for verb in verbs:
        mine = [figures[f"{verb}/{size}"] for size in sizes]
        exponents[verb] = exponent(sizes, mine)
        rows.append([verb, *(micro(timing.median) for timing in mine), mine[-1].spread, f"{exponents[verb]:.2f}"])
    head = ["microseconds", *(f"{size:,}" for size in sizes), "spread", "exponent"]
    print_table(f"A call by the number of {title}", head, rows)
    return exponents


# axes -----------------------------------------------------------------------------------------------------------------


def crm_of_size(size: int) -> Scenario:
    """Return the calm CRM with this number of contacts and deals."""
    calm = load("calm_crm")
    return replace(calm, records={**calm.records, "contact": GivenRecords(size), "deal": GivenRecords(size)})


async def world_of(stack: AsyncExitStack, scenario: Scenario) -> World:
    simulator = await stack.enter_async_context(Simulator(scenario, ledger_keep=100))
    return simulator.world()


async def with_records(stack: AsyncExitStack, size: int) -> World:
    return await world_of(stack, crm_of_size(size))


async def with_calls(stack: AsyncExitStack, size: int) -> World:
    world = await world_of(stack, crm_of_size(500))
    for number in range(size):
        await world.call("get_contact", {"contact_id": f"con_{number % 400 + 1:05d}"})
    return world


async def with_creates(stack: AsyncExitStack, size: int) -> World:
    world = await world_of(stack, crm_of_size(500))
    for _ in range(size):
        await write(world)
    return world


async def with_tools(stack: AsyncExitStack, size: int) -> World:
    return await world_of(stack, crm_with_tools(Path(stack.enter_context(TemporaryDirectory())), size))


def crm_with_tools(folder: Path, size: int) -> Scenario:
    """Return the CRM with this number of other tools."""
    tools = json.loads(TOOLS.read_text(encoding="utf-8"))["tools"]
    get = next(tool for tool in tools if tool["name"] == "get_contact")
    tools += [{**get, "name": f"get_contact_{number}"} for number in range(size)]
    (folder / "many.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    document = {"mcp_sim": 1, "name": "many", "tools": "many.json", "world": {"records": {"contact": 500}}}
    (folder / "many.yaml").write_text(json.dumps(document), encoding="utf-8")
    return load(folder / "many.yaml")


async def with_worlds(stack: AsyncExitStack, size: int) -> World:
    """Return one of many worlds, each with a few calls."""
    simulator = await stack.enter_async_context(Simulator(crm_of_size(500), ledger_keep=100))
    worlds = [simulator.world(f"w{number}") for number in range(size)]
    for world in worlds:
        await write(world)
    stack.callback(worlds.clear)
    return worlds[0]


AXES: tuple[tuple[str, Sequence[int], Callable[[AsyncExitStack, int], Any], Sequence[str]], ...] = (
    ("records", (1_000, 10_000, 100_000), with_records, (*READS, "create", "update")),
    ("earlier calls", (100, 1_000, 10_000), with_calls, ("get", "create")),
    ("earlier creates", (100, 1_000, 10_000), with_creates, (*READS, "create")),
    ("tools", (10, 100, 1_000), with_tools, ("get", "create")),
    ("worlds", (10, 100, 1_000), with_worlds, ("get", "create")),
)


# first uses -----------------------------------------------------------------------------------------------------------


async def print_first_uses(size: int) -> None:
    """Print the first and the second call of each kind in a new world: the first one builds an index."""
    rows: list[list[str]] = []
    async with Simulator(crm_of_size(size)) as simulator:
        world = simulator.world()
        await world.call("get_contact", {"contact_id": "con_00001"})
        for verb in READS[1:]:
            tool, arguments = CALLS[verb]
            first, later = [await seconds_per_call(world, tool, [arguments(1)]) for _ in range(2)]
            rows.append([verb, f"{first * 1e3:.1f}", f"{later * 1e3:.1f}"])
    print_table(f"The first use of an index over {size:,} records, milliseconds", ["", "first", "second"], rows)


async def print_collections(sizes: Sequence[int]) -> None:
    """Print a full garbage collection by the number of worlds with 20 calls each."""
    rows: list[list[str]] = []
    for size in sizes:
        async with AsyncExitStack() as stack:
            simulator = await stack.enter_async_context(Simulator.load("calm_crm"))
            worlds = [simulator.world(f"w{number}") for number in range(size)]
            for world in worlds:
                await seconds_per_call(world, "get_contact", [{"contact_id": "con_00001"}] * 15)
                for _ in range(5):
                    await write(world)
            gc.collect()
            began = cpu_seconds()
            gc.collect()
            taken = cpu_seconds() - began
            rows.append([f"{size:,}", f"{len(gc.get_objects()) / size:,.0f}", f"{taken * 1e3:.1f}"])
    print_table("A full garbage collection", ["worlds", "objects per world", "ms"], rows)


def print_generation(sizes: Sequence[int]) -> None:
    """Print the time to generate a record, by the size of the world."""
    rows: list[list[str]] = []
    for size in sizes:
        crm = crm_of_size(size)
        began = cpu_seconds()
        tables = generate(crm.domain, crm.records, 7)
        taken = cpu_seconds() - began
        rows.append([f"{size:,} contacts and deals", micro(taken / sum(len(table) for table in tables.values()))])
    print_table("Generation", ["world", "us per record"], rows)


Json = Any
Tools = list[dict[str, Json]]
TEXT = {"type": "string"}
PAIRS = {"type": "array", "items": {"type": "object", "properties": {"left": TEXT, "right": TEXT}}}
STATE = {"tasks": {"1": {"id": "1", "name": "Plan"}, "2": {"id": "2", "name": "Ship"}}}
GROWTH = 10
"""The large size of a case, as a multiple of the small one."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"
UNIT = "calm_crm"
"""The scenario whose loading is the unit of the machine."""


# planning -------------------------------------------------------------------------------------------------------------


def measure_planning(places: Sequence[Path], *, quick: bool) -> None:
    """Measure every case and print it."""
    known = list(real_tools(places))
    rounds = 1 if quick else 3
    unit = fastest(UNIT, rounds)
    rows: list[list[str]] = []
    for name, unit_name, most, make in (*cases_of_tools(known), *CASES):
        sizes = [most // GROWTH // (50 if quick else 1) * factor for factor in (1, GROWTH)]
        small, large = (seconds(make(size), rounds) for size in sizes)
        per_part = large / sizes[1]
        growth = ratio(per_part, small / sizes[0])
        rows.append([name, unit_name, *(f"{size:,}" for size in sizes), f"{small:.3f}", f"{large:.3f}",
                     f"{per_part * 1e6:,.1f}", growth, ratio(large, unit)])  # fmt: skip
    head = ["case", "part", "small", "large", "small s", "large s", "us per part", "ratio", "loading"]
    print_table(f"Planning, seconds of the processor (loading {UNIT}: {unit:.3f})", head, rows)


def seconds(document: Json, rounds: int) -> float:
    """Return the seconds to load a document: a scenario, with its tool lists as values under `tools`."""
    with TemporaryDirectory() as folder:
        servers = {name: f"{name}.json" for name in document["tools"]}
        for name, tools in document["tools"].items():
            Path(folder, servers[name]).write_text(json.dumps({"tools": tools}), encoding="utf-8")
        scenario = Path(folder, "scenario.yaml")
        scenario.write_text(json.dumps({"mcp_sim": 1, **document, "tools": servers}), encoding="utf-8")
        return fastest(scenario, rounds)


def fastest(reference: str | Path, rounds: int) -> float:
    """Return the least seconds that loading a document takes."""
    times: list[float] = []
    for _ in range(rounds):
        gc.collect()
        start = time.process_time()
        load(reference)
        times.append(time.process_time() - start)
    return min(times)


# many tools -----------------------------------------------------------------------------------------------------------


def real_tools(places: Sequence[Path]) -> Iterator[dict[str, Json]]:
    """Yield the definitions of the tools in these files and folders, or of the shipped tool specs."""
    if not places:
        for name in shipped("tool_specs"):
            yield from (tool.definition for tool in load(name).domain.tools.values())
    for place in places:
        for file in sorted(place.glob("*.json")) if place.is_dir() else [place]:
            yield from json.loads(file.read_text(encoding="utf-8"))["tools"]


def cases_of_tools(known: Sequence[dict[str, Json]]) -> Iterator[Case]:
    """Yield the cases of many tools."""
    yield "real tools, one server", "tool", 2_000, lambda size: one_server(repeated(known, size))
    yield "real tools, 20 servers", "tool", 2_000, lambda size: several_servers(repeated(known, size), 20)
    yield "tools of one entity", "tool", 2_000, lambda size: one_server(tools_of_one_entity(size))
    yield "five tools per entity", "tool", 2_000, lambda size: one_server(tools_of_entities(size))
    yield "20 tables of a state", "tool", 2_000, lambda size: one_server(tools_of_entities(size), state=tables(20))
    yield "settings", "tool", 2_000, lambda size: one_server(tools_of_settings(size))


def repeated(known: Sequence[dict[str, Json]], size: int) -> Tools:
    """Return this number of tools, each with a suffix that names another entity."""
    return [{**tool, "name": f"{tool['name']}_{word(at)}"} for at, tool in enumerate(islice(cycle(known), size))]


def one_server(tools: Tools, **world: Json) -> Json:
    """Return a scenario of one server with these tools."""
    return {"tools": {"listed": tools}, **({"world": world} if world else {})}


def several_servers(tools: Tools, number: int) -> Json:
    """Return a scenario of several servers that share these tools."""
    return {"tools": {f"listed_{word(at)}": tools[at::number] for at in range(number)}}


def tools_of_one_entity(size: int) -> Tools:
    """Return tools with different nouns that all name the same record."""
    return [
        tool(f"{('get', 'update', 'list', 'delete')[at % 4]}_task_{word(at)}", {"task_id": TEXT, "name": TEXT})
        for at in range(size)
    ]


def tools_of_entities(size: int) -> Tools:
    """Return the five usual tools of many entities."""
    return [usual_tool for at in range(size // 5) for usual_tool in usual_tools(f"thing_{word(at)}")]


def tables(number: int) -> Json:
    """Return a state with the tables of the first of these entities."""
    rows = [{"id": "1", "name": "Plan", "status": "open"}, {"id": "2", "name": "Ship", "status": "done"}]
    return {f"thing_{word(at)}s": rows for at in range(number)}


def tools_of_settings(size: int) -> Tools:
    """Return tools that get and set many things without a key."""
    names = [f"mode_{word(at)}" for at in range(size // 2)]
    gets = [tool(f"get_{name}", {}, "Get it.", result={"level": {"type": "integer"}}) for name in names]
    return gets + [tool(f"set_{name}", {"level": {"type": "integer"}}, "Set it.", ("level",)) for name in names]


def usual_tools(noun: str) -> Tools:
    """Return the five usual tools of an entity."""
    key = f"{noun}_id"
    return [
        tool(f"create_{noun}", {"name": TEXT, "status": TEXT, "owner_id": TEXT}, f"Create a {noun}", ("name",)),
        tool(f"get_{noun}", {key: TEXT}, f"Get a {noun}", (key,)),
        tool(f"list_{noun}s", {"status": TEXT, "limit": {"type": "integer"}}, f"List {noun}s"),
        tool(f"update_{noun}", {key: TEXT, "name": TEXT}, f"Update a {noun}", (key,)),
        tool(f"delete_{noun}", {key: TEXT}, f"Delete a {noun}", (key,)),
    ]


# long names, schemas and descriptions ---------------------------------------------------------------------------------


def tool(
    name: str, parts: Json, about: str = "Use a task.", needed: Sequence[str] = (), result: Json | None = None
) -> Json:
    """Return the definition of a tool with these arguments, and with these places in the result."""
    output = {"outputSchema": {"type": "object", "properties": result}} if result else {}
    schema = {"type": "object", "properties": parts, "required": list(needed)}
    return {"name": name, "description": about, "inputSchema": schema, **output}


def word(number: int) -> str:
    """Return a word of letters for a number, a different one for each."""
    whole, rest = divmod(number, len(LETTERS))
    return f"{word(whole - 1) if whole else 'q'}{LETTERS[rest]}"


def properties(size: int, schema: Json = TEXT) -> dict[str, Json]:
    """Return this number of properties."""
    return {f"field_{word(at)}": schema for at in range(size)}


def long_noun(size: int) -> str:
    """Return a noun of this number of words."""
    return "_".join(word(at) for at in range(size))


def described(about: str) -> Json:
    """Return a server whose only tool has this description."""
    return one_server([tool("get_task", {"task_id": TEXT, "label": TEXT}, about)])


Case = tuple[str, str, int, Callable[[int], Json]]
"""Name, the name of its parts, the most parts, and the document of a size."""

CASES: tuple[Case, ...] = (
    ("arguments of a list", "property", 5_000, lambda size: one_server([tool("list_tasks", properties(size))])),
    ("required arguments", "property", 5_000, lambda size: one_server(
        [tool(f"{verb}_task", properties(size), needed=[*properties(size)]) for verb in ("create", "update", "list")])),
    ("arguments of three tools", "property", 5_000, lambda size: one_server(
        [tool(f"{verb}_task", {"task_id": TEXT, **properties(size)}) for verb in ("create", "update", "list")])),
    ("arguments and result", "property", 5_000, lambda size: one_server(
        [tool("update_task", {"task_id": TEXT, **properties(size)}, result={"id": TEXT, **properties(size)})])),
    ("arguments and other result", "property", 5_000, lambda size: one_server([
        tool("update_task", {"task_id": TEXT, **properties(size)}, result={"id": TEXT, **properties(size)}),
        tool("create_task", {"name": TEXT}, result={f"task_{name}": TEXT for name in properties(size)})])),
    ("arguments of a set", "property", 5_000, lambda size: one_server(
        [tool("set_task", {"task_id": TEXT, **properties(size)}), tool("get_task", {"task_id": TEXT})])),
    ("lists of objects", "property", 5_000, lambda size: one_server([tool("create_task", properties(size, PAIRS))])),
    ("numbers and flags", "property", 5_000, lambda size: one_server(
        [tool("search_tasks", properties(size // 2, {"type": "boolean"})
              | {f"min_{name}": {"type": "number"} for name in properties(size // 2)})])),
    ("name of a get", "word", 5_000, lambda size: one_server([tool(f"get_{long_noun(size)}", {"id": TEXT})])),
    ("name with a state", "word", 5_000, lambda size: one_server(
        [*usual_tools("task"), tool(f"get_{long_noun(size)}", {"id": TEXT})], state=STATE)),
    ("name of statistics", "word", 5_000, lambda size: one_server(
        [*usual_tools("task"), tool(f"get_{long_noun(size)}_stats", {})])),
    ("name of several tools", "word", 5_000, lambda size: one_server(
        [tool(f"{verb}_{long_noun(size)}", {"id": TEXT, "name": TEXT}) for verb in ("create", "get", "update")])),
    ("name without a verb", "word", 5_000, lambda size: one_server(
        [*usual_tools("task"), tool(long_noun(size), {"id": TEXT})])),
    ("blanks in lines", "blank", 100_000, lambda size: described(
        f"Get it\n{' ' * (size // 3)}\n{' ' * (size // 3)}label{' ' * (size // 3)}")),
    ("blanks before a colon", "blank", 100_000, lambda size: described(f"Args:\n    label {' ' * size}(: one\n")),
    ("blanks in one line", "blank", 100_000, lambda size: described(f"Get it {' ' * size}, at most{' ' * 9}5")),
    ("words of a description", "word", 100_000, lambda size: described(" ".join(word(at) for at in range(size)))),
    ("lines of a description", "line", 20_000, lambda size: described("label: one\n" * size)),
)  # fmt: skip


if __name__ == "__main__":
    parser = parser_of(__doc__, ("calls", "planning"))
    parser.add_argument("--lists", nargs="+", type=Path, default=[], metavar="DIR|FILE", help="the tools to plan")
    parser.add_argument("--most", type=float, default=MOST, metavar="EXPONENT", help=f"default {MOST}")
    arguments = parser.parse_args()
    if "planning" in arguments.parts:
        measure_planning(arguments.lists, quick=arguments.quick)
    if "calls" in arguments.parts:
        sys.exit(asyncio.run(measure_calls(quick=arguments.quick, most=arguments.most)))
