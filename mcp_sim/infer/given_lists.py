"""Which lists stand in a state under the keys of another table: the slots of each doctor, the charges of a booking?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, cast

from mcp_sim.infer.tables import fields_of
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field

Tables: TypeAlias = "dict[str, tuple[Entity, list[Record]]]"
Lists: TypeAlias = "dict[str, dict[str, list[Json]]]"


def lists_by_key(value: Json) -> dict[str, list[Json]] | None:
    """The lists that stand under keys, where there is nothing but lists."""
    body = cast("Record", value) if isinstance(value, dict) else {}
    if not body or not all(isinstance(one, list) for one in body.values()):
        return None
    return cast("dict[str, list[Json]]", body)


def with_lists(tables: Tables, lists: Lists) -> Iterator[str]:
    """Put lists into the records under whose keys they stand, as fields that are not shown with these.

    The names of those that were put somewhere.
    """
    for name, body in lists.items():
        holder = next((one for one, (entity, rows) in tables.items() if _are_keys(body, name, entity, rows)), None)
        if holder is not None:
            tables[holder] = _holding(name, body, *tables[holder])
            yield name


def _are_keys(body: Mapping[str, list[Json]], name: str, entity: Entity, rows: Sequence[Record]) -> bool:
    return name not in entity.fields and {*body} <= {str(row.get(entity.key)) for row in rows}


def _holding(
    name: str, body: Mapping[str, list[Json]], entity: Entity, rows: Sequence[Record]
) -> tuple[Entity, list[Record]]:
    held = [{**row, name: body.get(str(row.get(entity.key)), [])} for row in rows]
    field: Field = replace(fields_of(held)[name], required=True, hidden=True)
    listed = replace(field, schema={"type": "array", **field.schema, "default": []})
    return replace(entity, fields={**entity.fields, name: listed}), held
