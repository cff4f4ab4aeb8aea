"""The first n calls."""

from __future__ import annotations

from pydantic import Field

from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import Count
from mcp_sim.types.time_bounds import CallNumbers


@triggers.register("first")
class First(Trigger):
    """The first n calls, counted among the calls that pass the filters beside it.

    If the perturbation has no effect on one of them (the call changed nothing, or another perturbation answered instead
    of the world), it is carried over to the next call that passes the filters.
    """

    role = Role.COUNTER
    carries_over = True

    n: Count = Field(description="Number of calls.", examples=[2])

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        n = self.n
        return lambda _, number: number <= n

    def call_numbers(self) -> CallNumbers:
        return CallNumbers(range(1, self.n + 1))

    def why(self) -> str:
        return f"first {self.n}"
