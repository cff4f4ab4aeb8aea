"""Which key and which fields has a table, judged by its rows?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from mcp_sim.infer.nouns import Nouns
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import schema_of, type_name
from mcp_sim.types.lexicon.words import snake

_KEYS = ("id", "key", "uuid", "code", "slug", "number", "name", "email", "path", "title", "username", "symbol")
_ENDINGS = ("id", "uuid", "key", "number", "code", "reference", "name")
MOST_LOOKED_AT = 200
"""So many rows tell what the fields of a table are; a key is looked for in all of them."""


def table_of(nouns: Nouns, entity: str, rows: list[tuple[Key | None, Record]]) -> tuple[Entity, list[Record]]:
    fields = fields_of([row for _, row in rows])
    outside = rows[0][0] is not None if rows else False
    if outside:
        return _table_by_outer_keys(nouns, entity, rows, fields)
    links = {f"{noun}_id" for noun in nouns.names if noun != entity and not entity.endswith(f"_{noun}")}
    own = {name: field for name, field in fields.items() if snake(name) not in links}
    key = _first_key(nouns, entity, fields, [row for _, row in rows])
    key = key or key_among(entity, own, [row for _, row in rows])
    if key is not None:
        return _with_like(entity, key, fields, [row for _, row in rows])
    if not rows:
        return Entity(entity), []
    key = "id" if "id" not in fields else "row"
    keyed = [{key: place, **row} for place, (_, row) in enumerate(rows, 1)]
    return _hiding(entity, key, fields, keyed), keyed


def _table_by_outer_keys(
    nouns: Nouns, entity: str, rows: list[tuple[Key | None, Record]], fields: Mapping[str, Field]
) -> tuple[Entity, list[Record]]:
    """A table of records that stand under their keys; these are shown where tools ask for them by a name of theirs."""
    key = next((name for name in fields if all(str(row.get(name)) == str(at) for at, row in rows)), None)
    if key is not None:
        return _with_like(entity, key, fields, [row for _, row in rows])
    own = f"{entity}_id"
    numbers = own in nouns.numbers and all(str(at).isdecimal() for at, _ in rows)
    named = _name_asked_for(nouns, entity, fields, [str(at) for at, _ in rows])
    key = named or ("id" if "id" not in fields else own)
    keyed = [{key: int(cast("str", at)) if numbers else at, **row} for at, row in rows]
    table = _with_like(entity, key, fields_of(keyed), keyed)[0] if named else _hiding(entity, key, fields, keyed)
    return table, keyed


def _name_asked_for(nouns: Nouns, entity: str, fields: Mapping[str, Field], keys: Sequence[str]) -> str | None:
    """What tools call the key that stands outside the records: `room_id`, `name` where keys are names, or `room`."""
    asked, own = nouns.texts | nouns.numbers, f"{entity}_id"
    if own in asked | nouns.shown:
        return own if own not in nouns.bare and "id" not in fields else None
    counted = (f"{entity}_{ending}" for ending in ("number", "no", "code", "key", "ref", "reference"))
    called = next((one for one in counted if one in nouns.texts and one not in fields), None)
    if called is not None and "id" not in asked:
        return called
    if "id" in asked or any(key.isdecimal() for key in keys):
        return None
    is_named = not any(letter.isdigit() for key in keys for letter in key)
    tries = (f"{entity}_name", f"{entity}name", *(("name",) if is_named else ()), entity)
    return next((one for one in tries if one in nouns.texts and one not in fields), None)


def _first_key(nouns: Nouns, entity: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> str | None:
    """The id that comes first in each record, that tools ask for, and beside which there is no other: `person_id`."""
    ids = [name for name in fields if snake(name) == "id" or snake(name).endswith("_id")]
    first = next(iter(fields), None)
    if ids != [first] or first is None or snake(first) not in nouns.texts | nouns.numbers:
        return None
    return key_among(entity, {first: fields[first]}, rows)


def _hiding(entity: str, key: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> Entity:
    hidden = Field(key, {"type": type_name(rows[0][key])}, required=True, hidden=True)
    return Entity(entity, key, rows[-1][key], {key: hidden, **fields})


def _with_like(entity: str, key: str, fields: Mapping[str, Field], rows: list[Record]) -> tuple[Entity, list[Record]]:
    return Entity(entity, key, rows[-1][key], fields), rows


def key_among(entity: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> str | None:
    """The field that tells rows apart, by its name; None where none does."""
    by_name = {snake(name): name for name in reversed([*fields])}
    short = entity.rsplit("_", 1)[-1]
    named = [f"{one}_{ending}" for one in (entity, short) for ending in _ENDINGS]
    ids = [name for name in by_name if name.endswith(("_id", "_key"))]
    for name in ("id", *named, *_KEYS, *ids):
        values = [row.get(by_name[name]) for row in rows] if name in by_name else []
        plain = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
        if values and plain and len({*map(str, values)}) == len(values):
            return by_name[name]
    return None


def fields_of(rows: Sequence[Record]) -> dict[str, Field]:
    """The fields that the rows show, with the types that they show; required where every row has them."""
    looked_at = rows[:MOST_LOOKED_AT]
    names = dict.fromkeys(name for row in looked_at for name in row)
    return {name: _field(name, [row[name] for row in looked_at if name in row], len(looked_at)) for name in names}


def _field(name: str, values: Sequence[Json], count: int) -> Field:
    """A field as its values show it: their types, and the shape of the first that holds something."""
    everywhere = len(values) == count
    real = [value for value in values if value is not None]
    if not real:
        return Field(name, {}, required=everywhere)
    schema = _loosely(schema_of(next((value for value in real if value not in ({}, [])), real[0])))
    types = [*dict.fromkeys(type_name(value) for value in values)]
    if len(types) > 1:
        schema = {**schema, "type": [kind for kind in types if kind != "integer" or "number" not in types]}
    return Field(name, schema, required=everywhere)


def _loosely(schema: Record) -> Record:
    """The shape of one value, of which others may lack parts."""
    return {name: part for name, part in schema.items() if name != "required"}
