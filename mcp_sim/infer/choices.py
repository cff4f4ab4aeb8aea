"""Which values may a field have, said in an enum or in words, and which of them does a word mean?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import constants
from mcp_sim.types.lexicon.words import snake

_SAID = re.compile(
    r"(?:\[enum\]:?|one of:?|either|must be|should be(?: either)?|valid (?:values|options)(?: are)?:?|options:?|"
    r"allowed values(?: are)?:?|can be:?|possible values(?: are)?:?)\s*[\[(]?"
    r"((?:\s*(?:,\s*(?:or|and)?|or|and)?\s*[\"'`][^\"'`]{1,40}[\"'`](?: ?\([^()\"'`]*\))?)+)",
    re.IGNORECASE,
)
_ONE = r"[\"'`][\w -]{1,30}[\"'`](?: ?\([^()]*\))?"
_LISTED = re.compile(
    rf"^(?:[\w ]{{0,24}}(?::| by| to) *)?((?:{_ONE}(?:\s*,\s*(?:or\s+|and\s+)?|\s*[/|]\s*|\s+or\s+))+{_ONE})"
)
"""`"open", "done" or "all" (default)`, `Filter by "high"/"low"`."""

_DEMANDED = re.compile(r"\b(?:one of|must be|(?:allowed|valid|possible) values)\b", re.IGNORECASE)
_LOOSE = re.compile(r"\be\.g\.|\bfor example\b|\bsuch as\b|\betc\b|\bor any\b|\bcustom\b", re.IGNORECASE)
_PIPED = re.compile(r"(?<![\w|])([a-z][\w-]{0,30}(?:\|[a-z][\w-]{0,30}){1,})(?![\w|])", re.IGNORECASE)
"""`open|done|all`."""

_QUOTED = re.compile(r"[\"'`]([^\"'`]{1,40})[\"'`]")
_ALIKE = (
    ("start", "running", "started", "in_progress", "on", "active", "open"),
    ("stop", "stopped", "off", "inactive", "halted"),
    ("enable", "enabled", "on", "active"),
    ("disable", "disabled", "off", "inactive"),
    ("activate", "active", "activated", "engaged", "enabled", "on"),
    ("deactivate", "inactive", "deactivated", "released", "disabled", "off"),
    ("engage", "engaged", "active", "on"),
    ("release", "released", "inactive", "off"),
    ("close", "closed", "done", "completed", "resolved"),
    ("reopen", "open", "reopened", "active"),
    ("open", "open", "opened"),
    ("resolve", "resolved", "closed", "done"),
    ("complete", "completed", "complete", "done", "finished", "closed"),
    ("finish", "finished", "completed", "done"),
    ("cancel", "cancelled", "canceled", "void"),
    ("archive", "archived", "inactive"),
    ("approve", "approved", "accepted"),
    ("reject", "rejected", "declined", "denied"),
    ("pause", "paused", "suspended", "on_hold"),
    ("resume", "active", "running", "resumed", "in_progress"),
)


def choices_of(schema: Record) -> list[Json]:
    """The values that an enum allows, or that the description lists in quotes or between bars."""
    said = constants(schema)
    if said:
        return said
    text = str(schema.get("description", ""))
    found = _SAID.search(text) or _LISTED.search(text)
    if found:
        return [*dict.fromkeys(_QUOTED.findall(found[1]))]
    barred = _PIPED.search(text)
    return [*dict.fromkeys(barred[1].split("|"))] if barred else []


def demanded(schema: Record) -> list[Json]:
    """The values that the words of a schema allow and no others, where the schema itself allows any."""
    text = str(schema.get("description", ""))
    strict = not constants(schema) and _DEMANDED.search(text) and _SAID.search(text) and not _LOOSE.search(text)
    found = choices_of(schema) if strict else []
    return found if len(found) > 1 else []


def nearest(word: str, choices: Sequence[Json]) -> Json:
    """The choice that a verb leads to: `close` to `Closed`, `start` to `running`; None where none is near."""
    by_name = {snake(str(value)).replace("canceled", "cancelled"): value for value in reversed(choices)}
    group = next((names for names in _ALIKE if names[0] == word), (word,))
    for name in (f"{word}d", f"{word}ed", f"{word}led", *group, f"{word}{word[-1:]}ed"):
        if name.replace("canceled", "cancelled") in by_name:
            return by_name[name.replace("canceled", "cancelled")]
    return None
