"""Recognise fields that hold the time of a past event by their names: `joined_at`, `last_login`, `date_of_birth`."""

from __future__ import annotations

import re
from functools import lru_cache

from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import table, terms

_FORM = re.compile(r"(last_|date_)?(.+?)(_at|_on|_date|_time)?")
_NAMED, _BARE, _PLANNED = terms("fields.past"), terms("fields.past_events"), terms("fields.planned")
_IRREGULAR = frozenset(past for verb, past in table("participles.irregular").items() if past != verb) | {"read"}


@lru_cache(maxsize=4096)
def is_past_event(name: str) -> bool:
    """Whether a field holds the time of something that has happened.

    It has a past participle and ends in `at` or `on`, is the last time of something, or is in the lexicon. What may lie
    in the future, such as `scheduled_at`, `due_on` and `expired_at`, does not count.
    """
    name = snake(name)
    match = _FORM.fullmatch(name)
    if name in _NAMED or match is None:
        return name in _NAMED
    first, event, mark = match.groups()
    parts = event.split("_")
    if event in _BARE or not _PLANNED.isdisjoint(parts):
        return event in _BARE
    return mark in ("_at", "_on") and (first == "last_" or any(map(_is_participle, parts)))


def _is_participle(word: str) -> bool:
    return word in _IRREGULAR or (word.endswith("ed") and len(word) > 4)
