"""Convert values of CSV files and SQLite tables to the types of fields."""

from __future__ import annotations

import re
from typing import Any

from mcp_sim.spec.messages import shown
from mcp_sim.types import Json
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import decode_strict

ABSENT: Any = object()
"""Returned if the field is to be left out."""

_WHOLE = re.compile(r"[+-]?\d+")
_YEAR_LAST = re.compile(r"\s*\d{1,2}([./-])\d{1,2}\1(\d{4}|\d\d)\b.*", re.DOTALL)
_YES, _NO = {"true", "yes", "1", "t", "y"}, {"false", "no", "0", "f", "n"}


@frozen
class FieldType:
    """The JSON types of a field except null, empty if it takes any. `is_name`: it is a key or a link."""

    kinds: tuple[str, ...]
    takes_null: bool
    is_name: bool = False


def from_text(text: str, wanted: FieldType) -> Json:
    """Convert a text of a CSV file; return `ABSENT` if it is empty. Raises `ValueError` if it has another type."""
    kinds = wanted.kinds
    if not text and (wanted.is_name or "string" not in kinds) and kinds:
        return None if wanted.takes_null else ABSENT
    if not kinds or "string" in kinds:
        return text
    for kind in kinds:
        result = _read(text.strip(), kind)
        if result is not ABSENT:
            return result
    raise ValueError(f"must be of type {' or '.join(kinds)}, not {shown(text)}")


def _read(text: str, kind: str) -> Json:
    """Parse a text as a value of a type; return `ABSENT` if it is invalid."""
    match kind:
        case "integer":
            return int(text) if _WHOLE.fullmatch(text) else ABSENT
        case "boolean":
            return True if text.lower() in _YES else False if text.lower() in _NO else ABSENT
        case _:
            return _parsed(text, kind)


def _parsed(text: str, kind: str) -> Json:
    try:
        result: Json = decode_strict(text)
    except ValueError:
        return ABSENT
    fits = {"number": int | float, "array": list, "object": dict}
    return result if isinstance(result, fits[kind]) and not isinstance(result, bool) else ABSENT


def from_sqlite(value: Any, wanted: FieldType) -> Json:
    """Convert a value of SQLite; return `ABSENT` if it is null and the field is not. Raises `ValueError` for binary."""
    if isinstance(value, bytes):
        raise ValueError("is binary; a record holds what JSON can")
    kind = wanted.kinds[0] if wanted.kinds else ""
    if value is None:
        return None if wanted.takes_null or not kind else ABSENT
    if kind in {"array", "object"} and isinstance(value, str):
        return from_text(value, wanted)
    return _from_number(value, kind) if isinstance(value, int | float) else value


def _from_number(value: float, kind: str) -> Json:
    if kind == "boolean" and value in (0, 1):
        return bool(value)
    if kind == "string":
        return str(value)
    return int(value) if kind == "integer" and isinstance(value, float) and value.is_integer() else value


def is_year_last(value: Json) -> bool:
    """Return whether a value is a date that ends with the year, such as 05/01/2030, whose month is ambiguous."""
    return isinstance(value, str) and _YEAR_LAST.fullmatch(value) is not None
