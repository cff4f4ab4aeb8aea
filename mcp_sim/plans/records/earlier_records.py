"""What a world held before its calls changed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias

from mcp_sim.plans.records.ordering import Row
from mcp_sim.types import Change, Json, PastCall, Turn, View
from mcp_sim.types.domain import Domain

Matching: TypeAlias = Callable[[View, Mapping[str, Json]], Sequence[Row]]

_READS = frozenset({"get", "list", "search"})


def was_emptied(turn: Turn, entity: str, matching: Matching) -> bool:
    """Whether a record matched the call before it was changed or removed, or may have."""
    view, changed = turn.view, turn.view.changed(entity)
    if not changed:
        return False
    first = view.initial_records(entity)
    records = [first[key] for key in changed if key in first]
    puts = [(change.key, change.record) for _, change in _puts(turn, entity) if change.key in changed]
    if not changed <= {*first, *(key for key, _ in puts)}:
        return True  # the history no longer shows what it was
    records += [record for _, record in puts if record is not None]
    earlier = [Change("put", entity, f"earlier version {at}", record) for at, record in enumerate(records)]
    rows = matching(view.after(earlier), turn.call.arguments)
    return not {change.key for change in earlier}.isdisjoint(key for key, _ in rows)


def was_created(turn: Turn, domain: Domain, entity: str, key: Json) -> bool:
    """Whether a call created this record, rather than asked for it."""
    row = turn.view.latest_write(entity, key) if isinstance(key, str | int) else None
    if row is None or row.born < 0:
        return False
    past = next((past for past, change in _puts(turn, entity) if change.key == key), None)
    plan = None if past is None else domain.plans.get(past.tool)
    return plan is None or plan.verb not in _READS


def _puts(turn: Turn, entity: str) -> Iterator[tuple[PastCall, Change]]:
    """Yield the records of an entity that earlier calls wrote or showed first, oldest first."""
    for past in turn.history:
        for change in past.changes:
            if change.entity == entity and change.op == "put":
                yield past, change
