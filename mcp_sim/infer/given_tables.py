"""Tables in a given state: their rows, keys and fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeAlias, cast

from mcp_sim.infer.keys import is_id_name
from mcp_sim.infer.nouns import COLLECTIONS, Nouns
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.given_rows import unwrap_rows
from mcp_sim.types.json_schema.shapes import as_list, as_object, schema_of, type_name
from mcp_sim.types.json_values import is_integral_float, to_integer
from mcp_sim.types.lexicon.english import is_plural, last_word, snake, vocabulary

_KEYS = ("id", "key", "uuid", "code", "slug", "number", "name", "email", "path", "title", "username", "symbol")
_ENDINGS = ("id", "uuid", "key", "number", "code", "reference", "name")
SAMPLE_SIZE = 200
"""Number of rows that fields are inferred from. Keys are looked up in all rows."""

_DETAIL_NAMES = vocabulary(
    "info information details settings setting config configuration profile preferences options account session status "
    "metadata state stats"
)
_SINGLETON_NAMES = _DETAIL_NAMES - {"account", "session"}
"""Names of singletons, even if a table holds them."""

Rows: TypeAlias = "list[tuple[Key | None, Record]]"


def make_table(nouns: Nouns, entity: str, rows: list[tuple[Key | None, Record]]) -> tuple[Entity, list[Record]]:
    """Return the entity of a table, and its rows with their keys."""
    records = [row for _, row in rows]
    fields = infer_fields(records)
    if rows and rows[0][0] is not None:
        return _table_by_outer_keys(nouns, entity, rows, fields)
    key = _first_key(nouns, entity, fields, records) or find_key(entity, _own_fields(nouns, entity, fields), records)
    if key is not None:
        return _with_key(entity, key, fields, records)
    if not rows:
        return Entity(entity), []
    key = "id" if "id" not in fields else "row"
    keyed = [{key: place, **row} for place, row in enumerate(records, 1)]
    return _with_hidden_key(entity, key, fields, keyed), keyed


def _own_fields(nouns: Nouns, entity: str, fields: Mapping[str, Field]) -> dict[str, Field]:
    """Return the fields that are not named as the ids of other entities."""
    links = {f"{noun}_id" for noun in nouns.names if noun != entity and not entity.endswith(f"_{noun}")}
    return {name: field for name, field in fields.items() if snake(name) not in links}


def _table_by_outer_keys(
    nouns: Nouns, entity: str, rows: list[tuple[Key | None, Record]], fields: Mapping[str, Field]
) -> tuple[Entity, list[Record]]:
    """Return a table of records under keys.

    The keys become a field, visible if tools have an argument of that name.
    """
    key = next((name for name in fields if _repeats_outer_key(name, rows)), None)
    if key is not None:
        return _with_key(entity, key, fields, [row for _, row in rows])
    own, keys = f"{entity}_id", [str(at) for at, _ in rows]
    are_numbers = own in nouns.numbers and all(map(str.isdecimal, keys))
    named = _key_name_in_tools(nouns, entity, fields, keys)
    key = named or ("id" if "id" not in fields else own)
    keyed = [{key: int(cast("str", at)) if are_numbers else at, **row} for at, row in rows]
    if named:
        return _with_key(entity, key, infer_fields(keyed), keyed)
    return _with_hidden_key(entity, key, fields, keyed), keyed


def _repeats_outer_key(name: str, rows: Rows) -> bool:
    return all(str(row.get(name)) == str(at) for at, row in rows)


def _key_name_in_tools(nouns: Nouns, entity: str, fields: Mapping[str, Field], keys: Sequence[str]) -> str | None:
    """Return the name that tools use for an outer key: `room_id`, `room`, or `name` if the keys are names."""
    asked, own = nouns.texts | nouns.numbers, f"{entity}_id"
    if own in asked | nouns.shown:
        return own if own not in nouns.bare and "id" not in fields else None
    if "id" in asked:
        return None
    return next((one for one in _outer_key_names(entity, keys) if one in nouns.texts and one not in fields), None)


def _outer_key_names(entity: str, keys: Sequence[str]) -> Iterator[str]:
    """Yield the names that an outer key other than an id may have: those of a name unless it is a number."""
    yield from (f"{entity}_{ending}" for ending in ("number", "no", "code", "key", "ref", "reference"))
    if any(map(str.isdecimal, keys)):
        return
    yield from (f"{entity}_name", f"{entity}name")
    if not any(map(str.isdigit, "".join(keys))):
        yield "name"
    yield entity


def _first_key(nouns: Nouns, entity: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> str | None:
    """Return the id that comes first in each record, if tools ask for it and there is no other id."""
    ids = [name for name in fields if snake(name) == "id" or snake(name).endswith("_id")]
    first = next(iter(fields), None)
    if ids != [first] or first is None or snake(first) not in nouns.texts | nouns.numbers:
        return None
    return find_key(entity, {first: fields[first]}, rows)


def _with_hidden_key(entity: str, key: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> Entity:
    hidden = Field(key, {"type": type_name(rows[0][key])}, required=True, hidden=True)
    return Entity(entity, key, rows[-1][key], {key: hidden, **fields})


def _with_key(entity: str, key: str, fields: Mapping[str, Field], rows: list[Record]) -> tuple[Entity, list[Record]]:
    return Entity(entity, key, rows[-1][key], fields), rows


def find_key(entity: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> str | None:
    """Return the field that identifies rows, by its name. None if there is none."""
    by_name = {snake(name): name for name in reversed([*fields])}
    short = entity.rsplit("_", 1)[-1]
    named = [f"{one}_{ending}" for one in (entity, short) for ending in _ENDINGS]
    ids = [name for name in by_name if name.endswith(("_id", "_key"))]
    tries = (by_name[name] for name in ("id", *named, *_KEYS, *ids) if name in by_name)
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
    everywhere = len(values) == count
    real = [value for value in values if value is not None]
    if not real:
        return Field(name, {}, required=everywhere)
    schema = _without_required(schema_of(next((value for value in real if value not in ({}, [])), real[0])))
    types = [*dict.fromkeys(type_name(value) for value in values)]
    if len(types) > 1:
        schema = {**schema, "type": [kind for kind in types if kind != "integer" or "number" not in types]}
    return Field(name, schema, required=everywhere)


def _without_required(schema: Record) -> Record:
    """Return the schema of one value. Other values may lack parts of it."""
    return {name: part for name, part in schema.items() if name != "required"}


def find_rows(nouns: Nouns, name: str, value: Json) -> list[tuple[Key | None, Record]] | None:
    """Return the rows of a table, each with its outer key. None if the value is no table."""
    if isinstance(value, list):
        return _listed_rows(nouns, name, as_list(value))
    if not isinstance(value, dict):
        return None
    body = as_object(value)
    if not body:
        return [] if nouns.includes(name) and _is_collection(name) else None
    inner = {key: as_object(row) for key, row in body.items() if isinstance(row, dict)}
    if len(inner) >= len(body) / 2 and are_alike([*inner.values()]) and not _holds_tables(nouns, inner):
        return [*inner.items()]
    return _rows_of_name_map(nouns, name, body)


def _listed_rows(nouns: Nouns, name: str, rows: list[Json]) -> list[tuple[Key | None, Record]] | None:
    if not rows:
        return [] if nouns.includes(name) else None
    are_objects = all(isinstance(row, dict) for row in rows)
    return [(None, row) for row in rows] if are_objects and are_alike(cast("list[Record]", rows)) else None


def unwrap_table(name: str, value: Json) -> tuple[Json, Record]:
    """Return the rows that a table holds under `rows` or the like, and what it holds besides.

    An object that names no columns is a table only if its name is that of a collection: the `items` of a `cart` are a
    part of the cart.
    """
    is_table = _is_collection(name) or "columns" in as_object(value)
    return unwrap_rows(value) if is_table else (value, {})


def unwrap_only_row(nouns: Nouns, name: str, value: Json) -> Json:
    """Return the only row of a table of settings, if no tool asks for it by a key."""
    rows = as_list(value)
    if len(rows) != 1 or not isinstance(rows[0], dict) or last_word(name) not in _SINGLETON_NAMES:
        return value
    row = cast("Record", rows[0])
    keys = {snake(field) for field in row if snake(field).endswith("id")}
    return value if keys & (nouns.texts | nouns.numbers) else row


def _is_collection(name: str) -> bool:
    return is_plural(last_word(name)) or last_word(name) in COLLECTIONS


def _holds_tables(nouns: Nouns, inner: Mapping[str, Record]) -> bool:
    """Whether an object holds tables rather than rows: objects of objects, or names of collections."""
    named = any(_is_collection(key) and nouns.includes(key) for key in islice(inner, SAMPLE_SIZE))
    deep = all(isinstance(value, dict | list) for row in inner.values() for value in row.values())
    return named or (deep and any(inner.values()))


def _rows_of_name_map(nouns: Nouns, name: str, body: Mapping[str, Json]) -> list[tuple[Key | None, Record]] | None:
    """Return the rows of `{Ada: USR1, Bo: USR2}` under the name of an entity: a name and an id."""
    ids = [value for value in body.values() if isinstance(value, str | int) and not isinstance(value, bool)]
    mapped = last_word(name) in {"map", "ids", "index"} or is_plural(last_word(name))
    if not mapped or len(ids) < len(body) or len({*map(str, ids)}) < len(ids) or not nouns.includes(name):
        return None
    if not all(_is_key_like(value) for value in ids):
        return None
    return [(cast("Key", value), {"name": key}) for key, value in body.items()]


def _is_key_like(value: Json) -> bool:
    text = str(value)
    return any(letter.isdigit() for letter in text) and " " not in text and len(text) < 64


def find_stray_values(value: Json) -> Record:
    """Return the values among the rows of a mapping that are no rows."""
    body = cast("Record", value) if isinstance(value, dict) else {}
    if not any(isinstance(row, dict) for row in body.values()):
        return {}
    return {name: inner for name, inner in body.items() if not isinstance(inner, dict)}


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
    tables = sum(1 for value in inner.values() if isinstance(value, dict | list))
    is_detail = last_word(name) in _DETAIL_NAMES - {"status"}
    return is_detail or nouns.includes(name) or (tables >= 1 and len(inner) >= 2) or tables == len(inner)


def with_integer_ids(rows: Rows) -> Rows:
    """Return the rows with integer ids. Other floats stay, since they may be measurements."""
    looked_at = [row for _, row in rows[:SAMPLE_SIZE]]
    names = {
        name for row in looked_at for name, value in row.items() if _has_integral_floats(value) and is_id_name(name)
    }
    if not names:
        return rows
    return [
        (key, {name: to_integer(value) if name in names else value for name, value in row.items()}) for key, row in rows
    ]


def _has_integral_floats(value: Json) -> bool:
    return is_integral_float(value) or any(map(is_integral_float, as_list(value)))
