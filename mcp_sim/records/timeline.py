"""When did things happen to a record, seen from the moment it was made and from now?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from mcp_sim.clock import DEFAULT_NOW
from mcp_sim.records.chance import Chance
from mcp_sim.records.times import Sense, moment_of, sense, written
from mcp_sim.types import Json, Record

HISTORY = timedelta(days=730)
"""How far back a world's oldest record reaches."""

_HALF = 50


@dataclass(frozen=True, slots=True)
class Moment:
    """When a record was made, and the world's now."""

    born: datetime
    now: datetime

    @classmethod
    def unknown(cls) -> Moment:
        """For values that have nothing to do with time."""
        return cls(DEFAULT_NOW, DEFAULT_NOW)


def born(index: int, chance: Chance, now: datetime) -> datetime:
    """When the index-th record of an entity was made: later than the ones before, whatever follows; never after `now`.

    The world grows ever faster: half of its history has passed after 50 records, nine tenths after 450.
    """
    place = index + chance.unit()
    moment = now - HISTORY * (_HALF / (_HALF + place))
    return moment.replace(microsecond=0)


def time_maker(name: str, schema: Record) -> Callable[[Chance, Record, Moment], Json]:
    """The maker of a time field's values."""
    moment = _MOMENTS[sense(name, schema) or "past"]
    return lambda chance, record, when: written(moment(chance, record, when), name, schema)


def _created(_chance: Chance, _record: Record, when: Moment) -> datetime:
    return when.born


def _updated(chance: Chance, record: Record, when: Moment) -> datetime:
    return when.born if chance.unit() < 0.4 else _past(chance, record, when)


def _past(chance: Chance, _record: Record, when: Moment) -> datetime:
    return when.born + (when.now - when.born) * chance.unit()


def _occurred(chance: Chance, _record: Record, when: Moment) -> datetime:
    return when.born - timedelta(minutes=chance.below(3 * 24 * 60))


def _future(chance: Chance, _record: Record, when: Moment) -> datetime:
    day = (when.now + timedelta(days=chance.between(-30, 90))).replace(minute=0, second=0)
    return day.replace(hour=8 + chance.below(10), minute=15 * chance.below(4))


def _end(chance: Chance, record: Record, when: Moment) -> datetime:
    """Some time after the record's start, where it has one."""
    start = next(
        (moment_of(value) for name, value in record.items() if name.startswith(("start", "begin", "from"))), None
    )
    if start is None:
        return _future(chance, record, when)
    return start + timedelta(minutes=15 * chance.between(2, 8))


def _birth(chance: Chance, _record: Record, when: Moment) -> datetime:
    return when.now - timedelta(days=365 * 20 + chance.below(365 * 45))


_MOMENTS: dict[Sense, Callable[[Chance, Record, Moment], datetime]] = {
    "created": _created,
    "updated": _updated,
    "past": _past,
    "occurred": _occurred,
    "future": _future,
    "end": _end,
    "birth": _birth,
}
