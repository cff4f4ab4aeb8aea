"""Convert values to the types of a schema: a text to lines, a row to its name, a number to an integer."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeAlias, cast

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    fitting_type,
    is_nullable,
    items,
    main_type,
    properties,
)
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.terms import terms

ABSENT: Any = object()
"""Returned if there is no value."""

_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d.*(Z|[+-]\d\d:?\d\d)$")

RenderRow: TypeAlias = Callable[[Record, Record], Record]
"""Renders a row under the schema of rows."""

_NAME_FIELDS = terms("fields.naming")


def convert_value(value: Json, schema: Record, render_row: RenderRow) -> Json:
    """Return the value in the form of a schema, `ABSENT` if it cannot be converted."""
    if value is None:
        return None if is_nullable(schema) or not main_type(schema) else ABSENT
    typed = _typed(value, schema, render_row)
    choices = constants(schema)
    if typed is ABSENT or not choices or typed in choices:
        return typed
    alike = [choice for choice in choices if isinstance(typed, str) and str(choice)[:1].lower() == typed[:1].lower()]
    return alike[0] if alike else ABSENT


def _typed(value: Json, schema: Record, render_row: RenderRow) -> Json:
    kind = main_type(schema)
    match kind:
        case "string":
            return _as_text(value)
        case "integer" | "number":
            return _as_number(value, whole=kind == "integer")
        case "boolean":
            return value if isinstance(value, bool) else ABSENT
        case "array":
            return _as_list(value, items(schema), render_row)
        case "object":
            return _as_object(value, schema, render_row)
        case _:
            return _one_of(value, schema, render_row)


def _as_number(value: Json, *, whole: bool) -> Json:
    """Convert a number, or a time to seconds since 1970."""
    if isinstance(value, str):
        return _seconds(value)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return ABSENT
    return round(value) if whole else value


def _as_object(value: Json, schema: Record, render_row: RenderRow) -> Json:
    if not isinstance(value, dict):
        return ABSENT
    row = as_object(value)
    return render_row(schema, row) if properties(schema) else row


def _seconds(text: str) -> Json:
    """Convert a time to seconds since 1970."""
    if not _MOMENT.match(text):
        return ABSENT
    try:
        return int(datetime.fromisoformat(text).timestamp())
    except ValueError:
        return ABSENT


def _one_of(value: Json, schema: Record, render_row: RenderRow) -> Json:
    """Convert to one of several schemas; those of the value's own type come first. Without any, return the value."""
    listed = as_list(schema.get("anyOf")) or as_list(schema.get("oneOf"))
    if not listed:
        return value
    choices = sorted(listed, key=lambda item: not fitting_type(value, as_object(item)))
    return next(
        (
            converted
            for choice in choices
            if (converted := convert_value(value, as_object(choice), render_row)) is not ABSENT
        ),
        ABSENT,
    )


def _as_text(value: Json) -> Json:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in as_list(value)):
        return "\n".join(cast("list[str]", value))
    return ABSENT if isinstance(value, bool) else encode(value).decode()


def _as_list(value: Json, schema: Record, render_row: RenderRow) -> Json:
    if not isinstance(value, str | list):
        return ABSENT
    values: list[Json] = value.splitlines() if isinstance(value, str) else as_list(value)
    bare = [_name_of(item) if main_type(schema) == "string" else item for item in values]
    converted = [convert_value(item, schema, render_row) for item in bare]
    return ABSENT if any(item is ABSENT for item in converted) else converted


def _name_of(value: Json) -> Json:
    """Return the name of a row: the first of its fields that may be one."""
    return next((text for name, text in as_object(value).items() if name in _NAME_FIELDS), value)
