"""What is a maker of values, and what do makers share?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.timeline import Moment
from mcp_sim.types import Json, Record

Make: TypeAlias = Callable[[Chance, Record, Moment], Json]
"""Makes a value: from chance, the record so far, and the moment in which the record came to be."""

Compile: TypeAlias = Callable[[str, str, Record], Make]
"""The maker for an entity (or the object that a field is part of), a field's name and a schema."""

MOST_ITEMS = 1000
LONGEST = 100_000
MANY = 2**31 - 1
"""A schema that asks for more than these is not satisfied: no record is worth all memory."""

APART = "$apart"
"""Where a schema that makers get holds what other schemas say beside it."""
