"""Types and limits that the makers of values share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Json, Record

Make: TypeAlias = Callable[[Chance, Record, Moment], Json]
"""Makes a value from chance, the record so far, and the times of the record."""

CompileMaker: TypeAlias = Callable[[str, str, Record], Make]
"""Returns the maker for an entity (or the object that contains the field), a field name and a schema."""

MAX_ITEMS = 10_000  # schemas of strangers may ask for billions
MAX_LENGTH = 100_000
MAX_NUMBER = 2**31 - 1
"""Limits on list items, text length and numbers. A schema that requires more is not satisfied."""

UNMERGED = "$apart"
"""The keyword under which a schema for makers holds the parts of `allOf` that could not be merged into it."""
