"""Tables in a given state: their rows, keys and fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TypeAlias

from mcp_sim.infer.nouns import COLLECTIONS, Nouns
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.given_rows import unwrap_rows
from mcp_sim.types.json_schema.shapes import as_list, as_object, schema_of, type_name
from mcp_sim.types.lexicon.english import is_plural, last_word, snake, vocabulary

_IDS = ("key", "uuid", "code", "slug", "number")
_NAMES = ("name", "email", "path", "title", "username", "symbol")
_ENDINGS = ("id", "uuid", "key", "number", "code", "reference", "name")
SAMPLE_SIZE = 200
"""Number of rows that fields are inferred from. Keys are looked up in all rows."""

_DETAIL_NAMES = vocabulary(
    "info information details settings setting config configuration profile preferences options account session "
    "metadata state stats"
)

Rows: TypeAlias = "list[tuple[Key | None, Record]]"


def make_table(nouns: Nouns, entity: str, rows: Rows) -> tuple[Entity, list[Record]]:
    """Return the entity of a table, and its rows with their keys."""
    if not rows:
        return Entity(entity), []
    records = [row for _, row in rows]
    fields = infer_fields(records)
    if rows[0][0] is not None:
        return _table_by_outer_keys(nouns, entity, rows, fields)
    key = find_key(entity, fields, records)
    if key is not None:
        return Entity(entity, key, records[-1][key], fields), records
    key = "id" if "id" not in fields else "row"
    return _table_with_hidden_key(entity, fields, [{key: place, **row} for place, row in enumerate(records, 1)])


def _table_by_outer_keys(
    nouns: Nouns, entity: str, rows: Rows, fields: Mapping[str, Field]
) -> tuple[Entity, list[Record]]:
    """Return a table of records under keys.

    The keys become a field, visible if tools have an argument of that name.
    """
    records = [row for _, row in rows]
    key = next((name for name in fields if _repeats_keys(name, rows)), None)
    if key is not None:
        return Entity(entity, key, records[-1][key], fields), records
    named = _outer_key_name(nouns, entity, fields)
    are_numbers = named in nouns.numbers and all(str(at).isdecimal() for at, _ in rows)
    key = named or ("id" if "id" not in fields else f"{entity}_id")
    keyed: list[Record] = [{key: int(str(at)) if are_numbers else at, **row} for at, row in rows]
    if named in {None, "id"}:
        return _table_with_hidden_key(entity, fields, keyed)
    return Entity(entity, key, keyed[-1][key], infer_fields(keyed)), keyed


def _repeats_keys(name: str, rows: Rows) -> bool:
    return all(str(row.get(name)) == str(at) for at, row in rows)


def _outer_key_name(nouns: Nouns, entity: str, fields: Mapping[str, Field]) -> str | None:
    """Return the name by which tools ask for records under keys."""
    names = (*(f"{entity}_{ending}" for ending in _ENDINGS), "id", entity, "name")
    return next((name for name in names if name in nouns.arguments and name not in fields), None)


def _table_with_hidden_key(entity: str, fields: Mapping[str, Field], rows: list[Record]) -> tuple[Entity, list[Record]]:
    """Return a table whose key comes first in its rows and is not shown."""
    key = next(iter(rows[0]))
    hidden = Field(key, {"type": type_name(rows[0][key])}, required=True, hidden=True)
    return Entity(entity, key, rows[-1][key], {key: hidden, **fields}), rows


def find_key(entity: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> str | None:
    """Return the field that identifies rows, by its name. None if there is none."""
    by_name = {snake(name): name for name in reversed([*fields])}
    short = entity.rsplit("_", 1)[-1]
    named = [f"{one}_{ending}" for one in (entity, short) for ending in _ENDINGS]
    ids = [snake(name) for name in fields if snake(name).endswith(("_id", "_key"))]
    first = [name for name in ids if name == snake(next(iter(fields)))]
    tries = (by_name[name] for name in ("id", *named, *_IDS, *first, *_NAMES, *ids) if name in by_name)
    return next((name for name in tries if _identifies(name, rows)), None)


def _identifies(name: str, rows: Sequence[Record]) -> bool:
    """Whether all rows have different texts or whole numbers in a field."""
    values = [row.get(name) for row in rows]
    are_plain = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
    return bool(values) and are_plain and len({*map(str, values)}) == len(values)


def infer_fields(rows: Sequence[Record]) -> dict[str, Field]:
    """Return the fields of the rows with their types. A field is required if every row has it."""
    looked_at = rows[:SAMPLE_SIZE]
    names = dict.fromkeys(name for row in looked_at for name in row)
    return {name: _field(name, [row[name] for row in looked_at if name in row], len(looked_at)) for name in names}


def _field(name: str, values: Sequence[Json], count: int) -> Field:
    """Return a field with the types of its values, and the shape of the first value that is not empty."""
    schema = _schema_of_first([value for value in values if value is not None])
    types = dict.fromkeys(type_name(value) for value in values)
    if schema and len(types) > 1:
        schema["type"] = [kind for kind in types if kind != "integer" or "number" not in types]
    return Field(name, schema, required=len(values) == count)


def _schema_of_first(values: Sequence[Json]) -> Record:
    """Return the schema of the first value that is not empty. Other values may lack parts of it."""
    value = next((one for one in values if one not in ({}, [])), next(iter(values), None))
    return {word: part for word, part in schema_of(value).items() if word != "required"} if values else {}


def find_rows(nouns: Nouns, name: str, value: Json) -> Rows | None:
    """Return the rows of a table, each with its outer key. None if the value is no table.

    A table is a list of similar objects, or similar objects under keys. An empty one needs the name of an entity.
    """
    if value in ([], {}):
        return [] if nouns.includes(name) and (isinstance(value, list) or _is_collection(name)) else None
    if isinstance(value, list):
        listed = [as_object(row) for row in as_list(value)]
        return [(None, row) for row in listed] if all(listed) and are_alike(listed) else None
    return _rows_under_keys(nouns, as_object(value))


def _rows_under_keys(nouns: Nouns, body: Record) -> Rows | None:
    inner = {key: as_object(row) for key, row in body.items() if isinstance(row, dict)}
    is_table = 2 * len(inner) >= len(body) and are_alike([*inner.values()])
    return [*inner.items()] if is_table and not _holds_tables(nouns, inner) else None


def unwrap_table(name: str, value: Json) -> tuple[Json, Record]:
    """Return the rows that a table holds under `rows` or the like, and what it holds besides.

    An object that names no columns is a table only if its name is that of a collection: the `items` of a `cart` are a
    part of the cart.
    """
    is_table = _is_collection(name) or "columns" in as_object(value)
    return unwrap_rows(value) if is_table else (value, {})


def _is_collection(name: str) -> bool:
    return is_plural(last_word(name)) or last_word(name) in COLLECTIONS


def _holds_tables(nouns: Nouns, inner: Mapping[str, Record]) -> bool:
    """Whether an object holds tables rather than rows: objects of objects, or names of collections."""
    named = any(_is_collection(key) and nouns.includes(key) for key in islice(inner, SAMPLE_SIZE))
    deep = all(isinstance(value, dict | list) for row in inner.values() for value in row.values())
    return named or (deep and any(inner.values()))


def are_alike(rows: Sequence[Record]) -> bool:
    """Whether the objects share at least half of their fields on average."""
    if len(rows) == 1:
        return bool(rows[0])
    looked_at = rows[:SAMPLE_SIZE]
    whole = {name for row in looked_at for name in row}
    there = sum(len(row) for row in looked_at)
    return bool(whole) and 2 * there >= len(whole) * len(looked_at)


def is_scope(nouns: Nouns, name: str, inner: Record) -> bool:
    """Whether an object is an entity or a part of the state, not a field of the object around it."""
    if all(isinstance(value, list) for value in inner.values()):
        has_rows = any(isinstance(one, dict) for value in inner.values() for one in as_list(value))
        return has_rows or any(map(nouns.includes, inner))
    nested = sum(isinstance(value, dict | list) for value in inner.values())
    return (
        last_word(name) in _DETAIL_NAMES
        or nouns.includes(name)
        or (nested > 0 and len(inner) > 1)
        or nested == len(inner)
    )
