"""Measure how the time to plan tools grows with their number, and with the length of what they declare.

    python benchmarks/planning.py [DIR|FILE ...] [--quick]

Every case is loaded in a small and in a ten times larger size. A time is the fastest of its rounds, in seconds of the
processor. The ratio compares the time per part (a tool, a property, a word): it is 1 if the cost is linear, and 10 if
it is quadratic. `loading` is an unrelated scenario, the unit of the machine.

A FILE is a tools/list result, a DIR a folder of them. Without any, the tools are those of the shipped tool specs. They
are repeated under other names until there are enough: as one server, and as several servers.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from table import print_table, ratio

from mcp_sim.simulator.compile import load
from mcp_sim.spec.sources import shipped

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


def main(places: Sequence[Path], *, quick: bool) -> None:
    """Measure every case and print it."""
    known = list(real_tools(places))
    rounds = 1 if quick else 3
    unit = fastest(UNIT, 3)
    rows: list[list[str]] = []
    for name, part, most, make in (*cases_of_tools(known), *CASES):
        sizes = [most // GROWTH // (10 if quick else 1) * factor for factor in (1, GROWTH)]
        small, large = (seconds(make(size), rounds) for size in sizes)
        per_part = large / sizes[1]
        growth = ratio(per_part, small / sizes[0])
        rows.append([name, part, *(f"{size:,}" for size in sizes), f"{small:.3f}", f"{large:.3f}",
                     f"{per_part * 1e6:,.1f}", growth, ratio(large, unit)])  # fmt: skip
    head = ["case", "part", "small", "large", "small s", "large s", "us per part", "ratio", "loading"]
    print_table(f"Planning, seconds of the processor (loading {UNIT}: {unit:.3f})", head, rows)


# measurement ----------------------------------------------------------------------------------------------------------


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


def fields(size: int, part: Json = TEXT) -> dict[str, Json]:
    """Return this number of properties."""
    return {f"field_{word(at)}": part for at in range(size)}


def long_noun(size: int) -> str:
    """Return a noun of this number of words."""
    return "_".join(word(at) for at in range(size))


def described(about: str) -> Json:
    """Return a server whose only tool has this description."""
    return one_server([tool("get_task", {"task_id": TEXT, "label": TEXT}, about)])


Case = tuple[str, str, int, Callable[[int], Json]]
"""Name, the name of its parts, the most parts, and the document of a size."""

CASES: tuple[Case, ...] = (
    ("arguments of a list", "property", 5_000, lambda size: one_server([tool("list_tasks", fields(size))])),
    ("required arguments", "property", 5_000, lambda size: one_server(
        [tool(f"{verb}_task", fields(size), needed=[*fields(size)]) for verb in ("create", "update", "list")])),
    ("arguments of three tools", "property", 5_000, lambda size: one_server(
        [tool(f"{verb}_task", {"task_id": TEXT, **fields(size)}) for verb in ("create", "update", "list")])),
    ("arguments and result", "property", 5_000, lambda size: one_server(
        [tool("update_task", {"task_id": TEXT, **fields(size)}, result={"id": TEXT, **fields(size)})])),
    ("arguments and other result", "property", 5_000, lambda size: one_server([
        tool("update_task", {"task_id": TEXT, **fields(size)}, result={"id": TEXT, **fields(size)}),
        tool("create_task", {"name": TEXT}, result={f"task_{name}": field for name, field in fields(size).items()})])),
    ("arguments of a set", "property", 5_000, lambda size: one_server(
        [tool("set_task", {"task_id": TEXT, **fields(size)}), tool("get_task", {"task_id": TEXT})])),
    ("lists of objects", "property", 5_000, lambda size: one_server([tool("create_task", fields(size, PAIRS))])),
    ("numbers and flags", "property", 5_000, lambda size: one_server(
        [tool("search_tasks", fields(size // 2, {"type": "boolean"})
              | {f"min_{name}": {"type": "number"} for name in fields(size // 2)})])),
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", type=Path, metavar="DIR|FILE", help="tool lists")
    parser.add_argument("--quick", action="store_true", help="a tenth of the sizes, to check that it runs")
    arguments = parser.parse_args()
    main(arguments.places, quick=arguments.quick)
