"""Which fields hold times, which of them say when a record was made or changed, and how is a moment written there?"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

from mcp_sim.clock import iso
from mcp_sim.schemas import main_type
from mcp_sim.types import Json, Record
from mcp_sim.words import snake

Sense: TypeAlias = Literal["created", "updated", "future", "birth", "occurred", "end", "past"]

_CREATED = re.compile(
    r"created(_at|_on|_date|_time|_timestamp)?|date_created|creation_(date|time)|inserted_at|added_at"
)
_UPDATED = re.compile(
    r"(updated|modified|changed|edited)(_at|_on|_date|_time)?|last_(updated|modified|changed|edited)(_at|_on|_date|_time)?|"
    r"date_(updated|modified)|modification_(date|time)"
)
_FUTURE = re.compile(
    r"due|.*(due|deadline|expected|scheduled|expir|planned|start|begin|departure|arrival|delivery|renew).*"
)
_BIRTH = re.compile(r".*birth.*|dob")
_OCCURRED = re.compile(
    r"date|time|timestamp|occurred.*|.*(sent|received|posted|logged|ordered|placed)_(at|on)|.*_date|day"
)
_END = re.compile(r"(end|ends|finish|until)(_.*)?|.*_(end|until)")
_SENSES: tuple[tuple[re.Pattern[str], Sense], ...] = (
    (_CREATED, "created"),
    (_UPDATED, "updated"),
    (_BIRTH, "birth"),
    (_END, "end"),
    (_FUTURE, "future"),
    (_OCCURRED, "occurred"),
)
_NAMED = re.compile(r".*_(at|on|date|time|datetime|timestamp)|date.*|timestamp|deadline|due|dob|birthday|.*_since")
_FORMATS = {"date-time", "date", "time"}


def sense(name: str, schema: Record) -> Sense | None:
    """What a field's time means, by its name; None where the field holds no time."""
    name = snake(name)
    if not _holds_time(name, schema):
        return None
    for pattern, meaning in _SENSES:
        if pattern.fullmatch(name):
            return meaning
    return "past"


def written(moment: datetime, name: str, schema: Record) -> Json:
    """The moment as this field writes it: RFC 3339, a date, a time of day, or seconds since 1970."""
    kind = main_type(schema)
    if kind in {"integer", "number"}:
        seconds = int(moment.timestamp())
        return seconds * 1000 if schema.get("minimum", 0) > 10**11 or snake(name).endswith("_ms") else seconds
    days = re.fullmatch(r".*_date|date|day|dob|birthday", snake(name))
    form = schema.get("format") or ("date" if days else "date-time")
    if form == "date":
        return moment.date().isoformat()
    return moment.strftime("%H:%M:%SZ") if form == "time" else iso(moment.replace(microsecond=0))


def moment_of(value: Json) -> datetime | None:
    """The moment that a value tells: RFC 3339, a date (its beginning) or seconds since 1970; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        seconds = value / 1000 if value > 10**11 else value
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds) if 0 <= seconds < 10**11 else None
    if not isinstance(value, str) or not value[:4].isdigit():
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _holds_time(name: str, schema: Record) -> bool:
    kind = main_type(schema)
    if schema.get("format") in _FORMATS and kind in {"string", ""}:
        return True
    if kind in {"integer", "number"}:
        return bool(re.fullmatch(r".*(_at|timestamp)|created|updated", name))
    named = any(pattern.fullmatch(name) for pattern in (_NAMED, _CREATED, _UPDATED))
    return kind in {"string", ""} and "format" not in schema and named
