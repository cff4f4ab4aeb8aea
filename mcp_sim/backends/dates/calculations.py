"""Compute the results of date and time operations."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from datetime import date, datetime, timedelta, tzinfo

from mcp_sim.backends.dates.moments import LENGTHS, moment, pattern_of, shifted, written_like, zone, zoned
from mcp_sim.backends.operation import Circumstances, Given
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.lexicon.words import singular


def told_now(given: Given, around: Circumstances) -> Json:
    here = around.now.astimezone(zone(given.get("timezone")))
    layout = given.get("format")
    if layout:
        pattern = pattern_of(str(layout))
        if pattern is None:
            raise Refused("invalid", f"Unknown format {layout!r}: expected a layout such as YYYY-MM-DD HH:mm:ss")
        return here.strftime(pattern)
    return {
        "timezone": given.get("timezone") or "UTC",
        "datetime": here.isoformat(timespec="seconds"),
        "day_of_week": here.strftime("%A"),
        "is_dst": bool(here.dst()),
        "date": here.strftime("%Y-%m-%d"),
        "time": here.strftime("%H:%M:%S"),
        "timestamp": int(here.timestamp()),
    }


def converted(given: Given, around: Circumstances) -> Json:
    source, target = zone(given.get("source")), zone(given.get("target"))
    clock = str(given["time"])
    if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2})?", clock):
        hour, minute = (int(part) for part in clock.split(":")[:2])
        if hour > 23 or minute > 59:
            raise Refused("invalid", "Invalid time format. Expected HH:MM [24-hour format]")
        begun = around.now.astimezone(source).replace(hour=hour, minute=minute, second=0, microsecond=0)
    else:
        begun = moment(given["time"], around.now)
        begun = begun.replace(tzinfo=source) if begun.tzinfo is None else _elsewhere(begun, source)
    ended = _elsewhere(begun, target)
    hours = ((ended.utcoffset() or timedelta()) - (begun.utcoffset() or timedelta())).total_seconds() / 3600
    return {
        "source": _there(begun, given.get("source")),
        "target": _there(ended, given.get("target")),
        "time_difference": f"{hours:+.1f}h" if hours * 10 == int(hours * 10) else f"{hours:+.2f}h",
    }


def _elsewhere(here: datetime, there: tzinfo) -> datetime:
    try:
        return here.astimezone(there)
    except OverflowError:
        raise Refused("invalid", f"The time {here.isoformat()} is out of range in that timezone") from None


def _there(here: datetime, name: Json) -> Json:
    return {
        "timezone": name or "UTC",
        "datetime": here.isoformat(timespec="seconds"),
        "day_of_week": here.strftime("%A"),
        "is_dst": bool(here.dst()),
    }


def added(sign: int) -> Callable[[Given, Circumstances], Json]:
    def moved(given: Given, around: Circumstances) -> Json:
        start = moment(given.get("date", "now"), around.now)
        parts = [(given["amount"], str(given.get("unit") or "days"))] if "amount" in given else []
        parts += [
            (given[unit], unit) for unit in ("years", "months", "weeks", "days", "hours", "minutes") if unit in given
        ]
        if not parts:
            raise Refused("invalid", "Nothing to add: give days, or an amount and a unit")
        found = start
        for amount, unit in parts:
            found = shifted(found, sign * amount, unit)
        return written_like(found, given.get("date"))

    return moved


def between(given: Given, around: Circumstances) -> Json:
    first, second = (zoned(moment(given[name], around.now)) for name in ("first", "second"))
    seconds = (second - first).total_seconds()
    unit = given.get("unit")
    if unit is None:
        return int(seconds // 86400) if seconds >= 0 else -int(-seconds // 86400)
    name = singular(str(unit).strip().lower())
    if name in {"month", "year"}:
        months = (second.year - first.year) * 12 + second.month - first.month - (second.day < first.day)
        return months if name == "month" else int(months / 12)
    if name not in LENGTHS:
        raise Refused(
            "invalid",
            f"Unknown unit {unit!r}. Supported units: {', '.join(f'{one}s' for one in LENGTHS)}, months, years",
        )
    found = seconds / LENGTHS[name]
    return int(found) if found == int(found) else found


def formatted(given: Given, around: Circumstances) -> Json:
    pattern = pattern_of(str(given["format"]))
    if pattern is None:
        raise Refused("invalid", f"Unknown format {given['format']!r}: expected a layout such as YYYY-MM-DD HH:mm:ss")
    found = moment(given.get("date", "now"), around.now)
    return (_elsewhere(found, zone(given["timezone"])) if given.get("timezone") else found).strftime(pattern)


def part_of_day(pattern: str) -> Callable[[Given, Circumstances], Json]:
    return lambda given, around: moment(given.get("date", "now"), around.now).strftime(pattern)


def age(given: Given, around: Circumstances) -> Json:
    born = moment(given["date"], around.now).date()
    today = around.now.date()
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))


def zones_known(given: Given, _around: Circumstances) -> Json:
    from zoneinfo import available_timezones  # noqa: PLC0415 (slow to import, and seldom needed)

    wanted = str(given.get("filter") or "").lower()
    return sorted(name for name in available_timezones() if wanted in name.lower())


def year_of(given: Given) -> int:
    year = int(given["year"])
    if not 1 <= year <= 9999:
        raise Refused("invalid", f"Invalid year {year}: must be between 1 and 9999")
    return year


def days_in_month(given: Given, _around: Circumstances) -> Json:
    month = int(given["month"])
    if not 1 <= month <= 12:
        raise Refused("invalid", f"Invalid month {month}: must be between 1 and 12")
    return calendar.monthrange(year_of(given), month)[1]


def is_weekend(given: Given, around: Circumstances) -> Json:
    found: date = moment(given["date"], around.now)
    return found.weekday() >= 5
