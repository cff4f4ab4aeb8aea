"""What does a state hold that is given in any form? Tables of records, and singletons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from mcp_sim.domain import Entity, Field
from mcp_sim.schemas import schema_of
from mcp_sim.types import Json, Record
from mcp_sim.words import singular, snake

_KEYS = ("id", "key", "uuid", "name", "code", "slug")


@dataclass(frozen=True, slots=True)
class Given:
    """The entities that a state shows, and their records."""

    entities: Mapping[str, Entity]
    records: Mapping[str, Sequence[Record]]


def given_state(state: Json) -> Given:
    """Objects that have keys, and lists of objects, are tables; what is left of an object is a singleton."""
    entities: dict[str, Entity] = {}
    records: dict[str, Sequence[Record]] = {}
    for entity, rows in _parts("state", state):
        entities[entity.name] = entity
        records[entity.name] = rows
    return Given(entities, records)


def _parts(name: str, value: Json) -> Iterator[tuple[Entity, list[Record]]]:
    if not isinstance(value, dict):
        return
    settings: Record = {}
    for part, inner in cast("Record", value).items():
        rows = _rows(part, inner)
        if rows is not None:
            yield _table(singular(snake(part)), rows)
        elif isinstance(inner, dict) and inner:
            yield from _parts(snake(part), inner)
        else:
            settings[part] = inner
    if settings:
        yield _table(name, [settings], singleton=True)


def _rows(name: str, value: Json) -> list[Record] | None:
    """The rows of a table, each with its key in it; None where the value is no table."""
    if isinstance(value, list):
        rows = cast("list[Json]", value)
        return cast("list[Record]", rows) if rows and all(isinstance(row, dict) for row in rows) else None
    if not isinstance(value, dict) or not value:
        return None
    body = cast("dict[str, Json]", value)
    if not all(isinstance(row, dict) for row in body.values()) or not _alike([*body.values()]):
        return None
    return [_keyed(name, key, row) for key, row in body.items()]


def _alike(rows: Sequence[Record]) -> bool:
    """Do the objects share at least half of their fields?"""
    whole = {name for row in rows for name in row}
    shared = {name for name in whole if all(name in row for row in rows)}
    return bool(whole) and 2 * len(shared) >= len(whole)


def _keyed(name: str, key: str, row: Record) -> Record:
    held = any(str(value) == key for value in row.values())
    return row if held else {f"{singular(snake(name))}_id": key, **row}


def _table(entity: str, rows: Sequence[Record], *, singleton: bool = False) -> tuple[Entity, list[Record]]:
    shapes = [schema_of(row).get("properties", {}) for row in rows]
    fields = {
        name: Field(name, shape[name], required=all(name in other for other in shapes))
        for shape in reversed(shapes)
        for name in shape
    }
    key = next((one for one in (f"{entity}_id", *_KEYS) if one in fields), next(iter(fields), "id"))
    return Entity(entity, entity if singleton else key, None, fields, singleton=singleton), [*rows]
