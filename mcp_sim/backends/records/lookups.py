"""What does a derived field show: a field of the record that it links to, or how many records link here?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from mcp_sim.types import Json, Record, View
from mcp_sim.types.domain import Entity, Field

Lookup: TypeAlias = Callable[[View, Record], Json]


def lookup(entity: Entity, field: Field, entities: Mapping[str, Entity]) -> Lookup | None:
    """The value of a derived field, read from the state as it is; None for a field that is stored."""
    if field.derived is None:
        return None
    if field.derived.startswith("#"):
        return _count(entity, field.derived[1:])
    via, _, name = field.derived.partition(".")
    target = entity.fields[via].link if via in entity.fields else None
    return _linked(via, target or "", name) if target in entities else None


def _count(entity: Entity, place: str) -> Lookup:
    other, _, link = place.rpartition(".")
    key = entity.key
    return lambda view, record: len(view.find(other, link, record.get(key)))


def _linked(via: str, target: str, name: str) -> Lookup:
    def linked(view: View, record: Record) -> Json:
        key = record.get(via)
        found = view.get(target, key) if isinstance(key, str | int) else None
        if found is None or not name:
            return found
        return found.get(name)

    return linked
