"""Which values may a field have, said in an enum or in words, and which of them does a word mean?"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mcp_sim.schemas import constants
from mcp_sim.types import Json, Record
from mcp_sim.words import snake

_SAID = re.compile(
    r"(?:\[enum\]:?|one of:?|either|must be|should be(?: either)?|valid (?:values|options)(?: are)?:?|options:?|"
    r"allowed values(?: are)?:?|can be:?|possible values(?: are)?:?)\s*[\[(]?"
    r"((?:\s*(?:,|or|and)?\s*[\"'`][^\"'`]{1,40}[\"'`])+)",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[\"'`]([^\"'`]{1,40})[\"'`]")
_ALIKE = (
    ("start", "running", "started", "on", "active", "open"),
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
    """The values that an enum allows, or that the description lists in quotes."""
    said = constants(schema)
    if said:
        return said
    found = _SAID.search(str(schema.get("description", "")))
    return [*dict.fromkeys(_QUOTED.findall(found[1]))] if found else []


def nearest(word: str, choices: Sequence[Json]) -> Json:
    """The choice that a verb leads to: `close` to `Closed`, `start` to `running`; None where none is near."""
    by_name = {snake(str(value)).replace("canceled", "cancelled"): value for value in reversed(choices)}
    group = next((names for names in _ALIKE if names[0] == word), (word,))
    for name in (f"{word}d", f"{word}ed", f"{word}led", *group, f"{word}{word[-1:]}ed"):
        if name.replace("canceled", "cancelled") in by_name:
            return by_name[name.replace("canceled", "cancelled")]
    return None
