"""Read texts as the values that an inputSchema asks for, as servers with lax validation do.

FastMCP and the Python SDK validate with pydantic, which takes "5" for an integer and "true" for a boolean. They parse
JSON texts that are given for lists and objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import Path, decode, get_part, replace_part

_BOOLEANS = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}
"""The words that pydantic takes for booleans, in lower case."""

_DEEPEST = 8
"""The most JSON texts that are read within one another: each costs two validations of all arguments."""


def with_values(arguments: Record, schema: Validator) -> Record:
    """Return the arguments with invalid texts replaced by the values they spell, where these are valid."""
    for _ in range(_DEEPEST):
        texts = _invalid_texts(arguments, schema)
        # A number comes before a boolean, as in JSON: "1" is True only where 1 is invalid.
        read = _replaced_where_valid(arguments, {path: _parsed(text) for path, text in texts.items()}, schema)
        rest = _invalid_texts(read, schema)
        read = _replaced_where_valid(read, {path: _as_boolean(text) for path, text in rest.items()}, schema)
        if read == arguments:
            break
        arguments = read
    return arguments


def _invalid_texts(arguments: Record, schema: Validator) -> dict[Path, str]:
    parts = {path: get_part(arguments, path) for path in schema.invalid_parts(arguments)}
    return {path: value for path, value in parts.items() if isinstance(value, str)}


def _replaced_where_valid(arguments: Record, values: Mapping[Path, Json], schema: Validator) -> Record:
    """Return the arguments with the values at their paths, without those that are invalid there."""
    spelt = {path: value for path, value in values.items() if not isinstance(value, str)}
    if not spelt:
        return arguments
    refused = set(schema.invalid_parts(_replaced(arguments, spelt)))
    return _replaced(arguments, {path: value for path, value in spelt.items() if path not in refused})


def _parsed(text: str) -> Json:
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return text


def _as_boolean(text: str) -> Json:
    return _BOOLEANS.get(text.lower(), text)


def _replaced(arguments: Record, values: Mapping[Path, Json]) -> Record:
    replaced: Json = arguments
    for path, value in values.items():
        replaced = replace_part(replaced, path, value)
    return cast("Record", replaced)
