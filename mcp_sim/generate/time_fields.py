"""Recognise fields that hold times, and write their values."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache, lru_cache
from typing import Literal, TypeAlias

from mcp_sim.generate.shipped_data import rule_for, word_list
from mcp_sim.types import Json, Record
from mcp_sim.types.clock import iso_seconds
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.time_formats import example_of, time_format

TimeMeaning: TypeAlias = Literal[
    "created", "updated", "future", "start", "expiry", "birth", "occurred", "recent", "end", "past"
]

_NAMED = re.compile(
    r".*_(at|on|date|time|datetime|timestamp)|date.*|timestamp|deadline|due|dob|birthday|.*_since|check_?(in|out)"
)
_PERIOD = re.compile(r"starts?|ends?|begins?")
_TIMED = re.compile(r"\b(date|time|datetime|timestamp|iso|rfc)\b", re.IGNORECASE)
_CHANGED = re.compile(r"(last_)?(created|updated|modified|changed|edited)")
_COUNTED = re.compile(r".*(_at|timestamp|_date|_period_(start|end))|created|updated")
_EPOCH = re.compile(r"\b(unix|epoch)\b|\b(milli)?seconds since\b", re.IGNORECASE)
_FORMATS = {"date-time", "date", "time"}


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
    """Return the function that writes times in the form of this field: that of its example, if the schema has one."""
    given = time_format(example_of(schema))
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
    return kind in {"string", ""} and "format" not in schema and match is not None
