"""Functions of times, dates and time zones.

Those with a parameter `now` take the time of the call: "now", "today" and times without a date are relative to it.
"""

from __future__ import annotations

import calendar
import re
from datetime import datetime, timedelta

from mcp_sim.backends.compute.moments import (
    SECONDS,
    difference_in,
    format_like,
    in_zone,
    parse_moment,
    parse_zone,
    shift,
    strftime_pattern,
    with_zone,
)
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json

_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?")


def now(timezone: str | None = None, layout: str | None = None, *, now: datetime) -> Json:
    """Return the current time in a time zone. Raises `Refused` if the zone or the layout is unknown."""
    here = now.astimezone(parse_zone(timezone))
    if layout:
        return here.strftime(_pattern(layout))
    return {
        **_zone_time(here, timezone),
        "date": here.strftime("%Y-%m-%d"),
        "time": here.strftime("%H:%M:%S"),
        "timestamp": int(here.timestamp()),
    }


def convert_time(time: str, source: str, target: str, *, now: datetime) -> Json:
    """Convert a time to another time zone. Raises `Refused` if the time or a zone is invalid."""
    zone, clock = parse_zone(source), _CLOCK.fullmatch(time)
    if clock is not None:
        hour, minute = int(clock[1]), int(clock[2])
        if hour > 23 or minute > 59:
            raise Refused("invalid", "Invalid time format. Expected HH:MM [24-hour format]")
        begun = now.astimezone(zone).replace(hour=hour, minute=minute, second=0, microsecond=0)
    else:
        begun = parse_moment(time, now)
        begun = begun.replace(tzinfo=zone) if begun.tzinfo is None else in_zone(begun, zone)
    ended = in_zone(begun, parse_zone(target))
    hours = ((ended.utcoffset() or timedelta()) - (begun.utcoffset() or timedelta())).total_seconds() / 3600
    return {
        "source": _zone_time(begun, source),
        "target": _zone_time(ended, target),
        "time_difference": f"{hours:+.1f}h" if hours * 10 == int(hours * 10) else f"{hours:+.2f}h",
    }


def _zone_time(here: datetime, zone: str | None) -> dict[str, Json]:
    return {
        "timezone": zone or "UTC",
        "datetime": here.isoformat(timespec="seconds"),
        "day_of_week": here.strftime("%A"),
        "is_dst": bool(here.dst()),
    }


def _pattern(layout: str) -> str:
    pattern = strftime_pattern(layout)
    if pattern is None:
        raise Refused("invalid", f"Unknown format {layout!r}: expected a layout such as YYYY-MM-DD HH:mm:ss")
    return pattern


def add_to_date(
    date: str | None = None, amount: float | None = None, unit: str | None = None, *units: float | None, now: datetime
) -> str:
    """Add an amount of a unit to a date, and years, months, weeks, days, hours and minutes.

    Raises `Refused` if the date or the unit is invalid, or nothing is added.
    """
    return _shifted(date, 1, amount, unit, units, now)


def subtract_from_date(
    date: str | None = None, amount: float | None = None, unit: str | None = None, *units: float | None, now: datetime
) -> str:
    """Subtract what `add_to_date` adds."""
    return _shifted(date, -1, amount, unit, units, now)


def _shifted(
    date: str | None, sign: int, amount: float | None, unit: str | None, units: tuple[float | None, ...], now: datetime
) -> str:
    named = ("years", "months", "weeks", "days", "hours", "minutes")
    parts = [(amount, unit or "days"), *zip(units, named, strict=False)]
    found = parse_moment(date or "now", now)
    for number, name in parts:
        if number is not None:
            found = shift(found, sign * number, name)
    if all(number is None for number, _ in parts):
        raise Refused("invalid", "Nothing to add: give days, or an amount and a unit")
    return format_like(found, date)


def date_difference(first: str, second: str, unit: str | None = None, *, now: datetime) -> float:
    """Return the time between two dates in a unit, in whole days by default.

    Raises `Refused` if a date or the unit is invalid.
    """
    start, end = with_zone(parse_moment(first, now)), with_zone(parse_moment(second, now))
    return difference_in(start, end, unit) if unit else int((end - start).total_seconds() / SECONDS["day"])


def format_date(date: str, layout: str, timezone: str | None = None, *, now: datetime) -> str:
    """Format a date by a layout. Raises `Refused` if the layout, the date or the time zone is invalid."""
    pattern, found = _pattern(layout), parse_moment(date, now)
    return (in_zone(found, parse_zone(timezone)) if timezone else found).strftime(pattern)


def day_of_week(date: str, *, now: datetime) -> str:
    """Return the name of the day of a date. Raises `Refused` if the date is invalid."""
    return parse_moment(date, now).strftime("%A")


def week_number(date: str, *, now: datetime) -> int:
    """Return the ISO week of a date. Raises `Refused` if the date is invalid."""
    return parse_moment(date, now).isocalendar().week


def is_weekend(date: str, *, now: datetime) -> bool:
    """Return whether a date is a Saturday or Sunday. Raises `Refused` if the date is invalid."""
    return parse_moment(date, now).weekday() >= 5


def to_timestamp(date: str, *, now: datetime) -> int:
    """Return the seconds from the epoch to a time. Raises `Refused` if the time is invalid."""
    return int(with_zone(parse_moment(date, now)).timestamp())


def from_timestamp(timestamp: Json, timezone: str | None = None, *, now: datetime) -> str:
    """Return the time of a timestamp, in ISO format. Raises `Refused` if it or the zone is invalid."""
    return in_zone(parse_moment(timestamp, now), parse_zone(timezone)).isoformat()


def age(date: str, *, now: datetime) -> int:
    """Return the age in years of someone born on a date. Raises `Refused` if the date is invalid."""
    born = parse_moment(date, now)
    return now.year - born.year - ((now.month, now.day) < (born.month, born.day))


def list_timezones(wanted: str | None = None) -> list[str]:
    """Return the names of the time zones that contain a text."""
    from zoneinfo import available_timezones  # noqa: PLC0415 (slow to import, and seldom needed)

    return sorted(name for name in available_timezones() if (wanted or "").lower() in name.lower())


def is_leap_year(year: float) -> bool:
    """Return whether a year has 366 days. Raises `Refused` unless it is from 1 to 9999."""
    return calendar.isleap(_valid("year", year, 9999))


def days_in_month(year: float, month: float) -> int:
    """Return the number of days of a month. Raises `Refused` if the month or the year is invalid."""
    return calendar.monthrange(_valid("year", year, 9999), _valid("month", month, 12))[1]


def month_days(date: str | None = None, *, now: datetime) -> int:
    """Return the number of days of the month of a date. Raises `Refused` if the date is invalid."""
    found = parse_moment(date or "now", now)
    return calendar.monthrange(found.year, found.month)[1]


def _valid(name: str, value: float, most: int) -> int:
    if not 1 <= int(value) <= most:
        raise Refused("invalid", f"Invalid {name} {int(value)}: must be between 1 and {most}")
    return int(value)
