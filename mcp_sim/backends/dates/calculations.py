"""Compute the results of date and time operations."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta, tzinfo

from mcp_sim.backends.compute.operation import Arguments, ComputeContext
from mcp_sim.backends.dates.moments import (
    SECONDS,
    format_like,
    parse_moment,
    parse_zone,
    shift,
    strftime_pattern,
    with_zone,
)
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.lexicon.english import singular


def current_time(arguments: Arguments, context: ComputeContext) -> Json:
    """Return the current time in a time zone. Raises `Refused` if the zone or the format is unknown."""
    here = context.now.astimezone(parse_zone(arguments.get("timezone")))
    layout = arguments.get("format")
    if layout:
        pattern = strftime_pattern(str(layout))
        if pattern is None:
            raise Refused("invalid", f"Unknown format {layout!r}: expected a layout such as YYYY-MM-DD HH:mm:ss")
        return here.strftime(pattern)
    return {
        "timezone": arguments.get("timezone") or "UTC",
        "datetime": here.isoformat(timespec="seconds"),
        "day_of_week": here.strftime("%A"),
        "is_dst": bool(here.dst()),
        "date": here.strftime("%Y-%m-%d"),
        "time": here.strftime("%H:%M:%S"),
        "timestamp": int(here.timestamp()),
    }


def convert_time(arguments: Arguments, context: ComputeContext) -> Json:
    """Convert a time to another time zone. Raises `Refused` if the time or a zone is invalid."""
    source, target = parse_zone(arguments.get("source")), parse_zone(arguments.get("target"))
    clock = str(arguments["time"])
    if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", clock):
        hour, minute = (int(part) for part in clock.split(":")[:2])
        if hour > 23 or minute > 59:
            raise Refused("invalid", "Invalid time format. Expected HH:MM [24-hour format]")
        begun = context.now.astimezone(source).replace(hour=hour, minute=minute, second=0, microsecond=0)
    else:
        begun = parse_moment(arguments["time"], context.now)
        begun = begun.replace(tzinfo=source) if begun.tzinfo is None else _in_zone(begun, source)
    ended = _in_zone(begun, target)
    hours = ((ended.utcoffset() or timedelta()) - (begun.utcoffset() or timedelta())).total_seconds() / 3600
    return {
        "source": _zone_time(begun, arguments.get("source")),
        "target": _zone_time(ended, arguments.get("target")),
        "time_difference": f"{hours:+.1f}h" if hours * 10 == int(hours * 10) else f"{hours:+.2f}h",
    }


def _in_zone(here: datetime, there: tzinfo) -> datetime:
    try:
        return here.astimezone(there)
    except OverflowError:
        raise Refused("invalid", f"The time {here.isoformat()} is out of range in that timezone") from None


def _zone_time(here: datetime, name: Json) -> Json:
    return {
        "timezone": name or "UTC",
        "datetime": here.isoformat(timespec="seconds"),
        "day_of_week": here.strftime("%A"),
        "is_dst": bool(here.dst()),
    }


def shift_date(sign: int) -> Callable[[Arguments, ComputeContext], Json]:
    def moved(arguments: Arguments, context: ComputeContext) -> Json:
        start = parse_moment(arguments.get("date", "now"), context.now)
        parts = [(arguments["amount"], str(arguments.get("unit") or "days"))] if "amount" in arguments else []
        parts += [
            (arguments[unit], unit)
            for unit in ("years", "months", "weeks", "days", "hours", "minutes")
            if unit in arguments
        ]
        if not parts:
            raise Refused("invalid", "Nothing to add: give days, or an amount and a unit")
        found = start
        for amount, unit in parts:
            found = shift(found, sign * amount, unit)
        return format_like(found, arguments.get("date"))

    return moved


def difference(arguments: Arguments, context: ComputeContext) -> Json:
    """Return the time between two dates in a unit, in whole days by default.

    Raises `Refused` if a date or the unit is invalid.
    """
    first, second = (with_zone(parse_moment(arguments[name], context.now)) for name in ("first", "second"))
    seconds = (second - first).total_seconds()
    unit = arguments.get("unit")
    if unit is None:
        return int(seconds // 86400) if seconds >= 0 else -int(-seconds // 86400)
    name = singular(str(unit).strip().lower())
    if name in {"month", "year"}:
        months = (second.year - first.year) * 12 + second.month - first.month - (second.day < first.day)
        return months if name == "month" else int(months / 12)
    if name not in SECONDS:
        raise Refused(
            "invalid",
            f"Unknown unit {unit!r}. Supported units: {', '.join(f'{one}s' for one in SECONDS)}, months, years",
        )
    found = seconds / SECONDS[name]
    return int(found) if found == int(found) else found


def format_date(arguments: Arguments, context: ComputeContext) -> Json:
    """Format a date by a layout. Raises `Refused` if the layout, the date or the time zone is invalid."""
    pattern = strftime_pattern(str(arguments["format"]))
    if pattern is None:
        raise Refused(
            "invalid", f"Unknown format {arguments['format']!r}: expected a layout such as YYYY-MM-DD HH:mm:ss"
        )
    found = parse_moment(arguments.get("date", "now"), context.now)
    return (_in_zone(found, parse_zone(arguments["timezone"])) if arguments.get("timezone") else found).strftime(
        pattern
    )


def part_of_day(pattern: str) -> Callable[[Arguments, ComputeContext], Json]:
    return lambda arguments, context: parse_moment(arguments.get("date", "now"), context.now).strftime(pattern)


def age(arguments: Arguments, context: ComputeContext) -> Json:
    born = parse_moment(arguments["date"], context.now).date()
    today = context.now.date()
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def list_zones(arguments: Arguments, _context: ComputeContext) -> Json:
    from zoneinfo import available_timezones  # noqa: PLC0415 (slow to import, and seldom needed)

    wanted = str(arguments.get("filter") or "").lower()
    return sorted(name for name in available_timezones() if wanted in name.lower())


def valid_year(arguments: Arguments) -> int:
    """Return the year of a call. Raises `Refused` unless it is from 1 to 9999."""
    year = int(arguments["year"])
    if not 1 <= year <= 9999:
        raise Refused("invalid", f"Invalid year {year}: must be between 1 and 9999")
    return year


def days_in_month(arguments: Arguments, _context: ComputeContext) -> Json:
    """Return the number of days of a month. Raises `Refused` if the month or the year is invalid."""
    month = int(arguments["month"])
    if not 1 <= month <= 12:
        raise Refused("invalid", f"Invalid month {month}: must be between 1 and 12")
    return calendar.monthrange(valid_year(arguments), month)[1]


def is_weekend(arguments: Arguments, context: ComputeContext) -> Json:
    found: date = parse_moment(arguments["date"], context.now)
    return found.weekday() >= 5
