"""Functions of times, dates and time zones.

Those with a parameter `now` take the time of the call: "now", "today" and times without a date are relative to it.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta, tzinfo
from difflib import get_close_matches

from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.lexicon.english import singular

_PATTERNS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d %B %Y",
    "%B %d, %Y", "%b %d, %Y", "%d %b %Y", "%Y%m%d",
)  # fmt: skip
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "millisecond": 0.001}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_TOKENS = (
    ("YYYY", "%Y"), ("yyyy", "%Y"), ("MMMM", "%B"), ("MMM", "%b"), ("MM", "%m"), ("DD", "%d"), ("dd", "%d"),
    ("dddd", "%A"), ("HH", "%H"), ("hh", "%I"), ("mm", "%M"), ("SS", "%S"), ("ss", "%S"), ("AM/PM", "%p"), ("A", "%p"),
)  # fmt: skip
_LAYOUT = re.compile("|".join(re.escape(token) for token, _ in sorted(_TOKENS, key=lambda pair: -len(pair[0]))))
_WRITTEN = re.compile(
    r"\b(?:[Yy]{4}-MM-[Dd]{2}(?:[ T]HH:mm(?::[Ss]{2})?|[ T]HH:MM(?::SS)?)?|[Hh]{2}:(?:MM|mm)(?::[Ss]{2})?(?: AM/PM)?)"
)
_CLOCK = re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?")


def now(timezone: str | None = None, layout: str | None = None, *, now: datetime) -> Json:
    """Return the current time in a time zone. Raises `Refused` if the zone or the layout is unknown."""
    here = now.astimezone(_zone(timezone))
    if layout:
        return here.strftime(_pattern(layout))
    return {
        **_time_in(here, timezone),
        "date": here.strftime("%Y-%m-%d"),
        "time": here.strftime("%H:%M:%S"),
        "timestamp": int(here.timestamp()),
    }


def convert_time(time: str, source: str, target: str, *, now: datetime) -> Json:
    """Convert a time to another time zone. Raises `Refused` if the time or a zone is invalid."""
    zone, clock = _zone(source), _CLOCK.fullmatch(time)
    if clock is not None:
        hour, minute = int(clock[1]), int(clock[2])
        if hour > 23 or minute > 59:
            raise Refused("invalid", "Invalid time format. Expected HH:MM [24-hour format]")
        begun = now.astimezone(zone).replace(hour=hour, minute=minute, second=0, microsecond=0)
    else:
        begun = parse_moment(time, now)
        begun = begun.replace(tzinfo=zone) if begun.tzinfo is None else _in_zone(begun, zone)
    ended = _in_zone(begun, _zone(target))
    hours = ((ended.utcoffset() or timedelta()) - (begun.utcoffset() or timedelta())).total_seconds() / 3600
    return {
        "source": _time_in(begun, source),
        "target": _time_in(ended, target),
        "time_difference": f"{hours:+.1f}h" if hours * 10 == int(hours * 10) else f"{hours:+.2f}h",
    }


def _time_in(here: datetime, zone: str | None) -> dict[str, Json]:
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
    date: str | None = None, amount: float | None = None, unit: str | None = None, *units: float | None, now: datetime,
    sign: int = 1,
) -> str:  # fmt: skip
    """Add amounts of units of time to a date. Raises `Refused` if nothing is added, or the date or a unit is wrong."""
    named = ("years", "months", "weeks", "days", "hours", "minutes")
    parts = [(amount, unit or "days"), *zip(units, named, strict=False)]
    moment = parse_moment(date or "now", now)
    for number, name in parts:
        if number is not None:
            moment = _shift(moment, sign * number, name)
    if all(number is None for number, _ in parts):
        raise Refused("invalid", "Nothing to add: give days, or an amount and a unit")
    return _format_like(moment, date)


def subtract_from_date(
    date: str | None = None, amount: float | None = None, unit: str | None = None, *units: float | None, now: datetime
) -> str:
    """Subtract what `add_to_date` adds."""
    return add_to_date(date, amount, unit, *units, now=now, sign=-1)


def date_difference(first: str, second: str, unit: str | None = None, *, now: datetime) -> float:
    """Return the time between two dates in a unit, by default in whole days. Raises `Refused` if one is invalid."""
    start, end = _with_zone(parse_moment(first, now)), _with_zone(parse_moment(second, now))
    return _difference(start, end, unit) if unit else int((end - start).total_seconds() / _SECONDS["day"])


def format_date(date: str, layout: str, timezone: str | None = None, *, now: datetime) -> str:
    """Format a date by a layout. Raises `Refused` if the layout, the date or the time zone is invalid."""
    pattern, moment = _pattern(layout), parse_moment(date, now)
    return (_in_zone(moment, _zone(timezone)) if timezone else moment).strftime(pattern)


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
    return int(_with_zone(parse_moment(date, now)).timestamp())


def from_timestamp(timestamp: Json, timezone: str | None = None, *, now: datetime) -> str:
    """Return the time of a timestamp, in ISO format. Raises `Refused` if it or the zone is invalid."""
    return _in_zone(parse_moment(timestamp, now), _zone(timezone)).isoformat()


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
    moment = parse_moment(date or "now", now)
    return calendar.monthrange(moment.year, moment.month)[1]


def _valid(name: str, value: float, most: int) -> int:
    if not 1 <= int(value) <= most:
        raise Refused("invalid", f"Invalid {name} {int(value)}: must be between 1 and {most}")
    return int(value)


def _zone(name: str | None) -> tzinfo:
    """Return a time zone by name, UTC by default. Raises `Refused`, which lists similar names."""
    if not name or name.upper() in {"UTC", "GMT", "Z"}:
        return UTC
    offset = re.fullmatch(r"(?:UTC|GMT)?([+-](?:[01]?\d|2[0-3])):?([0-5]\d)?", name)
    if offset is not None:
        return datetime.fromisoformat(f"2000-01-01T00:00{int(offset[1]):+03d}:{offset[2] or '00'}").tzinfo or UTC
    from zoneinfo import ZoneInfo, available_timezones  # noqa: PLC0415 (slow to import, and seldom needed)

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        near = get_close_matches(name.replace(" ", "_"), available_timezones(), n=3, cutoff=0.5)
        hint = f" Did you mean {' or '.join(near)}?" if near else " Use an IANA name such as Europe/Amsterdam."
        raise Refused("invalid", f"Invalid timezone: No time zone found with key {name!r}.{hint}") from None


def parse_moment(value: Json, now: datetime) -> datetime:
    """Parse a text or an epoch number. Raises `Refused`, which lists the supported forms."""
    text, is_number = str(value).strip(), isinstance(value, int | float) and not isinstance(value, bool)
    if is_number or re.fullmatch(r"\d{10}(?:\d{3})?", text):
        return _of_epoch(value if is_number else int(text))
    relative = {"now": 0, "today": 0, "yesterday": -1, "tomorrow": 1}.get(text.lower())
    if relative is not None:
        moment = now + timedelta(days=relative)
        return moment if text.lower() == "now" else datetime.combine(moment.date(), time(), moment.tzinfo)
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    read = next(_parsed(text), None)
    if read is not None:
        return read[1]
    raise Refused("invalid", f"Invalid date {value!r}: expected ISO 8601, such as 2030-01-31 or 2030-01-31T09:00:00")


def _of_epoch(value: float) -> datetime:
    try:
        return datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, UTC)
    except (OverflowError, ValueError, OSError):
        raise Refused("invalid", f"Timestamp {value} is out of range") from None


def _parsed(text: str) -> Iterator[tuple[str, datetime]]:
    """Yield the usual patterns that a text fits, with its time."""
    for pattern in _PATTERNS:
        with suppress(ValueError):
            yield pattern, datetime.strptime(text, pattern)  # noqa: DTZ007 (a date without a zone stays one)


def strftime_pattern(layout: str) -> str | None:
    """Convert a layout such as `YYYY-MM-DD HH:mm` for strftime. Return None if it is not a layout."""
    if "%" in layout:
        return layout
    named = {"iso": "%Y-%m-%dT%H:%M:%S%z", "date": "%Y-%m-%d", "time": "%H:%M:%S", "datetime": "%Y-%m-%d %H:%M:%S"}
    if layout.lower() in {"iso8601", "iso 8601", "iso-8601"} or layout.lower() in named:
        return named.get(layout.lower(), named["iso"])
    minutes = re.sub(r"(?<=[Hh]{2}:)MM", "mm", layout)
    pattern = _LAYOUT.sub(lambda hit: dict(_TOKENS)[hit[0]], minutes)
    if "%p" in pattern:
        pattern = pattern.replace("%H", "%I")
    return pattern if pattern != minutes else None


def layout_in(text: str) -> str | None:
    """Return the layout that a description mentions (`in HH:MM AM/PM format`), or None."""
    hit = _WRITTEN.search(text)
    return strftime_pattern(hit[0]) if hit is not None else None


def _format_like(moment: datetime, like: Json) -> str:
    """Format a time like another value: a date stays a date, a layout stays a layout."""
    if isinstance(like, str) and moment.time() == time():
        for pattern, read in _parsed(like.strip()):
            if read.strftime(pattern) == like.strip():
                return moment.strftime(pattern)
    return moment.isoformat()


def _unit(text: str) -> str:
    name = singular(text.strip().lower())
    if name not in _SECONDS and name not in _MONTHS:
        known = ", ".join(f"{second}s" for second in (*_SECONDS, *_MONTHS))
        raise Refused("invalid", f"Unknown unit {text!r}. Supported units: {known}")
    return name


def _shift(start: datetime, amount: float, unit: str) -> datetime:
    name = _unit(unit)
    try:
        if name in _SECONDS:
            return start + timedelta(seconds=amount * _SECONDS[name])
        year, month = divmod(start.year * 12 + start.month - 1 + int(amount * _MONTHS[name]), 12)
        last = calendar.monthrange(year, month + 1)[1]
        return start.replace(year=year, month=month + 1, day=min(start.day, last))
    except (OverflowError, ValueError):
        raise Refused("invalid", f"The date {amount} {unit} from {start.isoformat()} is out of range") from None


def _difference(first: datetime, second: datetime, unit: str) -> float:
    name = _unit(unit)
    if name in _SECONDS:
        number = (second - first).total_seconds() / _SECONDS[name]
        return int(number) if number == int(number) else number
    months = (second.year - first.year) * 12 + second.month - first.month - (second.day < first.day)
    return int(months / _MONTHS[name])


def _in_zone(here: datetime, there: tzinfo) -> datetime:
    """Return a time in a time zone. Raises `Refused` if it is out of range there."""
    try:
        return here.astimezone(there)
    except OverflowError:
        raise Refused("invalid", f"The time {here.isoformat()} is out of range in that timezone") from None


def _with_zone(moment: datetime) -> datetime:
    """Return a time with a time zone, UTC if it lacks one."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
