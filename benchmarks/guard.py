"""Take a snapshot of what the product infers and answers, or print every difference to an earlier snapshot.

    python benchmarks/guard.py BEFORE [DIR|FILE ...] [--recordings DIR] [--only SECTIONS] [--ignore FIELD ...]
                               [--unshipped] [--first N]

If the file BEFORE does not exist, the snapshot is written there, with the paths of the documents. Otherwise the
snapshot of the same documents is taken again and compared; the exit status is 1 if anything differs. Documents are
tools/list results, OpenAPI documents, and folders of them, or of recordings: DIR/tools.json or DIR/*/tools.json, beside
sessions (*.jsonl) whose first line has the `initial_state`. A server with sessions is read without a state, and with
that of the first session. The shipped tool specs are read as well, unless `--unshipped` is given.

- `plans`: the plans and entities of every document, without the fields of plans that `--ignore` names.
- `ledgers`: for each shipped scenario and seeds 0 to 4, the calls of the agent that knows the task, where it has a
  script, and a random walk after them, with the scenario's faults.
- `answers`: a random walk over the tools of every document.
- `oracle`: with recorded sessions, what `oracle.py --mutate` measures of each server; minutes for a thousand calls.

Of each call the tool and a hash of its entry in the ledger are kept, so that the first different call is shown.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeGuard

import oracle

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.long_walks import tools_of, unperturbed
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.runs.agents.script import script_for
from mcp_sim.runs.agents.strategies import STRATEGIES
from mcp_sim.runs.agents.trials import play
from mcp_sim.server.testing import connected
from mcp_sim.simulator.compile import load
from mcp_sim.spec.import_files import build_files, with_program
from mcp_sim.spec.importers.openapi import Openapi
from mcp_sim.spec.sessions import read_sessions
from mcp_sim.spec.sources import shipped
from mcp_sim.types.errors import Crash, McpSimError, UsageError
from mcp_sim.types.kinds import Imported
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

SECTIONS = ("plans", "ledgers", "answers", "oracle")
SEEDS = range(5)
CALLS = 40
"""The calls of a walk: with seeds 0 to 4 of all scenarios, the snapshot takes less than three minutes."""

CHOICES = "choices"
"""The field of a plan with the plans that an argument chooses from."""

ABSENT = "(absent)"
SHOWN = 5
"""The number of differing fields that are printed per plan or entity."""

ENDINGS = (".json", ".yaml", ".yml")
OPENAPI = re.compile(r"""^[ {]{0,5}["']?openapi["']?\s*:""", re.MULTILINE)
"""A line of an OpenAPI document that no tools/list result has."""

Json = Any
Inferences = dict[str, dict[str, Json]]
"""What is inferred from a document, by kind (`plan`, `entity`, `refused`) and name."""

Calls = dict[str, list[str]]
"""The calls of each run, by the run's name: the tool and a hash of the ledger's entry."""


@dataclass(frozen=True)
class Document:
    """A source of plans: a file, or a tool list with the state of a recorded session."""

    name: str
    file: str
    state: Json = None


def main(arguments: argparse.Namespace) -> int:
    """Take the snapshot, and write it or compare it. Return the exit status."""
    earlier: dict[str, Any] | None = (
        json.loads(arguments.before.read_text(encoding="utf-8")) if arguments.before.exists() else None
    )
    places = list(map(str, arguments.places)) or (earlier["places"] if earlier else [])
    if earlier is None and not places:
        sys.exit(f"{arguments.before}: no such snapshot; with documents, a snapshot is taken and written there")
    if missing := [place for place in places if not Path(place).exists()]:
        sys.exit(f"no such file or folder: {', '.join(missing)}")
    recordings: str = arguments.recordings or (earlier["recordings"] if earlier else None) or ""
    unshipped: bool = earlier["unshipped"] if earlier else arguments.unshipped
    snapshot: dict[str, Any] = {"places": places, "recordings": recordings, "unshipped": unshipped}
    named = list(documents(list(map(Path, places)), unshipped=unshipped))
    sections = [section for section in arguments.only if section != "oracle" or recordings]
    if earlier is not None:
        sections = [section for section in sections if section in earlier]  # of a snapshot of some sections
    if "oracle" in sections:
        snapshot["oracle"] = take_oracle(Path(recordings))
    for section in (section for section in TAKEN if section in sections):
        started = time.perf_counter()
        snapshot[section] = TAKEN[section](named)
        print(f"{section}: {len(snapshot[section])} taken in {time.perf_counter() - started:.0f} s", file=sys.stderr)
    if earlier is None:
        with arguments.before.open("x", encoding="utf-8") as stream:  # never replaces what another run wrote meanwhile
            json.dump(snapshot, stream, ensure_ascii=False)
        print(f"{arguments.before} written")
        return 0
    for run in (earlier, snapshot):
        remove_fields(run.get("plans", {}), arguments.ignore)
    different = [line for section in sections for line in COMPARED[section](earlier[section], snapshot[section])]
    print(*different[: arguments.first], sep="\n")
    if len(different) > arguments.first:
        print(f"and {len(different) - arguments.first:,} more (--first N shows more)")
    print(f"{len(different)} differences" if different else f"no differences in {', '.join(sections)}")
    return 1 if different else 0


# documents ------------------------------------------------------------------------------------------------------------


def documents(places: Sequence[Path], *, unshipped: bool = False) -> Iterator[Document]:
    """Yield all documents, with names that do not depend on the location of the folders."""
    for name in () if unshipped else shipped("tool_specs"):
        yield Document(name, name)
    for place in map(Path.resolve, places):
        if place.is_file():
            yield tool_list(place)
        elif (place / "tools.json").is_file():
            yield from recordings(place)
        else:
            yield from map(tool_list, sorted(file for file in place.iterdir() if file.suffix in ENDINGS))
            for file in sorted(place.glob("*/tools.json")):
                yield from recordings(file.parent)


def tool_list(file: Path) -> Document:
    """Return the document of a tools/list result."""
    return Document(f"{file.parent.name}/{file.stem}", str(file))


def recordings(folder: Path) -> Iterator[Document]:
    """Yield a server without a state, and with the state of its first session."""
    file = folder / "tools.json"
    yield tool_list(file)
    for session in sorted(folder.glob("*.jsonl"))[:1]:
        with session.open(encoding="utf-8") as stream:
            state = json.loads(stream.readline()).get("initial_state")
        if is_mapping(state) and "$ref" in state:
            state = json.loads((folder / str(state["$ref"])).read_text(encoding="utf-8"))
        yield Document(f"{folder.name}/{session.stem}", str(file), state or {})


def loaded(document: Document) -> Any:
    """Return the scenario of a document. A tools/list result without a state is loaded unchanged."""
    if document.state is None:
        return of_file(document.file)
    with TemporaryDirectory() as folder:
        tools = json.loads(Path(document.file).read_text(encoding="utf-8"))["tools"]
        Path(folder, "listed.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
        scenario = {"mcp_sim": 1, "tools": "listed.json", "world": {"state": document.state}}
        Path(folder, "scenario.yaml").write_text(json.dumps(scenario), encoding="utf-8")
        return load(Path(folder, "scenario.yaml"))


@cache
def of_file(file: str) -> Any:
    is_openapi = Path(file).is_file() and OPENAPI.search(Path(file).read_text(encoding="utf-8"))
    return imported(file) if is_openapi else load(file)


def imported(file: str) -> Any:
    """Return the scenario of an OpenAPI document, as `mcp-sim import openapi` imports it."""
    (server,) = asyncio.run(Openapi(sources=(file,)).imported())
    assert isinstance(server, Imported)
    with TemporaryDirectory() as folder:
        files = build_files(with_program(server, Path(folder)), "openapi", Path(folder))
        for path, text in files.texts.items():
            if text is not None:
                path.write_text(text, encoding="utf-8")
        return load(files.spec)


def inferred(document: Document) -> Inferences:
    """Return all plans and entities of a document, as JSON by kind and name."""
    try:
        domain = loaded(document).domain
    except McpSimError as error:
        print(f"{document.name}: {str(error).partition(chr(10))[0]}", file=sys.stderr)
        return {"refused": {"document": {}}}
    kinds = {"plan": domain.plans, "entity": domain.entities}
    return {kind: {name: plain(value) for name, value in named.items()} for kind, named in kinds.items()}


def plain(value: Any) -> Json:
    """Return a value as JSON: all fields of dataclasses except reasons. Raises `TypeError` for other values."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.name != "reasons"}
    if is_mapping(value):
        return {name: plain(held) for name, held in value.items()}
    if is_sequence(value):
        return [plain(held) for held in value]
    if is_set(value):
        return sorted(map(plain, value))
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"no JSON for {value!r}")


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    return isinstance(value, Mapping)


def is_sequence(value: object) -> TypeGuard[Sequence[Any]]:
    return isinstance(value, list | tuple)


def is_set(value: object) -> TypeGuard[frozenset[Any]]:
    return isinstance(value, frozenset)


# sections -------------------------------------------------------------------------------------------------------------


def take_plans(documents: Sequence[Document]) -> dict[str, Inferences]:
    """Return what is inferred from each document, without the order of keys: `answers` shows where it matters."""
    return {document.name: inferred(document) for document in documents}


def take_ledgers(_documents: Sequence[Document]) -> Calls:
    """Return the calls in each shipped scenario with each seed."""
    runs: Calls = {}
    for name in sorted(shipped("scenarios")):
        scenario = load(name)
        for seed in SEEDS:
            runs[f"{name} seed {seed}"] = asyncio.run(played(scenario, seed))
    return runs


def take_answers(documents: Sequence[Document]) -> Calls:
    """Return the calls of a walk over the tools of each document that can be loaded."""
    runs: Calls = {}
    for document in documents:
        try:
            scenario = loaded(document)
        except McpSimError:
            continue
        runs[document.name] = asyncio.run(played(unperturbed(scenario), 1))
    return runs


def take_oracle(recordings: Path) -> dict[str, list[str]]:
    """Return the figures of each recorded server, with perfect and with altered answers of the model."""
    groups: dict[str, list[oracle.Replayed]] = {}
    for session in read_sessions(recordings, ["*"]):
        groups.setdefault(session.server, []).append(oracle.replay((session, True, False)))
    return {server: [*oracle.row("", done), *oracle.mutated_row("", done)] for server, done in groups.items()}


async def played(scenario: Scenario, seed: int) -> list[str]:
    """Return the calls of the scripted agent, if the scenario's task has a script, and of a walk after them."""
    async with AsyncExitStack() as stack:
        world = await stack.enter_async_context(Simulator(scenario).open(seed=seed))
        try:
            script = script_for(scenario.task)
        except UsageError:
            script = None
        if script is not None:
            clients = {server: await stack.enter_async_context(connected(world, server)) for server in scenario.servers}
            await play(script, STRATEGIES["golden"], clients)
        await walk(world, seed)
        return [call_of(entry) for entry in world.ledger]


async def walk(world: World, seed: int) -> None:
    walker = Walker(tools_of(world), seed, world)
    for _ in range(CALLS):
        tool, arguments = walker.call()
        try:
            observation = await world.call(tool.id, arguments)
        except Crash:  # its entry in the ledger is compared
            continue
        walker.learn(tool, arguments, observation)


def call_of(entry: Mapping[str, Any]) -> str:
    """Return the tool of an entry in the ledger and a hash of what is the same for the same seed and calls."""
    body = {name: value for name, value in entry.items() if name != "measured"}
    tool = entry.get("step", entry.get("crash", {})).get("tool", "")
    crashed = " crash" if "crash" in entry else ""
    return f"{tool}{crashed} {sha256(json.dumps(body).encode()).hexdigest()[:12]}"


def different_plans(earlier: dict[str, Inferences], later: dict[str, Inferences]) -> Iterator[str]:
    """Yield the plans and entities that differ, or that only one snapshot has."""
    for document, was, now in matched(earlier, later):
        for kind, were, are in matched(was or {}, now or {}):
            for name, before, after in matched(were or {}, are or {}):
                if before is None or after is None:
                    yield f"{document}: {kind} {name}: {'new' if before is None else 'missing'}"
                elif fields := list(differences("", before, after)):
                    yield "\n  ".join([f"{document}: {kind} {name}", *fields[:SHOWN]])


def remove_fields(inferences: Mapping[str, Inferences], names: Sequence[str]) -> None:
    """Remove fields of all plans, and of the plans within them."""
    for kinds in inferences.values():
        for plan in kinds.get("plan", {}).values():
            for fields_of in (plan, *plan.get(CHOICES, {}).values()):
                for name in names:
                    fields_of.pop(name, None)


def differences(path: str, old: Json, new: Json) -> Iterator[str]:
    """Yield a line for each path where two values differ."""
    if is_mapping(old) and is_mapping(new):
        for name, was, now in matched(old, new, ABSENT):
            yield from differences(f"{path}.{name}" if path else name, was, now)
    elif is_sequence(old) and is_sequence(new) and len(old) == len(new):
        for at, (was, now) in enumerate(zip(old, new, strict=True)):
            yield from differences(f"{path}.{at}", was, now)
    elif not (type(old) is type(new) and old == new):
        yield f"{path}: {shortened(old)} -> {shortened(new)}"


def matched(old: Mapping[str, Any], new: Mapping[str, Any], absent: Json = None) -> Iterator[tuple[str, Any, Any]]:
    """Yield the entries of two mappings in pairs."""
    for name in {**old, **new}:
        yield name, old.get(name, absent), new.get(name, absent)


def shortened(value: Json) -> str:
    text = value if value == ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:97]}..."


def different_calls(earlier: Calls, later: Calls) -> Iterator[str]:
    """Yield a line for each run that differs, with its first different call."""
    for name, before, after in matched(earlier, later):
        if before is None or after is None:
            yield f"{name}: {'new' if before is None else 'missing'}"
        elif before != after:
            pairs = zip([*before, "(end)"], [*after, "(end)"], strict=False)
            at, (was, now) = next((at, pair) for at, pair in enumerate(pairs) if pair[0] != pair[1])
            yield f"{name}: entry {at} of {len(before)}: {was} -> {now}"


def different_figures(earlier: dict[str, list[str]], later: dict[str, list[str]]) -> Iterator[str]:
    """Yield a line for each figure of a server that differs."""
    names = [*oracle.HEAD, *oracle.MUTATED]
    for server in {**earlier, **later}:
        for name, was, now in zip(names, earlier.get(server, names), later.get(server, names), strict=True):
            if was != now:
                yield f"{server}: {name}: {was} -> {now}"


TAKEN: dict[str, Any] = {"plans": take_plans, "ledgers": take_ledgers, "answers": take_answers}
COMPARED: dict[str, Any] = {
    "plans": different_plans,
    "ledgers": different_calls,
    "answers": different_calls,
    "oracle": different_figures,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path, metavar="BEFORE", help="the earlier snapshot; written if it is missing")
    parser.add_argument("places", nargs="*", type=Path, metavar="DIR|FILE", help="documents (default: as in BEFORE)")
    parser.add_argument("--recordings", metavar="DIR", help="recorded sessions for the oracle")
    parser.add_argument("--only", type=lambda text: text.split(","), default=SECTIONS, help="sections, by commas")
    parser.add_argument("--ignore", nargs="+", action="extend", default=[], metavar="FIELD", help="fields of plans")
    parser.add_argument("--unshipped", action="store_true", help="without the shipped tool specs")
    parser.add_argument("--first", type=int, default=40, metavar="N", help="print at most N differences (default 40)")
    sys.exit(main(parser.parse_intermixed_args()))
