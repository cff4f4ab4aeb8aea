"""Calls after a point in time."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import Point, point_text
from mcp_sim.types.time_bounds import TimeBounds, bounds_from, reached_test


@triggers.register("after")
class After(Trigger):
    """Calls at or after a point: a duration since the world's start, a number of calls, or a time.

    `after: 5m` holds from five minutes on, `after: 20 calls` from the world's 21st call on (calls of all tools count),
    `after: 2029-03-01T12:00:00Z` from noon of that day on. A filter: counters beside it see only the calls that pass.
    """

    role = Role.FILTER
    depends_on_time_only = True

    point: Point = Field(description="A duration since the world's start, `N calls`, or a time.", examples=["20 calls"])

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        is_reached = reached_test(self.point)
        return lambda turn, _: is_reached(turn)

    def why(self) -> str:
        return f"after {point_text(self.point)}"

    def time_bounds(self, start: datetime) -> TimeBounds:
        return bounds_from(self.point, start)
