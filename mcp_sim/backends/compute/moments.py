"""Parse, shift and format times, time zones and layouts."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, datetime, time, timedelta, tzinfo
from difflib import get_close_matches

from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.lexicon.english import singular

_PATTERNS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y/%m/%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d %B %Y",
    "%B %d, %Y", "%b %d, %Y", "%d %b %Y", "%Y%m%d",
)  # fmt: skip
SECONDS = {
    "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800, "millisecond": 0.001,
}  # fmt: skip
_TOKENS = (
    ("YYYY", "%Y"), ("yyyy", "%Y"), ("MMMM", "%B"), ("MMM", "%b"), ("MM", "%m"), ("DD", "%d"), ("dd", "%d"),
    ("dddd", "%A"), ("HH", "%H"), ("hh", "%I"), ("mm", "%M"), ("SS", "%S"), ("ss", "%S"), ("AM/PM", "%p"), ("A", "%p"),
)  # fmt: skip
_LAYOUT = re.compile("|".join(re.escape(token) for token, _ in sorted(_TOKENS, key=lambda pair: -len(pair[0]))))
_WRITTEN = re.compile(
    r"\b(?:[Yy]{4}-MM-[Dd]{2}(?:[ T]HH:mm(?::[Ss]{2})?|[ T]HH:MM(?::SS)?)?|[Hh]{2}:(?:MM|mm)(?::[Ss]{2})?(?: AM/PM)?)"
)


def parse_zone(name: str | None) -> tzinfo:
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
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _of_epoch(value)
    text = str(value).strip()
    relative = {"now": 0, "today": 0, "yesterday": -1, "tomorrow": 1}.get(text.lower())
    if relative is not None:
        found = now + timedelta(days=relative)
        return found if text.lower() == "now" else datetime.combine(found.date(), time(), found.tzinfo)
    if re.fullmatch(r"\d{10}(?:\d{3})?", text):
        return _of_epoch(int(text))
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    for pattern in _PATTERNS:
        try:
            return datetime.strptime(text, pattern)  # noqa: DTZ007 (a date without a zone stays one)
        except ValueError:
            continue
    raise Refused("invalid", f"Invalid date {value!r}: expected ISO 8601, such as 2030-01-31 or 2030-01-31T09:00:00")


def strftime_pattern(layout: str) -> str | None:
    """Convert a layout such as `YYYY-MM-DD HH:mm` for strftime. Return None if it is no layout."""
    if "%" in layout:
        return layout
    named = {"iso": "%Y-%m-%dT%H:%M:%S%z", "date": "%Y-%m-%d", "time": "%H:%M:%S", "datetime": "%Y-%m-%d %H:%M:%S"}
    if layout.lower() in {"iso8601", "iso 8601", "iso-8601"} or layout.lower() in named:
        return named.get(layout.lower(), named["iso"])
    minutes = re.sub(r"(?<=[Hh]{2}:)MM", "mm", layout)
    found = _LAYOUT.sub(lambda hit: dict(_TOKENS)[hit[0]], minutes)
    if "%p" in found:
        found = found.replace("%H", "%I")
    return found if found != minutes else None


def layout_in(text: str) -> str | None:
    """Return the layout that a description mentions (`in HH:MM AM/PM format`), None if there is none."""
    hit = _WRITTEN.search(text)
    return strftime_pattern(hit[0]) if hit is not None else None


def _of_epoch(value: float) -> datetime:
    try:
        return datetime.fromtimestamp(value / 1000 if abs(value) > 1e11 else value, UTC)
    except (OverflowError, ValueError, OSError):
        raise Refused("invalid", f"Timestamp {value} is out of range") from None


def format_like(found: datetime, like: Json) -> str:
    """Format a time like another value: a date stays a date, a layout stays a layout."""
    text = str(like).strip()
    if isinstance(like, str):
        for pattern in _PATTERNS:
            try:
                if datetime.strptime(text, pattern).strftime(pattern) == text and found.time() == time():  # noqa: DTZ007 (only its form is looked at)
                    return found.strftime(pattern)
            except ValueError:
                continue
    return found.isoformat()


def shift(start: datetime, amount: float, unit: str) -> datetime:
    """Add an amount of a unit to a date. Raises `Refused` if the unit is unknown or the result is out of range."""
    name = singular(unit.strip().lower())
    try:
        if name in {"month", "year", "quarter"}:
            return _by_months(start, int(amount * {"month": 1, "quarter": 3, "year": 12}[name]))
        if name not in SECONDS:
            known = [*(f"{one}s" for one in SECONDS), "months", "quarters", "years"]
            raise Refused("invalid", f"Unknown unit {unit!r}. Supported units: {', '.join(known)}")
        return start + timedelta(seconds=amount * SECONDS[name])
    except (OverflowError, ValueError):
        raise Refused("invalid", f"The date {amount} {unit} from {start.isoformat()} is out of range") from None


def _by_months(start: datetime, months: int) -> datetime:
    year, month = divmod(start.year * 12 + start.month - 1 + months, 12)
    last = calendar.monthrange(year, month + 1)[1]
    return start.replace(year=year, month=month + 1, day=min(start.day, last))


def difference_in(first: datetime, second: datetime, unit: str) -> float:
    """Return the time between two times in a unit. Raises `Refused` if the unit is unknown."""
    name = singular(unit.strip().lower())
    if name in {"month", "year"}:
        months = (second.year - first.year) * 12 + second.month - first.month - (second.day < first.day)
        return months if name == "month" else int(months / 12)
    if name not in SECONDS:
        known = ", ".join(f"{one}s" for one in SECONDS)
        raise Refused("invalid", f"Unknown unit {unit!r}. Supported units: {known}, months, years")
    found = (second - first).total_seconds() / SECONDS[name]
    return int(found) if found == int(found) else found


def in_zone(here: datetime, there: tzinfo) -> datetime:
    """Return a time in a time zone. Raises `Refused` if it is out of range there."""
    try:
        return here.astimezone(there)
    except OverflowError:
        raise Refused("invalid", f"The time {here.isoformat()} is out of range in that timezone") from None


def with_zone(found: datetime) -> datetime:
    """Return a time with a time zone, UTC if it has none."""
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
