"""Which record is it that stands in a record of another entity: an item of an order, a variant of a product?"""

from __future__ import annotations

from typing import cast

from mcp_sim.types import Json, Record, View
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_list


def found_inside(view: View, entity: Entity, value: Json) -> Record | None:
    """The record that a value names, wherever it stands; None where there is none."""
    place = entity.inside
    if place is None or not isinstance(value, str | int) or isinstance(value, bool):
        return None
    holders = view.find(place.entity, f"{place.field}.*.{entity.key}", value)
    parts = (one for _, holder in holders for one in parts_of(holder.get(place.field)))
    return next((one for one in parts if one.get(entity.key) == value), None)


def parts_of(held: Json) -> list[Record]:
    """The records that a field holds, as a list or by their keys."""
    return cast("list[Record]", [*held.values()] if isinstance(held, dict) else as_list(held))
