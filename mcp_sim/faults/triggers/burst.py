"""Several calls in a row, again and again."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import Count
from mcp_sim.types.time_bounds import Numbers


@triggers.register("burst")
class Burst(Trigger):
    """Of every so many calls the first few, counted among the calls that pass the filters beside it.

    `burst: {every: 10, length: 3}` holds for calls 1 to 3, 11 to 13, 21 to 23 and so on.
    """

    role = Role.COUNTER

    every: Count = Field(description="How many calls from the beginning of one burst to the next.", examples=[10])
    length: Count = Field(description="How many calls a burst has.", examples=[3])

    @model_validator(mode="after")
    def _pauses(self) -> Self:
        if self.length >= self.every:
            raise ValueError("a burst must be shorter than the distance to the next, or it is every call")
        return self

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        every, length = self.every, self.length
        return lambda _, number: (number - 1) % every < length

    def numbers(self) -> Numbers:
        return Numbers(range(1, self.length + 1), period=self.every)

    def why(self) -> str:
        return f"burst of {self.length} in {self.every}"
