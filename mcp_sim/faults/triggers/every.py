"""Every k-th call."""

from __future__ import annotations

from pydantic import Field

from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import Count
from mcp_sim.types.time_bounds import CallNumbers


@triggers.register("every")
class Every(Trigger):
    """Every k-th call, counted among the calls that pass the filters beside it: k, 2k, 3k and so on."""

    role = Role.COUNTER

    k: Count = Field(description="The period, as a number of calls.", examples=[3])

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        k = self.k
        return lambda _, number: number % k == 0

    def call_numbers(self) -> CallNumbers:
        return CallNumbers((self.k,), period=self.k)

    def why(self) -> str:
        return f"every {self.k}"
