"""When did things happen to a record, seen from the moment it was made and from now?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.times import Sense, moment_of, sense, time_writer
from mcp_sim.types import Json, Record
from mcp_sim.types.clock import DEFAULT_NOW
from mcp_sim.types.lexicon.words import snake, vocabulary

HISTORY = timedelta(days=730)
"""How far back a world's oldest record reaches."""

_GROWTH = 1.6
_SHORTER = 0.85
_OPENS, _HOURS = 7.0, 12.0
_DAY = 86_400
_LATELY = timedelta(days=90)
_TO_COME = 0.4
_BEGUN = ("start", "begin", "from", "check_in", "checkin", "departure", "pickup", "admitted", "admission")
_ISSUED = ("issue", "invoice_date", "loaned", "borrowed", "lent", "rented")
_CREATED = ("created_at", "createdAt", "created", "created_on", "date_created")


@dataclass(frozen=True, slots=True)
class Moment:
    """When a record was made, and the world's now."""

    born: datetime
    now: datetime

    @classmethod
    def unknown(cls) -> Moment:
        """For values that have nothing to do with time."""
        return cls(DEFAULT_NOW, DEFAULT_NOW)


def born(index: int, count: int, chance: Chance, now: datetime, level: int = 0) -> datetime:
    """When the index-th of so many records was made: later than the ones before, in the daytime, never after `now`.

    The world grows: the later half of the records takes up about a third of its history. What links to others begins
    later than they do; `level` is how many of them stand between it and those that link to nothing.
    """
    past = 1 - ((index + chance.unit()) / max(count, index + 1)) ** (1 / _GROWTH)
    return _by_day(now - HISTORY * _SHORTER**level * past, now)


def _by_day(moment: datetime, now: datetime) -> datetime:
    """The moment, moved into the hours of the day in which people work; what was earlier stays earlier."""
    start = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    passed = (moment - start).total_seconds()
    until = (now - start).total_seconds()
    if until >= _DAY:
        return start + timedelta(seconds=int(_OPENS * 3600 + passed * _HOURS / 24))
    opens = min(_OPENS * 3600, until / 2)
    return start + timedelta(seconds=int(opens + passed * (until - opens) / max(until, 1)))


def time_maker(name: str, schema: Record) -> Callable[[Chance, Record, Moment], Json]:
    """The maker of a time field's values."""
    moment, write = _MOMENTS[sense(name, schema) or "past"], time_writer(name, schema)
    return lambda chance, record, when: write(moment(chance, record, when))


def _created(_chance: Chance, _record: Record, when: Moment) -> datetime:
    return when.born


def _updated(chance: Chance, record: Record, when: Moment) -> datetime:
    return when.born if chance.unit() < 0.35 else _past(chance, record, when)


def _past(chance: Chance, _record: Record, when: Moment) -> datetime:
    """Some time since; rather soon after the record was made."""
    return when.born + min(_LATELY, when.now - when.born) * chance.unit() ** 2


def _recent(chance: Chance, _record: Record, when: Moment) -> datetime:
    """Not long ago."""
    return when.now - min(timedelta(days=60), when.now - when.born) * chance.unit() ** 2


def _occurred(chance: Chance, record: Record, when: Moment) -> datetime:
    """What the record tells of: written down at once, or up to three days later where it tells when that was."""
    if not any(name in record for name in _CREATED):
        return when.born
    return when.born - timedelta(minutes=chance.below(3 * 24 * 60))


def _due(chance: Chance, record: Record, when: Moment) -> datetime:
    """Some weeks after it was issued; for what is over, after it began; for what is not, around now and later."""
    issued = _told(record, _ISSUED)
    if issued is not None:
        return issued + timedelta(days=chance.choice((14, 21, 30)))
    if is_over(record):
        return _quarter(when.born + timedelta(days=chance.between(2, 45)), chance)
    days = chance.between(-12, 75) if chance.unit() < 0.8 else chance.between(60, 120)
    return _quarter(max(when.now + timedelta(days=days), when.born + timedelta(days=1)), chance)


def _start(chance: Chance, record: Record, when: Moment) -> datetime:
    """Some are still to come; the others were in the weeks after they were planned."""
    status = status_of(record)
    is_to_come = chance.unit() < _TO_COME if status is None else status in TO_COME
    if is_to_come or (status is not None and status not in ENDED and chance.unit() < _TO_COME):
        return _quarter(when.now + timedelta(days=chance.between(0, 45)), chance)
    planned = _quarter(when.born + timedelta(days=chance.between(1, 30)), chance)
    if status not in ENDED or planned < when.now:
        return planned
    return _quarter(when.now - timedelta(days=chance.between(1, 3)), chance)


def _expiry(chance: Chance, _record: Record, when: Moment) -> datetime:
    return _quarter(max(when.now + timedelta(days=chance.between(-60, 365)), when.born + timedelta(days=30)), chance)


def _end(chance: Chance, record: Record, when: Moment) -> datetime:
    """Some time after the record's start, where it has one."""
    start = _told(record, _BEGUN)
    if start is None:
        return _expiry(chance, record, when)
    if start.hour == start.minute == 0:
        return start + timedelta(days=chance.between(1, 14))
    return start + timedelta(minutes=15 * chance.between(2, 8))


def _told(record: Record, names: tuple[str, ...]) -> datetime | None:
    """The moment that the first field with such a name tells."""
    for name, value in record.items():
        if name.lower().startswith(names):
            return moment_of(value)
    return None


def _quarter(day: datetime, chance: Chance) -> datetime:
    """A quarter of an hour in the working time of a day."""
    return day.replace(hour=8 + chance.below(10), minute=15 * chance.below(4), second=0, microsecond=0)


def _birth(chance: Chance, _record: Record, when: Moment) -> datetime:
    return when.now - timedelta(days=365 * 20 + chance.below(365 * 45))


_MOMENTS: dict[Sense, Callable[[Chance, Record, Moment], datetime]] = {
    "created": _created,
    "updated": _updated,
    "past": _past,
    "recent": _recent,
    "occurred": _occurred,
    "future": _due,
    "start": _start,
    "expiry": _expiry,
    "end": _end,
    "birth": _birth,
}


_STATUS = ("status", "state", "stage", "phase")
ENDED = vocabulary(
    "closed done completed complete resolved finished delivered paid won lost cancelled canceled rejected archived "
    "merged returned refunded churned expired fulfilled ended approved declined converted settled arrived departed "
    "discharged no_show missed checked_out failed"
)
"""States after which nothing more is to be done."""

TO_COME = vocabulary("scheduled upcoming planned boarding booked")
"""States of what has not happened yet."""

_DONE = vocabulary("closed done completed complete resolved finished ended fulfilled merged settled won delivered")
_ASIDE = vocabulary(
    "cancelled canceled rejected deleted archived failed refunded returned voided declined lost churned discharged"
)


def status_of(record: Record) -> str | None:
    """What the record says of its own state."""
    for name in _STATUS:
        value: Json = record.get(name)
        if isinstance(value, str):
            return snake(value)
    return None


def is_over(record: Record) -> bool:
    """Is nothing more to be done about it?"""
    status = status_of(record)
    if status is not None:
        return status in ENDED
    return any(record.get(name) is True for name in ("completed", "done", "closed", "is_completed", "archived"))


def has_come_to(step: str, record: Record, steps: Sequence[str]) -> bool | None:
    """Has the record come to this step? `steps` are its possible states in order. None where nothing tells."""
    flag = next((record[name] for name in (step, f"is_{step}") if isinstance(record.get(name), bool)), None)
    if flag is not None:
        return flag
    status = status_of(record)
    if status is None:
        return False if step == "deleted" else None
    if status == step or (step in _DONE and step not in steps and status in _DONE):
        return True
    if step in _ASIDE or status in _ASIDE or step not in steps or status not in steps:
        return False
    return steps.index(status) > steps.index(step)
