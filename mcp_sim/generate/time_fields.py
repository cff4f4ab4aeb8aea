"""Recognise fields that hold times, write their values, generate plausible ones, and read the status of records."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Literal, TypeAlias

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.shipped_data import rule_for, word_list, word_set
from mcp_sim.types import Json, Record, frozen
from mcp_sim.types.clock import DEFAULT_NOW, iso_seconds
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.json_schema.validation import compiled, enforceable
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.time_formats import TimeFormat, example_of, parse_time, time_format

TimeMeaning: TypeAlias = Literal[
    "created", "updated", "future", "start", "expiry", "birth", "occurred", "recent", "end", "past"
]

_NAMED = re.compile(
    r".*_(at|on|date|time|datetime|timestamp)|date.*|timestamp|deadline|due|dob|birthday|.*_since|check_?(in|out)"
)
_PERIOD = re.compile(r"starts?|ends?|begins?")
_TIMED = re.compile(r"\b(date|time|datetime|timestamp|iso|rfc)\b", re.IGNORECASE)
_CHANGED = re.compile(r"(last_)?(created|updated|modified|changed|edited)|joined|registered|enrolled|hired")
_COUNTED = re.compile(r".*(_at|timestamp|_date|_period_(start|end))|created|updated")
_EPOCH = re.compile(r"\b(unix|epoch)\b|\b(milli)?seconds since\b", re.IGNORECASE)
_FORMATS = {"date-time", "date", "time"}
_USUAL_FORMS = tuple(
    f"{date}{clock}"
    for date in ("2028-03-25", "2028/03/25", "20280325", "03/25/2028", "25/03/2028", "25.03.2028", "25-03-2028")
    for clock in ("T09:30:15Z", "T09:30:15.250Z", "T09:30:15+00:00", "T09:30:15", " 09:30:15", " 09:30", "T093015Z", "")
)


def time_meaning(name: str, schema: Record) -> TimeMeaning | None:
    """Return the meaning of a time field, judged by its name; None if the field holds no time."""
    name = snake(name)
    if not _holds_time(name, schema):
        return None
    rule = rule_for("times", "meanings", name)
    return "past" if rule is None or (rule["meaning"] == "occurred" and event_of(name)) else rule["meaning"]


@lru_cache(maxsize=4096)
def event_of(name: str) -> str | None:
    """Return the event of a time field: `closed` for `closed_at`; None if its name has no event."""
    match = _event().fullmatch(snake(name))
    return match[1] if match else None


@cache
def _event() -> re.Pattern[str]:
    events = "|".join(word_list("times", "events"))
    return re.compile(rf"(?:date_)?({events})(?:_(?:at|on|date|time))?")


def format_time(moment: datetime, name: str, schema: Record) -> Json:
    """Return a time in the form of this field: RFC 3339, a date, a time of day, or (milli)seconds since 1970."""
    return time_formatter(name, schema)(moment)


def time_formatter(name: str, schema: Record) -> Callable[[datetime], Json]:
    """Return the function that writes times in the form of this field: that of its example, if the schema has one.

    Else it is the first usual form that the pattern allows.
    """
    given = time_format(example_of(schema)) or _format_of_pattern(str(schema.get("pattern", "^$")))
    if given is not None:
        return given.write
    if main_type(schema) in {"integer", "number"}:
        described = re.search(r"\bmillis(econds)?\b|\bms\b", str(schema.get("description", "")))
        unit = 1000 if schema.get("minimum", 0) > 10**11 or snake(name).endswith("_ms") or described else 1
        return lambda moment: int(moment.timestamp()) * unit
    days = re.fullmatch(r".*_date|date|day|dob|birthday|check_?(in|out)", snake(name))
    form = schema.get("format") or ("date" if days else "date-time")
    if form == "date":
        return lambda moment: moment.date().isoformat()
    if form == "time":
        return lambda moment: moment.strftime("%H:%M:%SZ")
    return iso_seconds


@lru_cache(maxsize=256)
def _format_of_pattern(pattern: str) -> TimeFormat | None:
    """Return the first usual form of times that a pattern matches, None if it matches none or is not valid."""
    form = enforceable(pattern)
    if form is None:
        return None
    is_matched = compiled({"pattern": form}).is_valid
    return next((time_format(time) for time in _USUAL_FORMS if is_matched(time)), None)


def _holds_time(name: str, schema: Record) -> bool:
    kind = main_type(schema)
    if "contentEncoding" in schema:
        return False
    if schema.get("format") in _FORMATS and kind in {"string", ""}:
        return True
    if kind in {"integer", "number"}:
        return bool(_COUNTED.fullmatch(name) or _EPOCH.search(str(schema.get("description", ""))))
    match = _NAMED.fullmatch(name) or _CHANGED.fullmatch(name)
    if match is None and _PERIOD.fullmatch(name):
        match = _TIMED.search(str(schema.get("description", "")))
    is_other = (
        "format" in schema and _format_of_pattern(str(schema.get("pattern", "^$"))) is None
    )  # vendors name formats, too
    return kind in {"string", ""} and not is_other and match is not None


# generated times ------------------------------------------------------------------------------------------------------

HISTORY = timedelta(days=730)
"""The age of the oldest record of a world. Reports by year have two years to compare."""

_GROWTH = 1.6  # above 1: more records are new than old, as in a growing business
_SHORTER = 0.85  # per level of links: what links to a record is younger than it
_AHEAD = 3  # a forecast covers the next days
_OPENS, _HOURS = 7.0, 12.0  # from 7 to 19 o'clock: records of a business are rarely created at night
_DAY = 86_400
_LATELY = timedelta(days=90)  # changes happen soon after the creation; later ones are rare
_TO_COME = 0.4  # a good part of appointments lies ahead, so that lists of coming ones are not empty
_BEGUN = re.compile(
    r"(.*_)?(start|starts|started|begin|begins|from|check_?in|departure|pickup|admitted|admission|join|joined|clock_in)(_.*)?"
)
_ISSUED = re.compile(r"(.*_)?(issued?|invoice|loan|loaned|borrowed|checkout|lent|rented)_(at|on|date|time)|issued")
_CREATED = ("created_at", "createdAt", "created", "created_on", "date_created")

_LAST = datetime(9999, 12, 31, tzinfo=UTC)


@frozen
class Moment:
    """The creation time of a record, and the world's current time."""

    created: datetime
    now: datetime

    @classmethod
    def unknown(cls) -> Moment:
        """Return default times, for values that do not depend on time."""
        return cls(DEFAULT_NOW, DEFAULT_NOW)


def creation_time(index: int, count: int, chance: Chance, now: datetime, level: int = 0) -> datetime:
    """Return the creation time of the index-th of `count` records: after those before it, by day, never after `now`.

    The world grows: the later half of the records fills about a third of its history. Records that link to others start
    later; `level` is the length of their longest chain of links.
    """
    past = 1 - ((index + chance.unit()) / max(count, index + 1)) ** (1 / _GROWTH)
    return _by_day(now - HISTORY * _SHORTER**level * past, now)


def _by_day(moment: datetime, now: datetime) -> datetime:
    """Move a time into working hours. The order of times is kept."""
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    passed = (moment - start).total_seconds()
    until = (now - start).total_seconds()
    if until >= _DAY:
        return start + timedelta(seconds=int(_OPENS * 3600 + passed * _HOURS / 24))
    opens = min(_OPENS * 3600, until / 2)
    return start + timedelta(seconds=int(opens + passed * (until - opens) / max(until, 1)))


def time_maker(entity: str, name: str, schema: Record) -> Callable[[Chance, Record, Moment], Json]:
    """Return the maker of a time field's values."""
    noun, write = snake(entity.rpartition(".")[2]), time_formatter(name, schema)
    meaning = time_meaning(name, schema) or "past"
    first, last = noun.partition("_")[0], noun.rpartition("_")[2]
    if meaning == "start" and (noun in word_set("times", "recorded") or first in terms("states.ended")):
        meaning = "occurred"
    if meaning == "start" and first in word_set("states", "to_come"):  # an `upcoming_event`
        return _time_writer(lambda chance, _record, when: _to_come(chance, when), write)
    if meaning == "occurred" and last in word_set("times", "foretold"):
        return _time_writer(lambda chance, _record, when: when.now + timedelta(days=chance.below(_AHEAD)), write)
    if meaning == "end":
        length = rule_for("times", "lengths", "", noun)
        return _time_writer(lambda chance, record, when: _end(chance, record, when, length), write)
    return _time_writer(_MOMENTS[meaning], write)


def _time_writer(
    draw: Callable[[Chance, Record, Moment], datetime], write: Callable[[datetime], Json]
) -> Callable[[Chance, Record, Moment], Json]:
    def make(chance: Chance, record: Record, when: Moment) -> Json:
        try:
            return write(draw(chance, record, when))
        except OverflowError:  # what ends after 9999-12-31
            return write(_LAST)

    return make


def _past(chance: Chance, _record: Record, when: Moment) -> datetime:
    """Draw a time after the creation, mostly soon after it."""
    return when.created + min(_LATELY, when.now - when.created) * chance.unit() ** 2


def _recent(chance: Chance, _record: Record, when: Moment) -> datetime:
    """Draw a time in the last 60 days, mostly in the last few."""
    return when.now - min(timedelta(days=60), when.now - when.created) * chance.unit() ** 2


def _occurred(chance: Chance, record: Record, when: Moment) -> datetime:
    """Draw when the recorded event happened: at the creation, or up to 3 days before if the creation time is shown."""
    if not any(name in record for name in _CREATED):
        return when.created
    return when.created - timedelta(minutes=chance.below(3 * 24 * 60))


def _due(chance: Chance, record: Record, when: Moment) -> datetime:
    """Draw a due date: after the issue date, after the creation of a finished record, else around now or later."""
    issued = _first_time(record, _ISSUED)
    if issued is not None:
        return issued + timedelta(days=chance.choice((14, 21, 30)))
    if is_over(record):
        return _quarter(when.created + timedelta(days=chance.between(2, 45)), chance)
    days = chance.between(-12, 75) if chance.unit() < 0.8 else chance.between(60, 120)
    return _quarter(max(when.now + timedelta(days=days), when.created + timedelta(days=1)), chance)


def _start(chance: Chance, record: Record, when: Moment) -> datetime:
    """Draw a start: in the future for some records, else in the weeks after the creation."""
    status = status_of(record)
    is_to_come = chance.unit() < _TO_COME if status is None else status in word_set("states", "to_come")
    is_begun = status in terms("states.ended") | word_set("states", "under_way")
    if is_to_come or (status is not None and not is_begun and chance.unit() < _TO_COME):
        return _to_come(chance, when)
    planned = _quarter(when.created + timedelta(days=chance.between(1, 30)), chance)
    if status not in terms("states.ended") | word_set("states", "under_way") or planned < when.now:
        return planned
    return _quarter(when.now - timedelta(days=chance.between(1, 3)), chance)


def _to_come(chance: Chance, when: Moment) -> datetime:
    """Draw a time in the next weeks."""
    moment = _quarter(when.now + timedelta(days=chance.between(0, 45)), chance)
    return moment if moment > when.now else moment + timedelta(days=1)


def _expiry(chance: Chance, record: Record, when: Moment) -> datetime:
    status = status_of(record)
    if status == "expired":
        return _quarter(when.now - timedelta(days=chance.between(1, 60)), chance)
    low = 1 if status in word_set("states", "under_way") else -60
    return max(_quarter(when.now + timedelta(days=chance.between(low, 365)), chance), when.created + timedelta(days=30))


def _end(chance: Chance, record: Record, when: Moment, length: dict[str, Any] | None) -> datetime:
    """Draw an end after the record's start, and after now if it is under way. Without a start, draw an expiry."""
    start = _first_time(record, _BEGUN)
    end = _expiry(chance, record, when) if start is None else _ending(chance, start, length)
    if end > when.now or status_of(record) not in word_set("states", "under_way"):
        return end
    return when.now + timedelta(seconds=round((end - (start or end)).total_seconds() * chance.unit() / 60) * 60)


def _ending(chance: Chance, start: datetime, length: dict[str, Any] | None) -> datetime:
    """Draw an end after a start, by how long records of this kind last: two bounds and their unit."""
    whole_days = start.hour == start.minute == 0
    if length is not None and (length["unit"] == "day" or not whole_days):
        step, steps = _STEPS[length["unit"]]
        return start + step * chance.between(length["low"] * steps, length["high"] * steps)
    if whole_days:
        return start + timedelta(days=chance.between(1, 14))
    return start + timedelta(minutes=15 * chance.between(2, 8))


def _first_time(record: Record, names: re.Pattern[str]) -> datetime | None:
    """Return the time in the first field with such a name."""
    moments = (parse_time(value) for name, value in record.items() if names.fullmatch(snake(name)))
    return next((moment for moment in moments if moment is not None), None)


def _quarter(day: datetime, chance: Chance) -> datetime:
    """Draw a quarter of an hour in the working hours of a day."""
    return day.replace(hour=8 + chance.below(10), minute=15 * chance.below(4), second=0, microsecond=0)


_STEPS = {"min": (timedelta(minutes=1), 1), "h": (timedelta(minutes=5), 12), "day": (timedelta(days=1), 1)}
"""The steps in which lengths are drawn, and how many are one unit."""

_MOMENTS: dict[TimeMeaning, Callable[[Chance, Record, Moment], datetime]] = {
    "created": lambda _chance, _record, when: when.created,
    "updated": lambda chance, record, when: when.created if chance.unit() < 0.35 else _past(chance, record, when),
    "past": _past,
    "recent": _recent,
    "occurred": _occurred,
    "future": _due,
    "start": _start,
    "expiry": _expiry,
    "birth": lambda chance, _record, when: when.now - timedelta(days=365 * 20 + chance.below(365 * 45)),
}


_STATUS = ("status", "state", "stage", "phase")
_TYPES = ("type", "kind", "category", "filter")
_PHASES = word_set("states", "to_come") | terms("states.ended") | word_set("states", "under_way")


def status_of(record: Record) -> str | None:
    """Return the status of a record in snake case, or a state that its type names: `upcoming`, or None."""
    for name in _STATUS:
        value: Json = record.get(name)
        if isinstance(value, str):
            return snake(value)
    types = (value for name in _TYPES if isinstance(value := record.get(name), str))
    named = (state for value in types for state in words(value))
    return next((state for state in named if state in _PHASES), None)


def is_over(record: Record) -> bool:
    """Return whether a record is in a final state."""
    status = status_of(record)
    if status is not None:
        return status in terms("states.ended")
    return any(record.get(name) is True for name in ("completed", "done", "closed", "is_completed", "archived"))


def has_reached(step: str, record: Record, steps: Sequence[str]) -> bool | None:
    """Return whether a record has reached a step, None if unknown. `steps` are its possible states in order."""
    flag = next((record[name] for name in (step, f"is_{step}") if isinstance(record.get(name), bool)), None)
    if flag is not None:
        return flag
    status = status_of(record)
    if status is None:
        return False if step == "deleted" else None
    successful, aside = word_set("states", "successful"), word_set("states", "aside")
    if status == step or (step in successful and step not in steps and status in successful):
        return True
    if {step, status} & aside or not {step, status} <= set(steps):
        return False
    return steps.index(status) > steps.index(step)
