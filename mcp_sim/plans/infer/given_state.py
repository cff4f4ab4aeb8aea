"""Reading of a given state into tables, nested records and singletons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias, cast

from mcp_sim.plans.infer.keys import key_argument
from mcp_sim.plans.infer.names import ParsedName, noun_spans
from mcp_sim.types import Json, Key, Record, Tool
from mcp_sim.types.domain import Entity, Field, Inside
from mcp_sim.types.frozen import frozen
from mcp_sim.types.given_rows import unwrap_rows
from mcp_sim.types.json_schema.shapes import as_list, as_object, main_type, properties, schema_of, type_name, types_of
from mcp_sim.types.lexicon.english import is_plural, last_word, singular, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import ordered, terms

Path: TypeAlias = tuple[str, ...]
Rows: TypeAlias = "list[tuple[Key | None, Record]]"
"""Records, each with the key under which the state has it, if any."""

_DETAILS, _COLLECTIONS = terms("nouns.details"), terms("nouns.collections")
"""Last words of names of objects that are parts of the state, and of tables that name no entity: `list`, `map`."""
_ENDINGS = (*ordered("fields.key_ending"), "name")
_SAMPLE_SIZE = 200
"""Number of rows that fields are inferred from. Keys are looked up in all rows."""
_MOST_NAMES = 200
"""The most keys of an object that are compared with the entities of tools. An object with more keys is a table, whose
keys are not entities."""


@frozen
class Nouns:
    """Nouns that tools mention: `names` of entities, their arguments, and those arguments that are integers.

    `lookups` are the arguments by which tools get or delete one record, by its noun: `symbol` of a stock.
    """

    names: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    lookups: Mapping[str, str] = field(default_factory=dict[str, str])

    def entity_of(self, name: str) -> str:
        """Return the entity that a table name means: one that tools mention, else the name itself."""
        parts = words(name)
        while len(parts) > 1 and parts[-1] in _COLLECTIONS:
            parts = parts[:-1]
        bare = "_".join((*parts[:-1], singular(parts[-1]))) if parts else name
        if bare in self.names:
            return bare
        near = [noun for noun in self.names if bare.endswith(f"_{noun}") or noun.endswith(f"_{bare}")]
        return near[0] if len(near) == 1 else bare

    def includes(self, name: str) -> bool:
        """Whether tools mention the entity that a table name means."""
        return self.entity_of(name) in self.names


def collect_nouns(parsed_names: Mapping[str, ParsedName], tools: Mapping[str, Tool]) -> Nouns:
    """Collect the nouns that names of tools and of id arguments mention, and the arguments. Both are by tool id."""
    names: set[str] = set()
    for parsed in parsed_names.values():
        phrase = (*parsed.noun, *parsed.after[1:])
        names |= {singular_phrase(phrase[start:end]) for start, end in noun_spans(len(phrase))}
        names |= {singular_phrase(phrase)} if phrase else set[str]()
    parts = [(snake(name), schema) for tool in tools.values() for name, schema in properties(tool.input_schema).items()]
    names |= {name.removesuffix("_id") for name, _ in parts if name.endswith("_id")}
    numbers = frozenset(name for name, schema in parts if main_type(schema) == "integer")
    lookups = dict(_lookups((parsed, tools[id_].input_schema) for id_, parsed in parsed_names.items()))
    return Nouns(frozenset(names - terms("nouns.generic")), frozenset(name for name, _ in parts), numbers, lookups)


def _lookups(tools: Iterable[tuple[ParsedName, Record]]) -> Iterator[tuple[str, str]]:
    """Yield the nouns of tools that get or delete one record, with the argument that names it."""
    for parsed, schema in tools:
        noun = "_".join(parsed.noun)
        argument, _ = key_argument(parsed.verb, noun, "id", schema)
        is_one = parsed.verb in {"get", "delete"} and not parsed.plural and parsed.after[:1] != ("by",)
        if is_one and argument is not None and last_word(argument) != "id":
            yield noun, snake(argument)


@frozen
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
    records |= {name: [single] for name, single in reader.singles.items()}
    nested = {entity.name: entity for entity in reader.nested_entities()}
    return Given({**nested, **tables, **singles}, records, reader.paths)


def _make_singleton(name: str, record: Record) -> Entity:
    fields = {word: Field(word, schema_of(value), required=True) for word, value in record.items()}
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
        self.tables[entity] = _make_table(self.nouns, entity, rows)
        self.paths[entity] = path

    def _find_rows(self, name: str, value: Json) -> Rows | None:
        """Return the rows of a table, each with its outer key. None if the value is not a table.

        A table is a list of similar objects, or similar objects under keys. An empty one needs the name of an entity.
        """
        if value in ([], {}):
            return [] if self.nouns.includes(name) and (isinstance(value, list) or _is_collection(name)) else None
        if isinstance(value, list):
            listed = [as_object(row) for row in as_list(value)]
            return [(None, row) for row in listed] if all(listed) and _are_alike(listed) else None
        return self._rows_under_keys(as_object(value))

    def _rows_under_keys(self, body: Record) -> Rows | None:
        inner = {key: as_object(row) for key, row in body.items() if isinstance(row, dict)}
        is_table = 2 * len(inner) >= len(body) and _are_alike([*inner.values()])
        return [*inner.items()] if is_table and not self._holds_tables(inner) else None

    def _holds_tables(self, inner: Mapping[str, Record]) -> bool:
        """Whether an object holds tables rather than rows: objects of objects, or names of collections."""
        named = any(_is_collection(key) and self.nouns.includes(key) for key in islice(inner, _MOST_NAMES))
        deep = all(isinstance(value, dict | list) for row in inner.values() for value in row.values())
        return named or (deep and any(inner.values()))

    def _is_scope(self, name: str, inner: Record) -> bool:
        """Whether an object is an entity or a part of the state, not a field of the object around it."""
        if all(isinstance(value, list) for value in inner.values()):
            has_rows = any(isinstance(item, dict) for value in inner.values() for item in as_list(value))
            return has_rows or any(map(self.nouns.includes, inner))
        nested = sum(isinstance(value, dict | list) for value in inner.values())
        is_named = last_word(name) in _DETAILS or self.nouns.includes(name)
        return is_named or nested == len(inner) or (nested > 0 and len(inner) > 1)

    def nested_entities(self) -> Iterator[Entity]:
        """Yield the entities whose records are nested in others, if tools mention them."""
        for entity, rows in self.tables.values():
            for name, value in entity.fields.items():
                kinds = {*types_of(value.schema)} - {"null"}
                inner = [inner_row for row in rows for inner_row in _inner_rows(row.get(name))]
                if (not kinds or kinds & {"array", "object"}) and _are_alike(inner):
                    yield from self._nested_entity(Inside(entity.name, name), inner)

    def _nested_entity(self, place: Inside, rows: Sequence[Record]) -> Iterator[Entity]:
        """Yield the entity of the rows in a field of other records, if they have a key and a tool mentions them."""
        fields = _infer_fields(rows)
        key = _find_key(singular(snake(place.field)), fields, rows)
        stem = snake(key or "").removesuffix("_id")
        noun = next(
            (candidate for candidate in (stem, self.nouns.entity_of(place.field)) if candidate in self.nouns.names),
            None,
        )
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
    return is_plural(last_word(name)) or last_word(name) in _COLLECTIONS


def _inner_rows(value: Json) -> list[Record]:
    inner = [*cast("Record", value).values()] if isinstance(value, dict) else as_list(value)
    return cast("list[Record]", inner) if all(isinstance(row, dict) for row in inner) else []


def _make_table(nouns: Nouns, entity: str, rows: Rows) -> tuple[Entity, list[Record]]:
    """Return the entity of a table, and its rows with their keys.

    Keys outside the rows become a field, visible if tools have an argument of that name.
    """
    records = [row for _, row in rows]
    fields = _infer_fields(records)
    is_keyed = bool(rows) and rows[0][0] is not None
    repeated = (name for name in fields if all(str(row.get(name)) == str(at) for at, row in rows))
    key = next(repeated, None) if is_keyed else _find_key(entity, fields, records)
    if key is not None:
        return Entity(entity, key, records[-1][key], fields), records
    named = _outer_key_name(nouns, entity, fields) if is_keyed else None
    keys = _outer_keys(rows, are_numbers=named in nouns.numbers) if is_keyed else [*range(1, len(rows) + 1)]
    return _with_outer_keys(entity, named, fields, keys, records) if rows else (Entity(entity), [])


def _outer_keys(rows: Rows, *, are_numbers: bool) -> list[Json]:
    is_whole = are_numbers and all(str(at).isdecimal() for at, _ in rows)
    return [int(str(at)) if is_whole else at for at, _ in rows]


def _with_outer_keys(
    entity: str, named: str | None, fields: Mapping[str, Field], keys: Sequence[Json], rows: Sequence[Record]
) -> tuple[Entity, list[Record]]:
    """Return a table whose keys are added to its rows, first in each. They are hidden unless tools name them."""
    key = named or ("id" if "id" not in fields else "row")
    outer = Field(key, {"type": type_name(keys[0])}, required=True, hidden=named in {None, "id"})
    keyed: list[Record] = [{key: at, **row} for at, row in zip(keys, rows, strict=True)]
    return Entity(entity, key, keyed[-1][key], {key: outer, **fields}), keyed


def _outer_key_name(nouns: Nouns, entity: str, fields: Mapping[str, Field]) -> str | None:
    """Return the name by which tools ask for records under keys."""
    asked = nouns.lookups.get(entity, "")
    names = (*(f"{entity}_{ending}" for ending in _ENDINGS), asked, "id", entity, "name")
    return next((name for name in names if name in nouns.arguments and name not in fields), None)


def _find_key(entity: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> str | None:
    """Return the field that identifies rows, by its name, or None."""
    by_name = {snake(name): name for name in reversed([*fields])}
    nouns = (entity, entity.rsplit("_", 1)[-1])
    named = [f"{noun}_{ending}" for noun in nouns for ending in _ENDINGS]
    ids = [snake(name) for name in fields if snake(name).endswith(("_id", "_key"))]
    first = [name for name in ids if name == snake(next(iter(fields)))]
    likely = ("id", *named, *ordered("fields.given_key"), *first, *ordered("fields.given_name"), *ids)
    return next((by_name[name] for name in likely if name in by_name and _identifies(by_name[name], rows)), None)


def _identifies(name: str, rows: Sequence[Record]) -> bool:
    """Whether all rows have different texts or whole numbers in a field."""
    values = [row.get(name) for row in rows]
    are_plain = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
    return bool(values) and are_plain and len({*map(str, values)}) == len(values)


def _infer_fields(rows: Sequence[Record]) -> dict[str, Field]:
    """Return the fields of the rows with their types. A field is required if every row has it."""
    looked_at = rows[:_SAMPLE_SIZE]
    names = dict.fromkeys(name for row in looked_at for name in row)
    return {name: _field(name, [row[name] for row in looked_at if name in row], len(looked_at)) for name in names}


def _field(name: str, values: Sequence[Json], count: int) -> Field:
    """Return a field with the types of its values, and the shape of the first one that is not empty.

    Other values may lack parts of it.
    """
    there = [value for value in values if value is not None]
    first = next((value for value in there if value not in ({}, [])), next(iter(there), None))
    schema = {word: value for word, value in schema_of(first).items() if word != "required"}
    types = dict.fromkeys(map(type_name, values))
    if schema and len(types) > 1:
        schema["type"] = [kind for kind in types if kind != "integer" or "number" not in types]
    return Field(name, schema, required=len(values) == count)


def _are_alike(rows: Sequence[Record]) -> bool:
    """Whether the objects share at least half of their fields on average."""
    if len(rows) == 1:
        return bool(rows[0])
    looked_at = rows[:_SAMPLE_SIZE]
    whole = {name for row in looked_at for name in row}
    return bool(whole) and 2 * sum(map(len, looked_at)) >= len(whole) * len(looked_at)
