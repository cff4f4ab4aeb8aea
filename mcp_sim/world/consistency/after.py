"""Which records are there after a call, before anything is written?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from mcp_sim.types import Change, Json, Key, Record, View
from mcp_sim.types.domain import Entity


class After:
    """The world as it is after a call, for whoever asks for records by their keys: nothing is written for that."""

    __slots__ = ("_before", "_changes", "_records")

    def __init__(self, before: View, changes: tuple[Change, ...]) -> None:
        self._before, self._changes = before, changes
        self._records = {(one.entity, one.key): one.record for one in changes if one.op != "reserve"}

    def get(self, entity: str, key: Key) -> Record | None:
        at = (entity, key)
        return self._records[at] if at in self._records else self._before.get(entity, key)

    def find(self, entity: str, field: str, value: Json) -> Sequence[tuple[Key, Record]]:
        return self._before.after(self._changes).find(entity, field, value)


def finder(after: After, entity: Entity) -> Callable[[Key], Record | None]:
    """The records as the world has them, by key, also where they stand inside others."""
    inside, name = entity.inside, entity.name
    if inside is None:
        return lambda key: after.get(name, key)

    def find(key: Key) -> Record | None:
        held = after.find(inside.entity, f"{inside.field}.*.{entity.key}", key)
        parts = (one for _, record in held for one in _elements(record[inside.field]))
        return next((one for one in parts if one.get(entity.key) == key), None)

    return find


def _elements(value: Json) -> list[Record]:
    return cast("list[Record]", [*value.values()] if isinstance(value, dict) else value)
