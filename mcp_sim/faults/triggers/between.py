"""Calls between two points in time."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import Point, point_text
from mcp_sim.types.time_bounds import TimeBounds, bounds_from, bounds_until, intersection, reached_test


@triggers.register("between")
class Between(Trigger):
    """Calls from one point on and before another: durations since the world's start, numbers of calls, or times.

    `between: [5m, 10m]` holds from five minutes on until ten, `between: [10 calls, 20 calls]` for the world's calls 11
    to 20. A filter: counters beside it see only the calls that pass.
    """

    role = Role.FILTER
    depends_on_time_only = True

    points: Annotated[list[Point], Field(min_length=2, max_length=2)] = Field(
        description="The beginning (included) and the end (excluded).", examples=[["5m", "10m"]]
    )

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        has_begun, has_ended = map(reached_test, self.points)
        return lambda turn, _: has_begun(turn) and not has_ended(turn)

    def why(self) -> str:
        begin, end = map(point_text, self.points)
        return f"between {begin} and {end}"

    def time_bounds(self, start: datetime) -> TimeBounds:
        begin, end = self.points
        return intersection((bounds_from(begin, start), bounds_until(end, start)))
