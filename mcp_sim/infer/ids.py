"""Which names are those of ids, and which whole number is an id or a count that is written as 1.0?"""

from __future__ import annotations

from typing import cast

from mcp_sim.types import Json
from mcp_sim.types.lexicon.words import last_word


def names_ids(name: str) -> bool:
    """Does a field or an argument of this name hold an id, or several?"""
    return last_word(name) in {"id", "ids"}


def whole(value: Json) -> Json:
    """The whole number that a float is, also in a list; any other value as it is."""
    if isinstance(value, list):
        return [whole(one) for one in cast("list[Json]", value)]
    return int(value) if is_written_as_float(value) else value


def is_written_as_float(value: Json) -> bool:
    """Is it a whole number all the same?"""
    return isinstance(value, float) and value.is_integer()
