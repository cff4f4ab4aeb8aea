"""Series of an open entity: a row for each day or hour of the period whose length a call names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from mcp_sim.backends.records.arguments import Fetch, argument
from mcp_sim.backends.records.ordering import Row
from mcp_sim.generate.time_fields import time_formatter, time_meaning
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import by_word, terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.time_formats import parse_time

_STEPS = {"days": timedelta(days=1), "hours": timedelta(hours=1), "weeks": timedelta(weeks=1)}
_TIMES = frozenset({"occurred", "past", "recent", "start"})
_COMING = terms("phrases.coming")
"""Words of tools that show the coming days instead of the last ones."""

_MOST = 60
"""The most rows of a series."""


@frozen
class Series:
    """The rows of a period before now, such as the prices of the last 30 days, or after it (`is_coming`)."""

    fetch: Fetch
    step: timedelta
    field: str
    write: Callable[[datetime], Json]
    is_coming: bool

    def moments(self, turn: Turn) -> list[datetime]:
        """Return the times of the rows that a call asks for, the first one first; none if it names no length."""
        asked = self.fetch(turn.call.arguments)
        count = min(asked, _MOST) if isinstance(asked, int) and not isinstance(asked, bool) else 0
        first = turn.now.replace(minute=0, second=0, microsecond=0)
        first -= timedelta(0) if self.is_coming else self.step * (count - 1)
        return [first + self.step * at for at in range(count)]

    def at(self, moment: datetime) -> Record:
        """Return the time of a row, as its field."""
        return {self.field: self.write(moment)}

    def within(self, rows: Sequence[Row], turn: Turn) -> Sequence[Row]:
        """Return the rows of the period, the first one first."""
        moments = self.moments(turn)
        if not moments:
            return rows
        first, last = (parse_time(self.write(one)) or one for one in (moments[0], moments[-1]))
        timed = [(time, row) for row in rows if (time := parse_time(row[1].get(self.field))) is not None]
        return [row for time, row in sorted(timed, key=lambda one: one[0]) if first <= time <= last]


def series_of(tool: Tool, plan: Plan, entity: Entity) -> Series | None:
    """Return the series that a list shows, or None if the entity is not open or no argument names a length."""
    units = by_word("arguments.length")
    named = next((name for name in properties(tool.input_schema) if snake(name) in units), None)
    fields = (one for one in entity.fields.values() if time_meaning(one.name, one.schema) in _TIMES)
    timed = next(fields, None)
    if (
        not entity.open
        or plan.verb not in {"list", "search"}
        or named is None
        or timed is None
        or named in plan.filters
    ):
        return None
    write = time_formatter(timed.name, timed.schema)
    return Series(
        argument(named), _STEPS[units[snake(named)]], timed.name, write, not _COMING.isdisjoint(words(tool.name))
    )
