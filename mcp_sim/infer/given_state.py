"""Reading of a given state into tables, nested records and singletons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias, cast

from mcp_sim.infer.given_tables import Rows, are_alike, find_key, infer_fields, make_table
from mcp_sim.infer.names import COLLECTIONS, Nouns
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field, Inside
from mcp_sim.types.given_rows import unwrap_rows
from mcp_sim.types.json_schema.shapes import as_list, as_object, schema_of, types_of
from mcp_sim.types.lexicon.english import is_plural, last_word, singular, snake
from mcp_sim.types.lexicon.terms import terms

Path: TypeAlias = tuple[str, ...]

_DETAILS = terms("nouns.details")
_MOST_NAMES = 200
"""The most keys of an object that are compared with the entities of tools."""


@dataclass(frozen=True, slots=True)
class Given:
    """Entities of a given state, and their records.

    `paths` maps an entity to the path of its table, or of the object whose values are its fields.
    """

    entities: Mapping[str, Entity] = field(default_factory=dict[str, Entity])
    records: Mapping[str, Sequence[Record]] = field(default_factory=dict[str, "list[Record]"])
    paths: Mapping[str, Path] = field(default_factory=dict[str, "Path"])


def read_given_state(state: Json, nouns: Nouns | None = None) -> Given:
    """Read a state.

    Objects under keys and lists of objects are tables. The rest of an object is a singleton.
    """
    reader = _Reader(nouns or Nouns())
    reader.sort_parts((), as_object(state))
    singles = {name: _make_singleton(name, record) for name, record in reader.singles.items()}
    tables = {name: entity for name, (entity, _) in reader.tables.items()}
    records = {name: rows for name, (_, rows) in reader.tables.items()}
    records |= {name: [one] for name, one in reader.singles.items()}
    nested = {one.name: one for one in reader.nested_entities()}
    return Given({**nested, **tables, **singles}, records, reader.paths)


def _make_singleton(name: str, record: Record) -> Entity:
    fields = {part: Field(part, schema_of(value), required=True) for part, value in record.items()}
    return Entity(name, name, None, fields, singleton=True)


@dataclass(slots=True)
class _Reader:
    """What was found so far."""

    nouns: Nouns
    tables: dict[str, tuple[Entity, list[Record]]] = field(default_factory=dict[str, "tuple[Entity, list[Record]]"])
    singles: dict[str, Record] = field(default_factory=dict[str, Record])
    paths: dict[str, Path] = field(default_factory=dict[str, "Path"])

    def sort_parts(self, path: Path, body: Record) -> None:
        """Sort the parts of an object into tables and singletons."""
        scope = snake(path[-1]) if path else "state"
        single: Record = {}
        for name, held in body.items():
            inner, besides = _unwrap_table(name, held)
            single |= besides
            rows = self._find_rows(name, inner)
            if rows is not None:
                single |= {key: value for key, value in as_object(inner).items() if not isinstance(value, dict)}
                self._add_table((*path, name), scope, rows)
            elif isinstance(inner, dict) and inner and self._is_scope(name, as_object(inner)):
                self.sort_parts((*path, name), as_object(inner))
            else:
                single[name] = inner
        if single:
            name = scope if scope not in self.tables else f"{scope}_state"
            self.singles[name] = {**self.singles.get(name, {}), **single}
            self.paths[name] = path

    def _add_table(self, path: Path, scope: str, rows: Rows) -> None:
        entity = self.nouns.entity_of(path[-1])
        if entity in self.tables:
            entity = f"{scope}_{entity}"
        self.tables[entity] = make_table(self.nouns, entity, rows)
        self.paths[entity] = path

    def _find_rows(self, name: str, value: Json) -> Rows | None:
        """Return the rows of a table, each with its outer key. None if the value is no table.

        A table is a list of similar objects, or similar objects under keys. An empty one needs the name of an entity.
        """
        if value in ([], {}):
            return [] if self.nouns.includes(name) and (isinstance(value, list) or _is_collection(name)) else None
        if isinstance(value, list):
            listed = [as_object(row) for row in as_list(value)]
            return [(None, row) for row in listed] if all(listed) and are_alike(listed) else None
        return self._rows_under_keys(as_object(value))

    def _rows_under_keys(self, body: Record) -> Rows | None:
        inner = {key: as_object(row) for key, row in body.items() if isinstance(row, dict)}
        is_table = 2 * len(inner) >= len(body) and are_alike([*inner.values()])
        return [*inner.items()] if is_table and not self._holds_tables(inner) else None

    def _holds_tables(self, inner: Mapping[str, Record]) -> bool:
        """Whether an object holds tables rather than rows: objects of objects, or names of collections."""
        named = any(_is_collection(key) and self.nouns.includes(key) for key in islice(inner, _MOST_NAMES))
        deep = all(isinstance(value, dict | list) for row in inner.values() for value in row.values())
        return named or (deep and any(inner.values()))

    def _is_scope(self, name: str, inner: Record) -> bool:
        """Whether an object is an entity or a part of the state, not a field of the object around it."""
        if all(isinstance(value, list) for value in inner.values()):
            has_rows = any(isinstance(one, dict) for value in inner.values() for one in as_list(value))
            return has_rows or any(map(self.nouns.includes, inner))
        nested = sum(isinstance(value, dict | list) for value in inner.values())
        is_named = last_word(name) in _DETAILS or self.nouns.includes(name)
        return is_named or nested == len(inner) or (nested > 0 and len(inner) > 1)

    def nested_entities(self) -> Iterator[Entity]:
        """Yield the entities whose records are nested in others, if tools mention them."""
        for entity, rows in self.tables.values():
            for name, one in entity.fields.items():
                kinds = {*types_of(one.schema)} - {"null"}
                inner = [part for row in rows for part in _inner_rows(row.get(name))]
                if (not kinds or kinds & {"array", "object"}) and are_alike(inner):
                    yield from self._nested_entity(Inside(entity.name, name), inner)

    def _nested_entity(self, place: Inside, rows: Sequence[Record]) -> Iterator[Entity]:
        """Yield the entity of the rows in a field of other records, if they have a key and a tool mentions them."""
        fields = infer_fields(rows)
        key = find_key(singular(snake(place.field)), fields, rows)
        stem = snake(key or "").removesuffix("_id")
        noun = next((one for one in (stem, self.nouns.entity_of(place.field)) if one in self.nouns.names), None)
        if noun is not None and key is not None and noun not in self.tables:
            yield Entity(noun, key, rows[-1].get(key), fields, inside=place)


def _unwrap_table(name: str, value: Json) -> tuple[Json, Record]:
    """Return the rows that a table holds under `rows` or the like, and what it holds besides.

    An object that names no columns is a table only if its name is that of a collection: the `items` of a `cart` are a
    part of the cart.
    """
    is_table = _is_collection(name) or "columns" in as_object(value)
    return unwrap_rows(value) if is_table else (value, {})


def _is_collection(name: str) -> bool:
    return is_plural(last_word(name)) or last_word(name) in COLLECTIONS


def _inner_rows(value: Json) -> list[Record]:
    inner = [*cast("Record", value).values()] if isinstance(value, dict) else as_list(value)
    return cast("list[Record]", inner) if all(isinstance(row, dict) for row in inner) else []
