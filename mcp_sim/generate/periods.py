"""Periods of records: when they begin, how long they last, when they end."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import timedelta

from mcp_sim.generate.numbers import unit_of
from mcp_sim.generate.time_fields import TimeMeaning, time_formatter, time_meaning
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.json_values import is_number
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.time_formats import parse_time, time_format

_DURATION = re.compile(
    r"(duration|days|nights|weeks|total_days|length|elapsed|moving_time|elapsed_time|flight_time)(_.*)?"
    r"|.*_(duration|days|nights|weeks)(_.*)?"
)
_BEGINNINGS: tuple[TimeMeaning, ...] = ("start", "occurred", "created", "past")
_BARE = frozenset({"start", "starts", "begin", "begins", "end", "ends"})
_DEADLINES = terms("fields.deadline")


@frozen
class Period:
    """The times of a record between which it lasts."""

    starts: tuple[str, ...]
    """The fields that may have the beginning, the likeliest first."""
    end: Field
    length: Field | None
    unit: float
    """How many seconds the unit of the length has."""

    def settle(self, record: Record, given: Collection[str], before: Record, *, follows: bool = False) -> bool:
        """Compute the end by the length of a record, or the length by its times, whichever a call did not give.

        A length counts only if it agreed with the times of the record as it was `before`: that of a boat does not.
        Without a length, the end moves with the beginning if it `follows`. Return whether it did, which is a guess.
        """
        start = next((name for name in self.starts if record.get(name) is not None), "")
        begun, name = parse_time(record.get(start)), "" if self.length is None else self.length.name
        lasts: Json = record.get(name)
        has_length = is_number(lasts) and (not before or self._agrees(before, start))
        if begun is None or self.end.name == start or not {start, name, self.end.name} & {*given}:
            return False
        if self.end.name in given:
            ended = parse_time(record.get(self.end.name))
            is_open = has_length and name not in given
            if self.length is not None and is_open and ended is not None and ended > begun:
                number = (ended - begun) / timedelta(seconds=self.unit)
                record[name] = round(number) if main_type(self.length.schema) == "integer" else round(number, 2)
        elif has_length:
            moved = shifted(self.end, record[start], lasts, self.unit)
            record |= {} if moved is None else {self.end.name: moved}
        elif follows and (then := parse_time(before.get(start))) is not None:
            moved = shifted(self.end, record.get(self.end.name), (begun - then).total_seconds())
            record |= {} if moved is None else {self.end.name: moved}
            return begun != then and moved is not None
        return False

    def _agrees(self, before: Record, start: str) -> bool:
        """Whether a record lasted as long as its length says, to the unit. One without an end had no length yet."""
        begun, ended = parse_time(before.get(start)), parse_time(before.get(self.end.name))
        lasts: Json = before.get("" if self.length is None else self.length.name)
        if begun is None or ended is None or not is_number(lasts):
            return not lasts
        units = (ended - begun) / timedelta(seconds=self.unit)
        return units - 1 < lasts < units + 1


def shifted(field: Field, time: Json, amount: float, unit: float = 1) -> Json:
    """Return a time later by an amount of units in seconds; None if it is not a time, or the calendar ends before.

    Its form is that of the field, else its own.
    """
    moment, form = parse_time(time), None if field.schema.get("format") else time_format(time)
    write = time_formatter(field.name, field.schema) if form is None else form.write
    try:
        return None if moment is None else write(moment + timedelta(seconds=amount * unit))
    except OverflowError:
        return None


def find_period(entity: Entity) -> Period | None:
    """Return the period of an entity's records, if they have a beginning and an end or a deadline."""
    meanings = {name: _meaning(field) for name, field in entity.fields.items()}
    ends = [name for name in meanings if meanings[name] == "end"]
    ends += [name for name in meanings if meanings[name] in {"expiry", "future"} and _DEADLINES & {*words(snake(name))}]
    starts = tuple(name for meaning in _BEGINNINGS for name in meanings if meanings[name] == meaning)
    if not ends or not starts:
        return None
    length, unit = next(lengths_of(entity), (None, 1.0))
    return Period(starts, entity.fields[ends[0]], length, unit)


def _meaning(field: Field) -> TimeMeaning | None:
    """Return the meaning of a time. A text `start` may have one, even if nothing says that it is a time."""
    is_bare = snake(field.name) in _BARE and main_type(field.schema) == "string"
    return time_meaning(field.name, {**field.schema, "format": "date-time"} if is_bare else field.schema)


def lengths_of(entity: Entity) -> Iterator[tuple[Field, float]]:
    """Yield the fields with a duration, and how many seconds their units have."""
    for field in entity.fields.values():
        is_length = main_type(field.schema) in {"integer", "number"} and _DURATION.fullmatch(snake(field.name))
        unit = unit_of(entity.name, field.name, str(field.schema.get("description"))) if is_length else None
        if unit is not None:
            yield field, unit
