"""Which one of many records is meant: the latest, the oldest, the next to be done, any?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TypeAlias

from mcp_sim.backends.records.ordering import Row
from mcp_sim.generate.progress import is_over
from mcp_sim.generate.times import moment_of, sense
from mcp_sim.types import Record, Turn
from mcp_sim.types.domain import Entity
from mcp_sim.types.lexicon.words import snake

Foremost: TypeAlias = Callable[[Turn, Sequence[Row]], "Row | None"]

_EVER = datetime.max.replace(tzinfo=UTC)
_URGENCY = {
    name: rank
    for rank, names in enumerate(("critical blocker", "urgent highest", "high", "medium normal", "low", "lowest"))
    for name in names.split()
}


def foremost(way: str, entity: Entity) -> Foremost:
    """The record that is meant, compiled; the first there is, where nothing says which."""
    if way == "random":
        return lambda turn, rows: turn.draws.choice("any", rows) if rows else None
    if way == "next":
        urgency = _urgency(entity)
        return lambda _turn, rows: min((row for row in rows if not is_over(row[1])), key=urgency, default=None)
    if way in {"newest", "oldest"}:
        made = _made(entity)
        return lambda _turn, rows: _by_time(rows, made, newest=way == "newest")
    return lambda _turn, rows: rows[0] if rows else None


def _by_time(rows: Sequence[Row], made: str | None, *, newest: bool) -> Row | None:
    """Of those of the same time, or where no time is told, what was written last is the newest."""
    times = [moment_of(row[1].get(made)) if made is not None else None for row in rows]
    told = [(time, at) for at, time in enumerate(times) if time is not None] if None not in times else []
    if not told:
        return None if not rows else rows[-1 if newest else 0]
    return rows[(max(told) if newest else min(told))[1]]


def _made(entity: Entity) -> str | None:
    """The field that tells when a record was made, or when that was which it tells of."""
    senses = {name: sense(name, field.schema) for name, field in entity.fields.items()}
    return next((name for wanted in ("created", "occurred") for name, one in senses.items() if one == wanted), None)


def _urgency(entity: Entity) -> Callable[[Row], tuple[int, datetime]]:
    """What is urgent comes before what is due, and that before what is not."""
    priority = next((name for name in entity.fields if snake(name) in {"priority", "urgency"}), None)
    due = next((name for name, field in entity.fields.items() if sense(name, field.schema) == "future"), None)

    def urgency(row: Row) -> tuple[int, datetime]:
        return _rank(row[1], priority), (moment_of(row[1].get(due)) if due is not None else None) or _EVER

    return urgency


def _rank(record: Record, priority: str | None) -> int:
    value = record.get(priority) if priority is not None else None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return _URGENCY.get(snake(str(value)), len(_URGENCY))
