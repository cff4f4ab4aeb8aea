"""Values that a record must have to match the filters and the query of a call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime, timedelta

from mcp_sim.generate.missing_records import MOST_CANDIDATES, extent
from mcp_sim.generate.time_fields import time_formatter, time_meaning
from mcp_sim.plans.records.filters import filter_argument, time_prefix_test
from mcp_sim.plans.records.search_terms import query_argument, term_parser
from mcp_sim.types import COMPARISONS, Json, Record, Tool
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, main_type
from mcp_sim.types.plans import Filter, Plan
from mcp_sim.types.time_formats import parse_time, time_format

_DAY = timedelta(days=1)
_SPAN = timedelta(days=30)
"""The length of a period when a call names one end only."""

_PAST = frozenset({"created", "updated", "past", "recent"})
"""Meanings of times that are never in the future."""


@frozen
class Wanted:
    """What the records of an answer have in common.

    `values` are those of fields, `limits` the bounds of fields, by operator, and `words` what some text must contain.
    """

    values: Record = field(default_factory=dict[str, Json])
    limits: Mapping[str, Record] = field(default_factory=dict[str, Record])
    words: str = ""

    def each(self, lists: Mapping[str, Json]) -> Iterator[Wanted]:
        """Yield what is wanted for each combination of the values in `lists`."""
        if not lists:
            yield self
            return
        (name, values), *others = lists.items()
        for value in dict.fromkeys(item for item in as_list(values) if isinstance(item, str | int | float)):
            yield from replace(self, values={**self.values, name: value}).each(dict(others))


def wanted_values(tool: Tool, plan: Plan, entity: Entity) -> Callable[[Record], list[Wanted]]:
    """Compile what the records that a call asks for have in common: one entry for each of several requested values."""
    rules = [(filter_argument(tool, name, entity, rule), rule) for name, rule in plan.filters.items()]
    query, parse_terms = query_argument(plan), term_parser(entity)
    fixed = dict(plan.fixed) if plan.verb in {"list", "search"} else {}
    start, end = (_time_field(entity, meaning) for meaning in ("start", "end"))

    def wanted(arguments: Record) -> list[Wanted]:
        given = [
            (rule, value) for fetch, rule in rules if (value := fetch(arguments)) is not ABSENT and value is not None
        ]
        values, limits, lists = dict(fixed), dict[str, Record](), dict[str, Json]()
        for rule, value in given:
            if rule.op in COMPARISONS:
                limits[rule.field] = {**limits.get(rule.field, {}), rule.op: value}
            elif rule.op == "in" and isinstance(value, list):
                lists[rule.field] = value[:MOST_CANDIDATES]
            elif time_prefix_test(entity, rule.field, value) is not None:
                limits[rule.field] = _period(str(value))
            elif rule.op != "not":
                values[rule.field] = _holding(entity, rule, value)
        asked = query(arguments)
        words = " ".join(parse_terms(asked).words)
        is_plain = isinstance(asked, str) and words == " ".join(asked.lower().split())
        if start is not None and end in limits:
            limits[start] = {**limits.pop(end), **limits.get(start, {})}  # the end follows from the start
        return [*Wanted(values, limits, " ".join(str(asked).split()) if is_plain else words).each(lists)]

    return wanted


def _time_field(entity: Entity, meaning: str) -> str | None:
    fields = entity.fields.values()
    return next(
        (time_field.name for time_field in fields if time_meaning(time_field.name, time_field.schema) == meaning), None
    )


def _period(prefix: str) -> Record:
    """Return the limits of a year or a month."""
    month = "" if len(prefix) > len("2030") else "-01"
    last = prefix if not month else f"{prefix}-12"
    return {"gte": f"{prefix}{month}-01", "lte": f"{last}-28"}


def _holding(entity: Entity, rule: Filter, value: Json) -> Json:
    """Return a value of a field that passes a filter for equality or for a part."""
    known = entity.fields.get(rule.field)
    if known is None:
        return value
    if main_type(known.schema) == "array":
        return as_list(value) or [value]
    day = time_format(value) if rule.op == "contains" else None
    if day is None or not day.is_date or time_meaning(rule.field, known.schema) is None:
        return value
    moment = parse_time(value)
    return value if moment is None else time_formatter(rule.field, known.schema)(moment.replace(hour=9))


@frozen
class Interval:
    """The times that limits allow, up to now for events of the past."""

    start: datetime
    end: datetime

    @classmethod
    def of(cls, name: str, schema: Record, limits: Record, now: datetime) -> Interval | None:
        """Return the interval of a time field, or None if the field holds no time or nothing is allowed."""
        meaning = time_meaning(name, schema)
        times = {op: time for op, value in limits.items() if (time := parse_time(value)) is not None}
        if meaning is None or len(times) < len(limits):
            return None
        low, high = extent(times, _DAY)
        latest = now if meaning in _PAST else high
        high = latest if high is None or latest is None else min(high, latest)
        low = low or (high or now) - _SPAN
        high = high or low + _SPAN
        return cls(low, high) if low <= high else None

    @property
    def days(self) -> int:
        """The number of days that it touches."""
        return (self.end - self.start).days + 1

    def at(self, share: float) -> datetime:
        """Return a time at about a share, in [0, 1], of it: on the hour by day, if that is within it."""
        moment = self.start + (self.end - self.start) * share
        by_day = moment.replace(hour=9 + int(share * 8), minute=0, second=0, microsecond=0)
        return by_day if self.start <= by_day <= self.end else moment
