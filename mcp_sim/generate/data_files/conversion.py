"""What is a value of a CSV file or a SQLite table, as a value of the field that it is meant for?"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from mcp_sim.spec.messages import shown
from mcp_sim.types import Json
from mcp_sim.types.json_text import parsed

ABSENT: Any = object()
"""The field is left out."""

_WHOLE = re.compile(r"[+-]?\d+")
_YEAR_LAST = re.compile(r"\s*\d{1,2}([./-])\d{1,2}\1(\d{4}|\d\d)\b.*", re.DOTALL)
_YES, _NO = {"true", "yes", "1", "t", "y"}, {"false", "no", "0", "f", "n"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a field takes: the JSON types beside null, none where it takes any. A name is a key or a link."""

    kinds: tuple[str, ...]
    takes_null: bool
    is_name: bool = False


def of_text(text: str, wanted: Wanted) -> Json:
    """The value that a text stands for; ABSENT where it says nothing. Raises ValueError."""
    kinds = wanted.kinds
    if not text and (wanted.is_name or "string" not in kinds) and kinds:
        return None if wanted.takes_null else ABSENT
    if not kinds or "string" in kinds:
        return text
    for kind in kinds:
        found = _read(text.strip(), kind)
        if found is not ABSENT:
            return found
    raise ValueError(f"must be of type {' or '.join(kinds)}, not {shown(text)}")


def _read(text: str, kind: str) -> Json:
    """A text as a value of a type; ABSENT where it is none."""
    match kind:
        case "integer":
            return int(text) if _WHOLE.fullmatch(text) else ABSENT
        case "boolean":
            return True if text.lower() in _YES else False if text.lower() in _NO else ABSENT
        case _:
            return _parsed(text, kind)


def _parsed(text: str, kind: str) -> Json:
    try:
        found: Json = parsed(text)
    except ValueError:
        return ABSENT
    fits = {"number": int | float, "array": list, "object": dict}
    return found if isinstance(found, fits[kind]) and not isinstance(found, bool) else ABSENT


def of_loose(value: Any, wanted: Wanted) -> Json:
    """The value that one of SQLite stands for; ABSENT where it says nothing. Raises ValueError."""
    if isinstance(value, bytes):
        raise ValueError("is binary; a record holds what JSON can")
    kind = wanted.kinds[0] if wanted.kinds else ""
    if value is None:
        return None if wanted.takes_null or not kind else ABSENT
    if kind == "boolean" and value in (0, 1):
        return bool(value)
    if kind in {"array", "object"} and isinstance(value, str):
        return of_text(value, wanted)
    if kind == "string" and isinstance(value, int | float):
        return str(value)
    return int(value) if kind == "integer" and isinstance(value, float) and value.is_integer() else value


def is_year_last(value: Json) -> bool:
    """Is a value a date like 05/01/2030, of which nobody can tell whether it is in January or in May?"""
    return isinstance(value, str) and _YEAR_LAST.fullmatch(value) is not None
