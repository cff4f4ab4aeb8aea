"""Reading of a given state into tables, nested records and singletons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from mcp_sim.infer.given_tables import (
    SAMPLE_SIZE,
    Rows,
    are_alike,
    find_key,
    find_rows,
    infer_fields,
    is_scope,
    make_table,
    unwrap_table,
)
from mcp_sim.infer.nouns import Nouns
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field, Inside
from mcp_sim.types.json_schema.shapes import as_list, as_object, schema_of, types_of
from mcp_sim.types.lexicon.english import singular, snake

Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """Entities of a given state, and their records.

    `paths` maps an entity to the path of its table, or of the object whose values are its fields.
    """

    entities: Mapping[str, Entity] = field(default_factory=dict[str, Entity])
    records: Mapping[str, Sequence[Record]] = field(default_factory=dict[str, "list[Record]"])
    paths: Mapping[str, Path] = field(default_factory=dict[str, "Path"])


@dataclass(slots=True)
class _Found:
    """What was found so far."""

    nouns: Nouns
    tables: dict[str, tuple[Entity, list[Record]]] = field(default_factory=dict[str, "tuple[Entity, list[Record]]"])
    singles: dict[str, Record] = field(default_factory=dict[str, Record])
    paths: dict[str, Path] = field(default_factory=dict[str, "Path"])


def read_given_state(state: Json, nouns: Nouns | None = None) -> Given:
    """Read a state.

    Objects under keys and lists of objects are tables. The rest of an object is a singleton.
    """
    found = _Found(nouns or Nouns())
    _sort_parts(found, (), as_object(state))
    singles = {name: _make_singleton(name, record) for name, record in found.singles.items()}
    tables = {name: entity for name, (entity, _) in found.tables.items()}
    records = {name: rows for name, (_, rows) in found.tables.items()}
    records |= {name: [one] for name, one in found.singles.items()}
    return Given({**dict(_nested_entities(found)), **tables, **singles}, records, found.paths)


def _sort_parts(found: _Found, path: Path, body: Record) -> None:
    """Sort the parts of an object into tables and singletons."""
    scope = snake(path[-1]) if path else "state"
    single: Record = {}
    for name, held in body.items():
        inner, besides = unwrap_table(name, held)
        single |= besides
        rows = find_rows(found.nouns, name, inner)
        if rows is not None:
            single |= {key: value for key, value in as_object(inner).items() if rows and not isinstance(value, dict)}
            _add_table(found, (*path, name), scope, rows)
        elif isinstance(inner, dict) and inner and is_scope(found.nouns, name, cast("Record", inner)):
            _sort_parts(found, (*path, name), as_object(inner))
        else:
            single[name] = inner
    if single:
        name = scope if scope not in found.tables else f"{scope}_state"
        found.singles[name] = {**found.singles.get(name, {}), **single}
        found.paths[name] = path


def _add_table(found: _Found, path: Path, scope: str, rows: Rows) -> None:
    entity = found.nouns.entity_of(path[-1])
    if entity in found.tables:
        entity = f"{scope}_{entity}"
    found.tables[entity] = make_table(found.nouns, entity, rows)
    found.paths[entity] = path


def _nested_entities(found: _Found) -> Iterator[tuple[str, Entity]]:
    """Yield the entities whose records are nested in others, if tools mention them."""
    for entity, rows in found.tables.values():
        for name, one in entity.fields.items():
            kinds = {*types_of(one.schema)} - {"null"}
            if not kinds or kinds & {"array", "object"}:
                inner = [one for row in rows for one in _inner_rows(row.get(name))]
                nested = _nested_entity(found, entity, name, inner) if are_alike(inner[:SAMPLE_SIZE]) else None
                if nested is not None:
                    yield nested.name, nested


def _nested_entity(found: _Found, holder: Entity, name: str, rows: Sequence[Record]) -> Entity | None:
    """Return the entity of the rows in a field of other records. None if they have no key or no tool mentions them."""
    fields = infer_fields(rows)
    key = find_key(singular(snake(name)), fields, rows)
    stem = snake(key or "").removesuffix("_id")
    noun = next((one for one in (stem, found.nouns.entity_of(name)) if one in found.nouns.names), None)
    if noun is None or key is None or noun in found.tables:
        return None
    return Entity(noun, key, rows[-1].get(key), fields, inside=Inside(holder.name, name))


def _inner_rows(value: Json) -> list[Record]:
    inner = [*cast("Record", value).values()] if isinstance(value, dict) else as_list(value)
    return cast("list[Record]", inner) if all(isinstance(row, dict) for row in inner) else []


def _make_singleton(name: str, record: Record) -> Entity:
    fields = {part: Field(part, schema_of(value), required=True) for part, value in record.items()}
    return Entity(name, name, None, fields, singleton=True)
