"""Tables in a given state: their keys and fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from mcp_sim.infer.names import Nouns
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import schema_of, type_name
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import ordered

_ENDINGS = (*ordered("fields.key_ending"), "name")
_SAMPLE_SIZE = 200
"""Number of rows that fields are inferred from. Keys are looked up in all rows."""

Rows: TypeAlias = "list[tuple[Key | None, Record]]"
"""Records, each with the key under which the state has it, if any."""


def make_table(nouns: Nouns, entity: str, rows: Rows) -> tuple[Entity, list[Record]]:
    """Return the entity of a table, and its rows with their keys.

    Keys outside the rows become a field, visible if tools have an argument of that name.
    """
    records = [row for _, row in rows]
    fields = infer_fields(records)
    is_keyed = bool(rows) and rows[0][0] is not None
    repeated = (name for name in fields if all(str(row.get(name)) == str(at) for at, row in rows))
    key = next(repeated, None) if is_keyed else find_key(entity, fields, records)
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
    found = Field(key, {"type": type_name(keys[0])}, required=True, hidden=named in {None, "id"})
    keyed: list[Record] = [{key: at, **row} for at, row in zip(keys, rows, strict=True)]
    return Entity(entity, key, keyed[-1][key], {key: found, **fields}), keyed


def _outer_key_name(nouns: Nouns, entity: str, fields: Mapping[str, Field]) -> str | None:
    """Return the name by which tools ask for records under keys."""
    names = (*(f"{entity}_{ending}" for ending in _ENDINGS), "id", entity, "name")
    return next((name for name in names if name in nouns.arguments and name not in fields), None)


def find_key(entity: str, fields: Mapping[str, Field], rows: Sequence[Record]) -> str | None:
    """Return the field that identifies rows, by its name. None if there is none."""
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


def infer_fields(rows: Sequence[Record]) -> dict[str, Field]:
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
    schema = {word: part for word, part in schema_of(first).items() if word != "required"}
    types = dict.fromkeys(map(type_name, values))
    if schema and len(types) > 1:
        schema["type"] = [kind for kind in types if kind != "integer" or "number" not in types]
    return Field(name, schema, required=len(values) == count)


def are_alike(rows: Sequence[Record]) -> bool:
    """Whether the objects share at least half of their fields on average."""
    if len(rows) == 1:
        return bool(rows[0])
    looked_at = rows[:_SAMPLE_SIZE]
    whole = {name for row in looked_at for name in row}
    return bool(whole) and 2 * sum(map(len, looked_at)) >= len(whole) * len(looked_at)
