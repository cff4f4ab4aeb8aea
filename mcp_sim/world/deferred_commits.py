"""Changes that are written later than they are made: reserved keys, and whether the changes still fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from mcp_sim.types import Change, Key, Turn, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import main_type

LATE_ACTOR = "the backend, late"
"""Who makes changes that a fault has delayed."""


@frozen
class Deferred:
    """Changes that are committed in two parts."""

    now: tuple[Change, ...]
    """The keys that are reserved at once, so that no other record gets them."""
    later: tuple[Change, ...]
    """The changes that are written later."""


def writes(changes: Iterable[Change]) -> bool:
    """Whether any record is written or removed."""
    return any(change.op != "reserve" for change in changes)


def reservations(turn: Turn, changes: Iterable[Change]) -> tuple[Change, ...]:
    """Return reservations of the keys of new records, except for keys that the call itself gave."""
    given = [value for value in turn.call.arguments.values() if isinstance(value, str | int)]
    return tuple(
        change if change.op == "reserve" else Change("reserve", change.entity, change.key)
        for change in changes
        if change.op == "reserve"
        or (change.op == "put" and turn.view.get(change.entity, change.key) is None and change.key not in given)
    )


def deferred(turn: Turn, changes: Sequence[Change]) -> Deferred:
    """Return the changes, to be written later. A write that is made after them wins over them.

    The turn's memory counts the pending writes to a record, so that they follow one another.
    """
    now = reservations(turn, changes)
    then = turn.view.after(now)
    return Deferred(now, tuple(_following(turn, change, then) for change in changes if change.op != "reserve"))


def fitting(view: View, changes: Sequence[Change], domain: Domain) -> tuple[Change, ...]:
    """Return the changes if all of them still fit, else none.

    They do not fit if a record was written since, or if a link leads to no record.
    """
    after = view
    for change in changes:
        if change.expected is not None and change.expected != after.version(change.entity, change.key):
            return ()
        after = after.after((change,))
    return () if any(_leads_nowhere(change, after, domain) for change in changes) else tuple(changes)


def _following(turn: Turn, change: Change, then: View) -> Change:
    """Return the change with the version it expects: that of its record now, or after the pending writes to it."""
    name = f"due:{change.entity}:{change.key!r}"
    expected = max(then.version(change.entity, change.key), turn.memory.get(name, 0))
    turn.memory.set(name, expected + 1)
    return replace(change, expected=expected)


def _leads_nowhere(change: Change, after: View, domain: Domain) -> bool:
    if change.op == "remove":
        return any(_linking(after, domain, change.entity, change.key))
    entity = domain.entities.get(change.entity)
    if entity is None or change.record is None:
        return False
    return any(
        after.get(field.link, key) is None
        for name, field in entity.fields.items()
        if field.link is not None
        for key in _keys(change.record.get(name))
    )


def _linking(view: View, domain: Domain, target: str, key: Key) -> Iterator[bool]:
    """Yield whether records of other entities link to a record, entity by entity."""
    for entity in domain.entities.values():
        for name, field in entity.fields.items():
            if field.link == target:
                is_list = main_type(field.schema) == "array"
                rows = view.rows(entity.name) if is_list else view.find(entity.name, name, key)
                yield any(key in _keys(record.get(name)) for _, record in rows)


def _keys(value: Any) -> Sequence[Key]:
    """Return the keys in a link: one, several, or none."""
    if isinstance(value, list):
        return cast("list[Key]", value)
    return () if value is None else (value,)
