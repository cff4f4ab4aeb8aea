"""Periodic bursts of calls."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import Count
from mcp_sim.types.time_bounds import CallNumbers


@triggers.register("burst")
class Burst(Trigger):
    """The first `length` of every `every` calls, counted among the calls that pass the filters beside it.

    `burst: {every: 10, length: 3}` holds for calls 1 to 3, 11 to 13, 21 to 23 and so on.
    """

    role = Role.COUNTER

    every: Count = Field(description="Number of calls from the beginning of one burst to the next.", examples=[10])
    length: Count = Field(description="Number of calls in a burst.", examples=[3])

    @model_validator(mode="after")
    def _pauses(self) -> Self:
        if self.length >= self.every:
            raise ValueError("length must be less than every, else it is every call")
        return self

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        every, length = self.every, self.length
        return lambda _, number: (number - 1) % every < length

    def call_numbers(self) -> CallNumbers:
        return CallNumbers(range(1, self.length + 1), period=self.every)

    def why(self) -> str:
        return f"burst of {self.length} in {self.every}"
