"""Calls before a point in time."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import Point, point_text
from mcp_sim.types.time_bounds import TimeBounds, bounds_until, reached_test


@triggers.register("until")
class Until(Trigger):
    """Calls before a point: a duration since the world's start, a number of calls, or a time.

    `until: 5m` holds for the first five minutes, `until: 20 calls` for the world's first 20 calls (calls of all tools
    count). A filter: counters beside it see only the calls that pass.
    """

    role = Role.FILTER
    depends_on_time_only = True

    point: Point = Field(description="A duration since the world's start, `N calls`, or a time.", examples=["5m"])

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        is_reached = reached_test(self.point)
        return lambda turn, _: not is_reached(turn)

    def why(self) -> str:
        return f"until {point_text(self.point)}"

    def time_bounds(self, start: datetime) -> TimeBounds:
        return bounds_until(self.point, start)
