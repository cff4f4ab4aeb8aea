"""Reading of a given state of any form into tables, nested records and singletons."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from mcp_sim.infer.given_tables import (
    SAMPLE_SIZE,
    are_alike,
    find_key,
    find_rows,
    find_stray_values,
    infer_fields,
    is_scope,
    make_table,
    unwrap_only_row,
    unwrap_table,
    with_integer_ids,
)
from mcp_sim.infer.nouns import Nouns
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field, Inside
from mcp_sim.types.json_schema.shapes import as_list, schema_of, types_of
from mcp_sim.types.lexicon.english import singular, snake

Tables: TypeAlias = "dict[str, tuple[Entity, list[Record]]]"
Lists: TypeAlias = "dict[str, dict[str, list[Json]]]"
Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """Entities of a given state, and their records.

    `scopes` maps an entity to the part of the state that it was found in, `paths` to the path of its table, or of the
    object whose values are its fields.
    """

    entities: Mapping[str, Entity] = field(default_factory=dict[str, Entity])
    records: Mapping[str, Sequence[Record]] = field(default_factory=dict[str, "list[Record]"])
    scopes: Mapping[str, str] = field(default_factory=dict[str, str])
    paths: Mapping[str, Path] = field(default_factory=dict[str, "Path"])

    def counter(self, entity: str) -> str | None:
        """Return the field of a singleton that holds the id of the next record (`state.ticket_counter`)."""
        names = [f"{entity}{ending}" for ending in ("_counter", "_seq", "_sequence", "_id_counter")]
        names += [f"next_{entity}_id", f"next_{entity}"]
        counts = ((snake(name), one, name) for one in self.entities.values() if one.singleton for name in one.fields)
        return next((f"{one.name}.{name}" for counted, one, name in counts if counted in names), None)


@dataclass(slots=True)
class _Found:
    """What was found so far."""

    nouns: Nouns
    tables: Tables
    singles: dict[str, Record]
    scopes: dict[str, str]
    paths: dict[str, Path]
    lists: Lists


def read_given_state(state: Json, nouns: Nouns | None = None) -> Given:
    """Read a state.

    Objects under keys and lists of objects are tables. The rest of an object is a singleton.
    """
    found = _read_parts(nouns or Nouns(), state, frozenset())
    put = {*put_lists(found.tables, found.lists)}
    if found.lists.keys() - put:
        found = _read_parts(found.nouns, state, found.lists.keys() - put)
        _ = {*put_lists(found.tables, found.lists)}
    singles = {name: _make_singleton(name, record) for name, record in found.singles.items()}
    tables = {name: entity for name, (entity, _) in found.tables.items()}
    records = {name: rows for name, (_, rows) in found.tables.items()}
    records |= {name: [one] for name, one in found.singles.items()}
    return Given({**dict(_nested_entities(found)), **tables, **singles}, records, found.scopes, found.paths)


def _read_parts(nouns: Nouns, state: Json, apart: Collection[str]) -> _Found:
    """Read the parts of a state.

    `apart` are names of lists whose keys are not those of another table.
    """
    found = _Found(nouns, {}, {}, {}, {}, {})
    _sort_parts(found, (), state, apart)
    return found


def _sort_parts(found: _Found, path: Path, value: Json, apart: Collection[str]) -> None:
    """Sort the parts of an object into tables and singletons."""
    if not isinstance(value, dict):
        return
    scope = snake(path[-1]) if path else "state"
    single: Record = {}
    for name, held in cast("Record", value).items():
        inner, besides = unwrap_table(name, unwrap_only_row(found.nouns, name, held))
        single |= besides
        lists = lists_by_key(inner) if name not in apart else None
        if lists is not None:
            found.lists[name] = lists
            continue
        rows = find_rows(found.nouns, name, inner)
        if rows is not None:
            single |= find_stray_values(inner)
            _add_table(found, (*path, name), scope, with_integer_ids(rows))
        elif isinstance(inner, dict) and inner and is_scope(found.nouns, name, cast("Record", inner)):
            _sort_parts(found, (*path, name), inner, apart)
        else:
            single[name] = inner
    if single:
        name = scope if scope not in found.tables else f"{scope}_state"
        found.singles[name] = {**found.singles.get(name, {}), **single}
        found.scopes[name], found.paths[name] = scope, path


def _entity_of_rows(found: _Found, name: str, rows: Sequence[tuple[Key | None, Record]]) -> str:
    """Return the entity of a table: what its name means, or what the first id of its rows names."""
    meant, first = found.nouns.entity_of(name), next(iter(rows[0][1]), "") if rows else ""
    stem = snake(first).removesuffix("_id")
    is_key = snake(first) != stem and len({str(row.get(first)) for _, row in rows}) == len(rows)
    return stem if is_key and meant not in found.nouns.names and stem in found.nouns.names else meant


def _add_table(found: _Found, path: Path, scope: str, rows: list[tuple[Key | None, Record]]) -> None:
    entity = _entity_of_rows(found, path[-1], rows)
    if entity in found.tables:
        entity = f"{scope}_{entity}"
    found.tables[entity] = make_table(found.nouns, entity, rows)
    found.scopes[entity], found.paths[entity] = scope, path


def _nested_entities(found: _Found) -> Iterator[tuple[str, Entity]]:
    """Yield the entities whose records are nested in others, if tools mention them."""
    for entity, rows in found.tables.values():
        for name in _fields_with_rows(entity):
            inner = [one for row in rows for one in _inner_rows(row.get(name))]
            nested = _nested_entity(found, entity, name, inner) if are_alike(inner[:SAMPLE_SIZE]) else None
            if nested is not None:
                yield nested.name, nested


def _nested_entity(found: _Found, holder: Entity, name: str, rows: Sequence[Record]) -> Entity | None:
    """Return the entity of the rows in a field of other records, None if tools do not mention it."""
    fields = infer_fields(rows)
    key = find_key(singular(snake(name)), fields, rows)
    stem = snake(key or "").removesuffix("_id")
    noun = next((one for one in (stem, found.nouns.entity_of(name)) if one in found.nouns.names), None)
    if noun is None or noun in found.tables:
        return None
    place = Inside(holder.name, name)
    if key is not None:
        return Entity(noun, key, rows[-1].get(key), fields, inside=place)
    return _entity_without_key(noun, place, fields) if holder.fields[name].hidden else None


def _fields_with_rows(entity: Entity) -> list[str]:
    """Return the fields that may hold rows, judged by the first values."""
    kinds = {name: {*types_of(one.schema)} - {"null"} for name, one in entity.fields.items()}
    return [name for name, kind in kinds.items() if not kind or kind & {"array", "object"}]


def _entity_without_key(noun: str, place: Inside, fields: Mapping[str, Field]) -> Entity:
    """Return the entity of nested rows that only their position identifies: the charges on a bill."""
    key = next(one for one in ("place", "number_in_list") if one not in fields)
    at = Field(key, {"type": "integer"}, required=True, hidden=True)
    return Entity(noun, key, 1, {key: at, **fields}, inside=place)


def _inner_rows(value: Json) -> list[Record]:
    inner = cast("Record", value).values() if isinstance(value, dict) else as_list(value)
    rows = [*inner]
    return cast("list[Record]", rows) if all(isinstance(row, dict) for row in rows) else []


def _make_singleton(name: str, record: Record) -> Entity:
    fields = {part: Field(part, schema_of(value), required=True) for part, value in record.items()}
    return Entity(name, name, None, fields, singleton=True)


def lists_by_key(value: Json) -> dict[str, list[Json]] | None:
    """Return the lists under keys, if there are only lists."""
    body = cast("Record", value) if isinstance(value, dict) else {}
    if not body or not all(isinstance(one, list) for one in body.values()):
        return None
    return cast("dict[str, list[Json]]", body)


def put_lists(tables: Tables, lists: Lists) -> Iterator[str]:
    """Put lists into the records whose keys they have, as hidden fields. Yields the names of these lists."""
    for name, body in lists.items():
        holder = next((one for one, (entity, rows) in tables.items() if _are_keys(body, name, entity, rows)), None)
        if holder is not None:
            tables[holder] = _add_list(name, body, *tables[holder])
            yield name


def _are_keys(body: Mapping[str, list[Json]], name: str, entity: Entity, rows: Sequence[Record]) -> bool:
    return name not in entity.fields and {*body} <= {str(row.get(entity.key)) for row in rows}


def _add_list(
    name: str, body: Mapping[str, list[Json]], entity: Entity, rows: Sequence[Record]
) -> tuple[Entity, list[Record]]:
    held = [{**row, name: body.get(str(row.get(entity.key)), [])} for row in rows]
    field: Field = replace(infer_fields(held)[name], required=True, hidden=True)
    listed = replace(field, schema={"type": "array", **field.schema, "default": []})
    return replace(entity, fields={**entity.fields, name: listed}), held
