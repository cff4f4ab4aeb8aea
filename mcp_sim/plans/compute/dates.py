"""The current time, and times in other time zones."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from difflib import get_close_matches

from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Json

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
    if layout == "timestamp":
        return int(here.timestamp())
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
        begun = _moment(time)
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


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError:
        expected = "expected HH:MM or ISO 8601, such as 2030-01-31T09:00:00"
        raise Refused("invalid", f"Invalid time {text!r}: {expected}") from None


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


def _in_zone(here: datetime, there: tzinfo) -> datetime:
    """Return a time in a time zone. Raises `Refused` if it is out of range there."""
    try:
        return here.astimezone(there)
    except OverflowError:
        raise Refused("invalid", f"The time {here.isoformat()} is out of range in that timezone") from None
