"""Choices that descriptions of arguments list."""

from __future__ import annotations

import re

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import constants

_ANNOUNCED = re.compile(
    r"(?:\[enum\]:?|one of:?|either|must be|should be(?: either)?|valid (?:values|options)(?: are)?:?|options:?|"
    r"allowed values(?: are)?:?|can be:?|possible values(?: are)?:?)\s*+[\[(]?"
    r"((?:\s*+(?:,\s*+(?:or|and)?|or|and)?\s*+[\"'`][^\"'`]{1,40}[\"'`](?: ?\([^()\"'`]*\))?)+)",
    re.IGNORECASE,
)
_PIPED = re.compile(r"^\s*+((?:[\"'`][^\"'`]{1,40}[\"'`]\s*+\|\s*+)+[\"'`][^\"'`]{1,40}[\"'`])")
_QUOTED = re.compile(r"[\"'`]([^\"'`]{1,40})[\"'`]")


def choices_of(schema: Record) -> list[Json]:
    """Return the values of an enum, or those in quotes that the description lists: `one of "open", "done"`."""
    listed, about = constants(schema), str(schema.get("description", ""))
    match = None if listed else _PIPED.match(about) or _ANNOUNCED.search(about)
    return [*dict.fromkeys(_QUOTED.findall(match[1]))] if match else listed
