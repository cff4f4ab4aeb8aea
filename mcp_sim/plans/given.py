"""Take the records of backends from a given state of any common shape."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from typing import TypeAlias, cast

from mcp_sim.types import Json, Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.given_rows import rows_of, unwrap_rows
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.lexicon.english import singular, snake

MAX_DEPTH = 4
"""How many levels of wrappers are searched. Deeper objects are contents of a record."""
MAX_OBJECTS = 200
"""How many objects within one object are searched. More are the rows of a table."""

Read: TypeAlias = Callable[[Record], "Record | None"]


def _unchanged(row: Record) -> Record:
    return row


@frozen
class Given:
    """What a backend takes of a given state."""

    records: Mapping[str, Sequence[Record]] = field(default_factory=dict[str, Sequence[Record]])
    """By entity."""
    rest: Json = None
    """What it leaves for other backends."""


Take: TypeAlias = Callable[[str, Json], Given | None]


@frozen
class Sought:
    """The records of one entity, as a backend looks for them in a given state."""

    entity: str
    key: str
    """The field of the key, which a mapping of records has outside of them."""
    names: frozenset[str]
    """Singular last words of the names under which they may be: `note` for `notes`, `my_notes`, `Note`."""
    plain: str = ""
    """The field of entries that are not objects (`{"greeting": "hello"}`); empty: all entries are objects."""
    read: Read = _unchanged
    """Makes a record of a row; None if it cannot be one, so that the table is something else."""


def take_given(state: Json, sought: Sequence[Sought], *, is_whole: bool = False) -> Given:
    """Return the records of a given state by entity, and the rest of the state.

    They may be nested under any wrappers. `is_whole`: if nothing has a known name, the whole state is the first table.
    """
    entities = [asked.entity for asked in sought]
    given = take_matching(state, entities, lambda name, value: next(_matching(name, value, sought), None))
    if is_whole and sought and not any(given.records.values()):
        inner = innermost(state)
        rows = _rows(inner, sought[0])
        if rows:
            return Given({**given.records, sought[0].entity: rows}, unwrap_rows(inner)[1] or None)
    return given


def take_matching(state: Json, entities: Iterable[str], take: Take) -> Given:
    """Return the records of these entities that `take` finds in a given state, and the rest of the state.

    `take` gets each name and the value under it, under any wrappers. It returns None if it takes nothing of the value.
    """
    records: dict[str, list[Record]] = {entity: [] for entity in entities}
    return Given(records, _left(state, take, records, MAX_DEPTH))


def innermost(state: Json) -> Json:
    """Return what is inside wrappers that hold nothing else: `{vault: {notes: {...}}}` holds the notes."""
    *_, inner = wrapped(state)
    return inner


def wrapped(state: Json) -> Iterator[Json]:
    """Yield a state, and then what is inside each of its wrappers that hold nothing else."""
    for _ in range(MAX_DEPTH):
        yield state
        parts = [*as_object(state).values()]
        if len(parts) != 1 or not isinstance(parts[0], dict | list):
            return
        state = cast("Json", parts[0])
    yield state


def _left(value: Json, take: Take, records: dict[str, list[Record]], depth: int) -> Json:
    """Move what is taken of a value into `records`. Return the rest; None if nothing is left."""
    if not isinstance(value, dict):
        return value
    left: Record = {}
    for name, inner in islice(as_object(value).items(), MAX_OBJECTS):
        given = take(name, inner)
        if given is not None:
            for entity, rows in given.records.items():
                records[entity] += rows
            rest = given.rest
        else:
            rest = _left(inner, take, records, depth - 1) if depth else inner
        if rest is not None or inner is None:
            left[name] = rest
    left |= dict(islice(as_object(value).items(), MAX_OBJECTS, None))
    return left if left or not value else None


def _matching(name: str, value: Json, sought: Sequence[Sought]) -> Iterator[Given]:
    if not isinstance(value, dict | list):
        return
    for asked in sought:
        if is_named(name, asked.names):
            rows = _rows(value, asked)
            if rows is not None:
                yield Given({asked.entity: rows}, unwrap_rows(value)[1] or None)


def is_named(name: str, known: Collection[str]) -> bool:
    """Return whether a name, its singular, or its last word is one of the known names."""
    whole = snake(name)
    return not {whole, singular(whole), singular(whole.rsplit("_", 1)[-1])}.isdisjoint(known)


def _rows(value: Json, sought: Sought) -> list[Record] | None:
    rows = rows_of(value, sought.key, sought.plain)
    records = None if rows is None else [sought.read(row) for row in rows]
    return None if records is None or None in records else [row for row in records if row is not None]
