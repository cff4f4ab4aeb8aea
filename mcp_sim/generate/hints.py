"""Read the possible values of a field from its description and examples."""

from __future__ import annotations

import re
from functools import lru_cache

from mcp_sim.generate.shipped_data import word_set
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import as_list

_WORD = r"[\"'`]?[A-Za-z][\w/-]*[\"'`]?"
_LIST = rf"({_WORD}(?:\s*(?:,\s*or\b|,|\||/|\bor\b)\s*{_WORD})+)"
_BEFORE = (
    r"(?:one of|either|(?:possible|allowed|valid|accepted) values(?: are)?|options(?: are)?|values|must be|can be)"
)
_LISTED = re.compile(rf"{_BEFORE}\s*:?\s*[(\[]?{_LIST}", re.IGNORECASE)
_ENCLOSED = re.compile(rf"\(\s*{_LIST}\s*\)")
_QUOTED = re.compile(r"([\"'`][A-Za-z][\w -]*[\"'`](?:(?:, or | or |, ?| ?\| ?| ?/ ?)[\"'`][A-Za-z][\w -]*[\"'`])+)")
_EXAMPLE = re.compile(r"(?:e\.g\.|for example|such as|example:)[,:]?\s*[\"'`]([^\"'`]{2,60})[\"'`]", re.IGNORECASE)
_LONGEST = 1000
"""How many characters of a description are read. Hints such as examples stand at the beginning."""


def listed_values(schema: Record) -> tuple[str, ...]:
    """Return the values that a description lists: `One of: open, closed`; () if it lists none."""
    return _listed(str(schema.get("description") or "")[:_LONGEST])


@lru_cache(maxsize=4096)
def _listed(text: str) -> tuple[str, ...]:
    match = _LISTED.search(text) or _ENCLOSED.search(text) or _QUOTED.search(text)
    parts = re.split(r",\s*or\b|,|\||/|\bor\b", match[1]) if match else []
    values = tuple(value for piece in parts if (value := piece.strip("\"'` ")))
    known = {value.lower() for value in values}
    return values if len(known) > 1 and known.isdisjoint(word_set("nouns", "no_values")) else ()


def example_values(schema: Record) -> tuple[str, ...]:
    """Return the texts that a schema or its description gives as examples."""
    given = [
        example
        for example in (*as_list(schema.get("examples")), schema.get("example"))
        if isinstance(example, str) and example
    ]
    match = _EXAMPLE.search(str(schema.get("description") or "")[:_LONGEST])
    return (*given, *([match[1]] if match else []))
