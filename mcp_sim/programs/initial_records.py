"""The records that worlds of a program begin with, also found in a given state, whatever its shape is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import cast

from rpds import HashTrieMap

from mcp_sim.generate.invention import inventor
from mcp_sim.programs.backend import load
from mcp_sim.programs.loading import failed_at, reason
from mcp_sim.programs.results import plain
from mcp_sim.programs.watchdog import Overrun, watched
from mcp_sim.programs.world import World
from mcp_sim.types import Call, Change, Json, Memories, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import Draws
from mcp_sim.types.errors import DocumentError, Problem
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import Tables
from mcp_sim.types.lexicon.english import singular, words
from mcp_sim.types.programs import Program
from mcp_sim.world.state import State

HOOK = "initial"


_MOST = 10_000
"""How many objects are searched. A given state may be a whole export, and each start searches it."""


def with_initial_records(tables: Tables, domain: Domain, seed: int) -> Tables:
    """Return the tables with the records that the programs of a domain begin with.

    Raises `DocumentError` with file and line if a program fails.
    """
    programs = [program for program in domain.programs if HOOK in program.hooks]
    if not programs:
        return tables
    state = State.of(tables)
    for program in programs:
        state = state.apply(_changes(program, state, domain, seed))
    return {entity: dict(state.rows(entity)) for entity in state.entities()}


def _changes(program: Program, state: State, domain: Domain, seed: int) -> tuple[Change, ...]:
    tool = Tool(HOOK, "", {"name": HOOK, "inputSchema": {"type": "object"}})
    turn = Turn(
        Call(HOOK, {}),
        index=0,
        tool=tool,
        view=state,
        start=domain.now,
        now=domain.now,
        draws=Draws(seed, "", HOOK, 0),
        history=(),
        memories=Memories(HashTrieMap()),
    )
    world = World(domain, program.prefix, turn, inventor(domain))
    begin = load(program, domain)[program.hooks[HOOK].name]
    try:
        with watched():
            begin(plain(program.state), world)
            return world.changes()
    except (Exception, Overrun) as error:
        place = failed_at(error, program.path)
        line, why = program.hooks[HOOK].line, f"fails at {place}: {reason(error)}"
        raise DocumentError([Problem(str(program.path), line, f"@{HOOK}", why)]) from error


def records(given: Json, *names: str, key: str = "id", value: str = "") -> list[Record]:
    """Return copies of the records that a state has under one of these names, at any depth; the nearest ones count.

    Names are equal in singular and plural, snake and camel case. Records are a list, or a mapping by their `key`, which
    is then added to each. Items of a list that are not objects become `{key: item}`; a mapping whose values are not all
    objects is one record. Without names: those of a state that is itself a list or a mapping of records.

    `value`: the field of entries of a mapping that are not objects, such as files whose contents are texts. Objects
    without this field are then folders: the keys of what is in them begin with their name and a slash.
    """
    if not names:
        return [*_rows(given, key, value)]
    wanted = {_normal(name) for name in names}
    waiting, searched = deque[Json]([given]), 0
    while waiting and searched < _MOST:
        current, searched = waiting.popleft(), searched + 1
        if isinstance(current, Mapping):
            parts = cast("Mapping[str, Json]", current)
            container = next(
                (inner for name, inner in parts.items() if _normal(name) in wanted and _is_container(inner)), None
            )
            if container is not None:
                return [*_rows(container, key, value)]
            waiting.extend(parts.values())
    return []


def _rows(value: Json, key: str, plain: str) -> Iterator[Record]:
    if isinstance(value, list):
        for row in cast("list[Json]", value):
            yield {**as_object(row)} if isinstance(row, dict) else {key: row}
    elif isinstance(value, Mapping):
        parts = cast("Mapping[str, Json]", value)
        if plain:
            yield from _entries(parts, key, plain, "")
        elif all(isinstance(inner, dict) for inner in parts.values()):
            yield from ({key: name, **as_object(inner)} for name, inner in parts.items())
        else:
            yield dict(parts)


def _entries(parts: Mapping[str, Json], key: str, plain: str, folder: str) -> Iterator[Record]:
    """Yield the entries of a mapping and of the folders in it."""
    for name, value in parts.items():
        if not isinstance(value, dict):
            yield {key: f"{folder}{name}", plain: value}
        elif plain in value:
            yield {key: f"{folder}{name}", **as_object(value)}
        else:
            yield from _entries(as_object(value), key, plain, f"{folder}{name}/")


def _is_container(value: Json) -> bool:
    return isinstance(value, list | dict) and value not in ([], {})


def _normal(name: str) -> str:
    parts = words(str(name))
    return "_".join((*parts[:-1], singular(parts[-1]))) if parts else str(name).lower()
