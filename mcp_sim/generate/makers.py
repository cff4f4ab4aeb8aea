"""Types and limits that the makers of values share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_object, properties, required

Make: TypeAlias = Callable[[Chance, Record, Moment], Json]
"""Makes a value from chance, the record so far, and the times of the record."""

CompileMaker: TypeAlias = Callable[[str, str, Record], Make]
"""Returns the maker for an entity (or the object that contains the field), a field name and a schema."""

MAX_ITEMS = 10_000  # schemas of strangers may ask for billions
MAX_LENGTH = 100_000
MAX_NUMBER = 2**31 - 1
"""Limits on list items, text length and numbers. A schema that requires more is not satisfied."""

_LIMITS: Final = {"minItems": (MAX_ITEMS, "items"), "minProperties": (MAX_ITEMS, "properties"),
                  "minLength": (MAX_LENGTH, "characters")}  # fmt: skip

UNMERGED = "$apart"
"""The keyword under which a schema for makers holds the parts of `allOf` that could not be merged into it."""


def exceeded_limit(schema: Record, name: str = "") -> str:
    """Return the bound of a required part that is too large to be generated, in words, or ""."""
    for word, (most, units) in _LIMITS.items():
        if schema.get(word, 0) > most:
            reason = f"its {word} is {schema[word]:,}, and at most {most:,} {units} are generated"
            return f"{name}: {reason}" if name else reason
    fields = {name: as_object(properties(schema).get(name, {})) for name in sorted(required(schema))}
    return next(filter(None, (exceeded_limit(inner, f"{name}.{key}".strip(".")) for key, inner in fields.items())), "")
