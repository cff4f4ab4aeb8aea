"""Make tables of the rows in a given state: their keys, and fields with types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import cast

from mcp_sim.plans.infer.state_nouns import Nouns
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object, schema_of, type_name
from mcp_sim.types.lexicon.english import last_word, snake, words
from mcp_sim.types.lexicon.terms import ordered

ENDINGS = (*ordered("fields.key_ending"), "name")
NAME, VALUE = "name", "value"
"""Fields of rows that are not objects, until a better name is known."""
_SAMPLE_SIZE = 200
"""Number of rows that fields are inferred from. Keys are looked up in all rows."""


@frozen
class Rows:
    """The rows of a table, each with the keys around it: those of its parents, and its own if `keyed`.

    `plain` is the field of rows that the state has as plain values; empty if they are objects.
    """

    rows: Sequence[tuple[tuple[str, ...], Record]]
    keyed: bool = False
    plain: str = ""

    @property
    def bodies(self) -> list[Record]:
        return [body for _, body in self.rows]

    @property
    def own_keys(self) -> list[str]:
        return [outer[-1] for outer, _ in self.rows] if self.keyed else []

    @property
    def levels(self) -> int:
        """The number of parents around each row."""
        return len(self.rows[0][0]) - self.keyed if self.rows else 0

    def parents(self, level: int) -> list[str]:
        """Return the parent of each row."""
        return [outer[level] for outer, _ in self.rows]


def inner_rows(value: Json) -> list[Record]:
    inner = [*cast("Record", value).values()] if isinstance(value, dict) else as_list(value)
    return cast("list[Record]", inner) if all(isinstance(row, dict) for row in inner) else []


def listed_rows(values: Sequence[Json], *, may_be_names: bool) -> Rows | None:
    """Return the rows of a list of similar objects, or of different names."""
    listed = [as_object(row) for row in values]
    if all(listed):
        return Rows([((), row) for row in listed]) if are_alike(listed) else None
    names = [value for value in values if isinstance(value, str | int) and not isinstance(value, bool)]
    are_names = may_be_names and len({*names}) == len(values)
    return Rows([((), {NAME: name}) for name in names], plain=NAME) if are_names else None


def make_table(nouns: Nouns, entity: str, rows: Rows) -> tuple[Entity, list[Record]]:
    """Return the entity of a table, and its rows with their keys.

    Keys outside the rows become a field, visible if tools have an argument of that name.
    """
    if rows.plain:
        return _plain_table(nouns, entity, rows)
    records, own_keys = rows.bodies, rows.own_keys
    fields = infer_fields(records)
    repeated = (
        name for name in fields if all(str(row.get(name)) == at for row, at in zip(records, own_keys, strict=True))
    )
    key = next(repeated, None) if own_keys else find_key(entity, fields, records, nouns.lookups.get(entity))
    if key is not None and _identifies(key, records):
        return Entity(entity, key, records[-1][key], fields), records
    if not records:
        return Entity(entity), []
    named = _outer_key_name(nouns, entity, fields) if own_keys else None
    keys = outer_keys(own_keys, are_numbers=named in nouns.numbers)
    if len({*own_keys}) == len(own_keys) > 0:
        return _with_outer_keys(entity, named, fields, keys, records)
    if own_keys and (word := named or NAME) not in fields:  # keys that differ under each parent only
        records = [{word: at, **row} for at, row in zip(keys, records, strict=True)]
    return _with_outer_keys(entity, None, infer_fields(records), [*range(1, len(records) + 1)], records)


def _plain_table(nouns: Nouns, entity: str, rows: Rows) -> tuple[Entity, list[Record]]:
    """Return the entity of names, or of values under names."""
    named = (_outer_key_name(nouns, entity, {}) if rows.keyed or not rows.levels else None) or NAME
    names: list[Json] = [*rows.own_keys] if rows.keyed else [body[NAME] for body in rows.bodies]
    values = [body[rows.plain] for body in rows.bodies]
    records: list[Record] = [{named: at} for at in outer_keys(names, are_numbers=named in nouns.numbers)]
    kind = int if named in nouns.numbers else str
    if rows.keyed and _are_ids(values, kind) and not _are_ids(names, str) and last_word(named) in ENDINGS[:-1]:
        records = [{named: value, NAME: at} for value, at in zip(values, names, strict=True)]
    elif rows.keyed:
        word = _value_name(entity, named, values)
        records = [{**record, word: value} for record, value in zip(records, values, strict=True)]
    fields = infer_fields(records)
    if _identifies(named, records):
        return Entity(entity, named, records[-1][named], fields, natural=True), records
    return _with_outer_keys(entity, None, fields, [*range(1, len(records) + 1)], records)


def _are_ids(values: Sequence[Json], kind: type[str | int]) -> bool:
    """Whether all values are different and look like ids: they are of a type, have digits, and no spaces."""
    texts = [str(value) for value in values if isinstance(value, kind) and not isinstance(value, bool)]
    are_ids = all(any(map(str.isdigit, text)) and not any(map(str.isspace, text)) for text in texts)
    return len({*texts}) == len(values) and are_ids


def _value_name(entity: str, key: str, values: Sequence[Json]) -> str:
    """Return the field of the values under names: `price` of a symbol, the `name` of an id, else `value`."""
    word = last_word(entity)
    if word not in words(key) and key != NAME:
        return word
    are_names = key != NAME and last_word(key) != NAME and all(isinstance(value, str) for value in values)
    return NAME if are_names else VALUE


def outer_keys(keys: Sequence[Json], *, are_numbers: bool) -> list[Json]:
    is_whole = are_numbers and all(str(at).isdecimal() for at in keys)
    return [int(str(at)) if is_whole else at for at in keys]


def _with_outer_keys(
    entity: str, named: str | None, fields: Mapping[str, Field], keys: Sequence[Json], rows: Sequence[Record]
) -> tuple[Entity, list[Record]]:
    """Return a table whose keys are added to its rows, first in each. They are hidden unless tools name them."""
    key = named or ("id" if "id" not in fields else "row")
    outer = Field(key, {"type": type_name(keys[0])}, required=True, hidden=named is None)
    keyed: list[Record] = [{key: at, **row} for at, row in zip(keys, rows, strict=True)]
    return Entity(entity, key, keyed[-1][key], {key: outer, **fields}), keyed


def _outer_key_name(nouns: Nouns, entity: str, fields: Mapping[str, Field]) -> str | None:
    """Return the name by which tools ask for records under keys."""
    asked = nouns.lookups.get(entity, "")
    names = (*(f"{entity}_{ending}" for ending in ENDINGS), asked, "id", entity, "name")
    return next((name for name in names if name in nouns.arguments and name not in fields), None)


def find_key(entity: str, fields: Mapping[str, Field], rows: Sequence[Record], lookup: str | None = None) -> str | None:
    """Return the field that identifies rows, by its name, or None. Tools ask for records by the `lookup`."""
    by_name = {snake(name): name for name in reversed([*fields])}
    nouns = (entity, entity.rsplit("_", 1)[-1])
    named = [f"{noun}_{ending}" for noun in nouns for ending in ENDINGS]
    ids = [snake(name) for name in fields if snake(name).endswith(("_id", "_key"))]
    first = [name for name in ids if name == snake(next(iter(fields)))]
    likely = ("id", *named, lookup, *ordered("fields.given_key"), *first, *ordered("fields.given_name"), *ids)
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
    schema = {word: value for word, value in schema_of(first).items() if word != "required"}
    types = dict.fromkeys(map(type_name, values))
    if schema and len(types) > 1:
        schema["type"] = [kind for kind in types if kind != "integer" or "number" not in types]
    return Field(name, schema, required=len(values) == count)


def have_common_fields(rows: Sequence[Record]) -> bool:
    """Whether there are several objects, and half of their fields are in all of them."""
    looked_at = [row.keys() for row in rows[:_SAMPLE_SIZE]]
    return len(rows) > 1 and 2 * len(set[str].intersection(*map(set, looked_at))) >= len({*chain(*looked_at)})


def are_alike(rows: Sequence[Record]) -> bool:
    """Whether the objects share at least half of their fields on average."""
    if len(rows) == 1:
        return bool(rows[0])
    looked_at = rows[:_SAMPLE_SIZE]
    whole = {name for row in looked_at for name in row}
    return bool(whole) and 2 * sum(map(len, looked_at)) >= len(whole) * len(looked_at)
