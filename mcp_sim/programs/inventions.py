"""Values that a program asks for: generated ones, and those that a language model says."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from mcp_sim.types import Json, Record, Turn
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_values import decode, encode
from mcp_sim.types.kinds import Invent


class Inventions:
    """The inventions of one call. Each has draws of its own."""

    __slots__ = ("_count", "_invent", "_turn")

    def __init__(self, turn: Turn, invent: Invent) -> None:
        self._turn, self._invent, self._count = turn, invent, 0

    def invent(self, schema: Record, about: str) -> Json:
        """Return a generated value, valid under a schema."""
        return self._invent(self._next_turn(), "", about, _expanded(encode(schema)), {})

    def imagine(self, schema: Record, about: str) -> Json:
        """Return what the language model says, or a generated value without one."""
        return self._invent.imagine(self._next_turn(), _expanded(encode(schema)), about)

    def _next_turn(self) -> Turn:
        self._count += 1
        draws = replace(self._turn.draws, scope=f"{self._turn.draws.scope}/invention/{self._count}")
        return replace(self._turn, draws=draws)


@lru_cache(maxsize=256)
def _expanded(schema: bytes) -> Record:
    """Return the expansion of a schema, by its text: programs may change its object between calls."""
    return expanded(decode(schema))
