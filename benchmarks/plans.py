"""Write what is inferred from tool lists, and compare it with an earlier run.

    python benchmarks/plans.py [DIR|FILE ...] [--write FILE] [--against FILE] [--renamed OLD=NEW ...]
                               [--ignore FIELD ...] [--moved FIELD=PATH ...] [--unordered]

A FILE is a tools/list result or an OpenAPI document. A DIR is a folder of such files, or of recordings: DIR/tools.json
or DIR/*/tools.json, next to sessions (*.jsonl) whose first line holds the `initial_state`. A server with sessions is
read without a state, and with the states of up to `--sessions` sessions, evenly spread, each state once. The shipped
tool specs are always read. `--write` writes one line per plan or entity: all its fields, and the order of keys of its
mappings.

`--against` exits with 1 if a plan or an entity differs from the earlier file, is missing, or is new. A renamed word of
the earlier file, as a key or as a whole string, is equal to its new name. A word may have several new names:
`--renamed read=get read=view`. `--ignore` leaves out fields of plans and of the plans within them, `--unordered` the
order of keys. `--moved shows=envelope.shows` says where a field of earlier plans is now.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeGuard

from mcp_sim.simulator.compile import load
from mcp_sim.spec.import_files import build_files, with_program
from mcp_sim.spec.importers.openapi import Openapi
from mcp_sim.spec.sources import shipped
from mcp_sim.types.errors import McpSimError
from mcp_sim.types.kinds import Imported

REASONS, CHOICES = "reasons", "choices"
"""The fields of a plan with its prose, and with the plans that an argument chooses from."""

ABSENT = "(absent)"
SHOWN = 5
"""The number of differing fields that are printed per plan or entity."""

ENDINGS = (".json", ".yaml", ".yml")
OPENAPI = re.compile(r"""^[ {]{0,5}["']?openapi["']?\s*:""", re.MULTILINE)
"""A line of an OpenAPI document that no tools/list result has."""

Json = Any
Words = Mapping[str, Sequence[str]]
"""New names by words of the earlier file."""
Found = dict[str, dict[str, dict[str, Json]]]
"""Results by document, kind (`plan`, `entity`, `refused`) and name."""


@dataclass(frozen=True)
class Document:
    """A source of plans: a file, or a tool list with the state of a recorded session."""

    name: str
    file: str
    state: Json = None


@dataclass(frozen=True)
class Difference:
    """A plan or an entity that changed. `fields` has a line for each differing field."""

    document: str
    kind: str
    name: str
    fields: Sequence[str]


def main(arguments: argparse.Namespace) -> int:
    """Infer, write and compare. Return the exit status."""
    inferences: Found = {}
    for document in documents(arguments.places, arguments.sessions):
        if document.name in inferences:
            sys.exit(f"{document.name}: two documents have this name")
        inferences[document.name] = inferred(document, reasons=arguments.reasons)
    numbers = Counter(kind for parts in inferences.values() for kind, named in parts.items() for _ in named)
    print(f"{len(inferences)} documents:", ", ".join(f"{number:,} {kind}" for kind, number in sorted(numbers.items())))
    if arguments.write:
        Path(arguments.write).write_text("".join(f"{line}\n" for line in lines(inferences)), encoding="utf-8")
    if not arguments.against:
        return 0
    earlier = read(Path(arguments.against), reasons=arguments.reasons)
    words = renamings([*arguments.renamed, *listed(arguments.renamed_file)])
    for run in (earlier, inferences):
        for plan in plans_of(run):
            move_fields(plan, renamings(arguments.moved))
            remove_fields(plan, arguments.ignore)
        if arguments.unordered:
            remove_order(run)
    different = list(differing(earlier, inferences, words))
    print_comparison(numbers, different, arguments.first)
    return 1 if different else 0


def documents(places: Sequence[Path], sessions: int) -> Iterator[Document]:
    """Yield all documents, with names that do not depend on the location of the folders."""
    for name in shipped("tool_specs"):
        yield Document(name, name)
    for place in map(Path.resolve, places):
        if place.is_file():
            yield tool_list(place)
        elif (place / "tools.json").is_file():
            yield from recordings(place, sessions)
        else:
            yield from map(tool_list, sorted(file for file in place.iterdir() if file.suffix in ENDINGS))
            for file in sorted(place.glob("*/tools.json")):
                yield from recordings(file.parent, sessions)


def tool_list(file: Path) -> Document:
    """Return the document of a tools/list result."""
    return Document(f"{file.parent.name}/{file.stem}", str(file))


def recordings(folder: Path, most: int) -> Iterator[Document]:
    """Yield a server without a state, and with the distinct states of up to `most` of its sessions."""
    file = folder / "tools.json"
    yield tool_list(file)
    states = dict[str, Document]()
    sessions = sorted(folder.glob("*.jsonl"))
    for session in sessions[:: max(1, -(-len(sessions) // max(1, most)))]:
        with session.open(encoding="utf-8") as stream:
            state = json.loads(stream.readline()).get("initial_state")
        if is_mapping(state) and "$ref" in state:
            state = json.loads((folder / str(state["$ref"])).read_text(encoding="utf-8"))
        name = f"{folder.name}/{session.stem}"
        states.setdefault(json.dumps(state, sort_keys=True), Document(name, str(file), state or {}))
    yield from states.values()


def inferred(document: Document, *, reasons: bool) -> dict[str, dict[str, Json]]:
    """Return all plans and entities of a document, as JSON by kind and name."""
    try:
        domain = loaded(document).domain
    except McpSimError as error:
        print(f"{document.name}: {str(error).partition(chr(10))[0]}", file=sys.stderr)
        return {"refused": {"document": {}}}
    plans = {name: part(plan, reasons=reasons) for name, plan in domain.plans.items()}
    return {"plan": plans, "entity": {name: part(entity, reasons=reasons) for name, entity in domain.entities.items()}}


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


def part(value: Any, *, reasons: bool) -> Json:
    """Return a plan or an entity with the order of its mappings, and on request its reasons as a separate entry."""
    mappings = {field.name: getattr(value, field.name) for field in fields(value)}
    order = {name: list(held) for name, held in mappings.items() if is_mapping(held) and len(held) > 1}
    return {"fields": plain(value), "order": order, **({REASONS: list(prose(value))} if reasons else {})}


def prose(plan: Any) -> Iterator[str]:
    """Yield the reasons of a plan and of the plans within it."""
    yield from getattr(plan, REASONS, ())
    for choice in getattr(plan, CHOICES, {}).values():
        yield from prose(choice)


def plain(value: Any) -> Json:
    """Return a value as JSON: all fields of dataclasses except reasons. Raises `TypeError` for other values."""
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.name != REASONS}
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


def lines(inferences: Found) -> Iterator[str]:
    """Yield one line for each plan and entity, sorted."""
    for document, kinds in sorted(inferences.items()):
        for kind, named in sorted(kinds.items()):
            for name, body in sorted(named.items()):
                line = {"document": document, "kind": kind, "name": name, **body}
                yield json.dumps(line, sort_keys=True, ensure_ascii=False)


def read(file: Path, *, reasons: bool) -> Found:
    """Return the results of an earlier run, without the reasons of plans unless they are requested."""
    inferences: Found = {}
    with file.open(encoding="utf-8") as stream:
        for text in stream:
            line = json.loads(text)
            document, kind, name = (line.pop(word) for word in ("document", "kind", "name"))
            if not reasons:
                line.pop(REASONS, None)
            inferences.setdefault(document, {}).setdefault(kind, {})[name] = line
    return inferences


def listed(file: Path | None) -> list[str]:
    """Return the renamings in a file, one per line. `#` begins a comment."""
    if file is None:
        return []
    written = (line.partition("#")[0].strip() for line in file.read_text(encoding="utf-8").splitlines())
    return [line for line in written if line]


def renamings(pairs: Iterable[str]) -> Words:
    """Return OLD=NEW pairs as a mapping. Exits if a pair is malformed."""
    words = dict[str, list[str]]()
    for pair in pairs:
        old, sign, new = pair.partition("=")
        if not (old and sign and new):
            sys.exit(f"--renamed {pair}: expected OLD=NEW")
        words.setdefault(old, []).append(new)
    return words


def plans_of(inferences: Found) -> Iterator[dict[str, Json]]:
    """Yield the fields of all plans and of the plans within them."""
    for kinds in inferences.values():
        for plan in kinds.get("plan", {}).values():
            yield plan["fields"]
            yield from plan["fields"].get(CHOICES, {}).values()


def move_fields(plan: dict[str, Json], moves: Words) -> None:
    """Move fields of a plan to the dotted paths that `moves` names."""
    for name in moves.keys() & plan.keys():
        at, (*parents, last) = plan, moves[name][0].split(".")
        for parent in parents:
            at = at.setdefault(parent, {})
        at.setdefault(last, plan.pop(name))


def remove_fields(plan: dict[str, Json], names: Iterable[str]) -> None:
    for name in names:
        plan.pop(name, None)


def remove_order(inferences: Found) -> None:
    """Remove the order of keys of all plans and entities."""
    for kinds in inferences.values():
        for body in chain.from_iterable(named.values() for named in kinds.values()):
            body.pop("order", None)


def differing(old: Found, new: Found, words: Words) -> Iterator[Difference]:
    """Yield the plans and entities that differ between two runs, or that only one run has."""
    for document, was, now in matched(old, new, words):
        for kind, were, are in matched(was or {}, now or {}, words):
            for name, before, after in matched(were or {}, are or {}, words):
                if before is None or after is None:
                    yield Difference(document, kind, name, ["new" if before is None else "missing"])
                elif different := list(differences("", before, after, words)):
                    yield Difference(document, kind, name, different)


def differences(path: str, old: Json, new: Json, words: Words) -> Iterator[str]:
    """Yield a line for each path where two values differ."""
    if is_mapping(old) and is_mapping(new):
        for name, was, now in matched(old, new, words, ABSENT):
            yield from differences(f"{path}.{name}" if path else name, was, now, words)
    elif is_sequence(old) and is_sequence(new) and len(old) == len(new):
        for at, (was, now) in enumerate(zip(old, new, strict=True)):
            yield from differences(f"{path}.{at}", was, now, words)
    elif not (type(old) is type(new) and old == new) and not (isinstance(old, str) and new in words.get(old, ())):
        yield f"{path}: {shortened(old)} -> {shortened(new)}"


def matched(
    old: Mapping[str, Any], new: Mapping[str, Any], words: Words, absent: Json = None
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the entries of two mappings in pairs, under the new names of renamed keys."""
    left = dict(new)
    for name, value in old.items():
        now = next((word for word in (name, *words.get(name, ())) if word in left), name)
        yield now, value, left.pop(now, absent)
    for name, value in left.items():
        yield name, absent, value


def shortened(value: Json) -> str:
    text = value if value == ABSENT else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:97]}..."


def print_comparison(numbers: Mapping[str, int], different: Sequence[Difference], first: int) -> None:
    """Print the number of identical plans and entities, and the first differences."""
    wrong = Counter(difference.kind for difference in different if difference.fields != ["missing"])
    missing = Counter(difference.kind for difference in different if difference.fields == ["missing"])
    for kind in sorted({*numbers, *missing}):
        number = numbers.get(kind, 0)
        share = 100 * (number - wrong[kind]) / max(1, number)
        print(f"{kind}: {number - wrong[kind]:,} of {number:,} identical ({share:.1f} %), {missing[kind]:,} missing")
    for shown in different[:first]:
        more = [f"and {len(shown.fields) - SHOWN} more"] if len(shown.fields) > SHOWN else []
        print(f"\n{shown.document} {shown.kind} {shown.name}", *chain(shown.fields[:SHOWN], more), sep="\n  ")
    if len(different) > first:
        print(f"\nand {len(different) - first:,} more (--first N shows more)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", type=Path, metavar="DIR|FILE", help="tool lists, or recordings")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write plans and entities as JSON lines")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with a file of an earlier run")
    parser.add_argument("--renamed", nargs="+", action="extend", default=[], metavar="OLD=NEW", help="renamed words")
    parser.add_argument("--renamed-file", type=Path, metavar="FILE", help="a file with one OLD=NEW per line")
    parser.add_argument("--ignore", nargs="+", action="extend", default=[], metavar="FIELD", help="fields left out")
    parser.add_argument("--moved", nargs="+", action="extend", default=[], metavar="FIELD=PATH", help="moved fields")
    parser.add_argument("--unordered", action="store_true", help="do not compare the order of keys")
    parser.add_argument("--reasons", action="store_true", help="also write and compare the reasons of plans")
    parser.add_argument(
        "--sessions", type=int, default=20, metavar="N", help="states of each recorded server (default 20)"
    )
    parser.add_argument("--first", type=int, default=20, metavar="N", help="print at most N differences (default 20)")
    arguments = parser.parse_args()
    for place in arguments.places:
        if not place.exists():
            parser.error(f"{place}: no such file or folder")
    sys.exit(main(arguments))
