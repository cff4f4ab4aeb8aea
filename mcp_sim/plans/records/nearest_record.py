"""Choose the record that a tool without a key means: the next one to do, the coming one, or the current one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from mcp_sim.generate.shipped_data import word_set
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.plans.records.ordering import Row
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.time_formats import parse_time

Choose: TypeAlias = Callable[[Sequence[Row], datetime], "Row | None"]
"""Takes the matching rows, and the time of the call."""

_NEXT, _CURRENT = terms("phrases.next"), terms("phrases.current")
_COMING = ("start", "future")


def nearest_record(tool: Tool, entity: Entity) -> Choose:
    """Compile the choice among the rows: by the words of the tool's name, else the first one.

    The next record is not done, and comes first of those that have not begun. The current one is under way.
    """
    parts = {*words(tool.name)}
    if parts.isdisjoint(_NEXT | _CURRENT):
        return lambda rows, _now: rows[0] if rows else None
    progress, starts_in = _progress_of(entity), _time_until(entity)
    is_next = not parts.isdisjoint(_NEXT)

    def choose(rows: Sequence[Row], now: datetime) -> Row | None:
        left = [row for row in rows if progress(row[1]) != "ended"]
        if is_next:
            coming = [(time, row) for row in left if (time := starts_in(row[1], now)) is not None and time >= 0]
            fresh = [row for row in left if progress(row[1]) is None] or left
            return min(coming, key=lambda pair: pair[0])[1] if coming else next(iter(fresh), None)
        begun = [row for row in left if progress(row[1]) == "under_way"]
        return next(iter(begun or left or rows), None)

    return choose


def _progress_of(entity: Entity) -> Callable[[Record], str | None]:
    """Return a function that reads from the state or a flag of a record whether it is `under_way` or `ended`."""
    names = [name for name in entity.fields if snake(name) in terms("fields.state")]
    flags = [name for name, field in entity.fields.items() if main_type(field.schema) == "boolean"]
    ending = [name for name in flags if snake(name).removeprefix("is_") in word_set("states", "ended")]

    def progress(record: Record) -> str | None:
        held = [snake(str(record.get(name))) for name in names]
        if any(record.get(name) is True for name in ending) or word_set("states", "ended").intersection(held):
            return "ended"
        return "under_way" if word_set("states", "under_way").intersection(held) else None

    return progress


def _time_until(entity: Entity) -> Callable[[Record, datetime], float | None]:
    """Return a function that reads in how many seconds a record begins; None if it has no such time."""
    times = [name for name, field in entity.fields.items() if time_meaning(name, field.schema) in _COMING]

    def until(record: Record, now: datetime) -> float | None:
        moment = next((time for name in times if (time := parse_time(record.get(name))) is not None), None)
        return None if moment is None else (moment - now).total_seconds()

    return until
