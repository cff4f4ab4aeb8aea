"""Choices that descriptions of arguments list, and the one that a verb leads to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import constants
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import groups

_ANNOUNCED = re.compile(
    r"(?:\[enum\]:?|one of:?|either|must be|should be(?: either)?|valid (?:values|options)(?: are)?:?|options:?|"
    r"allowed values(?: are)?:?|can be:?|possible values(?: are)?:?)\s*+[\[(]?"
    r"((?:\s*+(?:,\s*+(?:or|and)?|or|and)?\s*+[\"'`][^\"'`]{1,40}[\"'`](?: ?\([^()\"'`]*\))?)+)",
    re.IGNORECASE,
)
_PIPED = re.compile(r"^\s*+((?:[\"'`][^\"'`]{1,40}[\"'`]\s*+\|\s*+)+[\"'`][^\"'`]{1,40}[\"'`])")
_STATES_AFTER = groups("states.after")
_QUOTED = re.compile(r"[\"'`]([^\"'`]{1,40})[\"'`]")


def choices_of(schema: Record) -> list[Json]:
    """Return the values of an enum, or those in quotes that the description lists: `one of "open", "done"`."""
    listed, about = constants(schema), str(schema.get("description", ""))
    found = None if listed else _PIPED.match(about) or _ANNOUNCED.search(about)
    return [*dict.fromkeys(_QUOTED.findall(found[1]))] if found else listed


def nearest_choice(word: str, choices: Sequence[Json]) -> Json:
    """Return the choice that a verb leads to: `close` to `Closed`, `start` to `running`. None if there is none."""
    by_name = {_spelled(str(value)): value for value in reversed(choices)}
    names = (f"{word}d", f"{word}ed", f"{word}led", word, *_STATES_AFTER.get(word, ()), f"{word}{word[-1:]}ed")
    return next((by_name[name] for name in map(_spelled, names) if name in by_name), None)


def _spelled(value: str) -> str:
    """Return the words of a value with one spelling of `canceled`."""
    return snake(value).replace("canceled", "cancelled")
