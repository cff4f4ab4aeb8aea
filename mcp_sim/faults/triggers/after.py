"""From a point in the world's life on."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import Point, point_text
from mcp_sim.types.time_bounds import Stretch, reached, since


@triggers.register("after")
class After(Trigger):
    """Calls from a point on, that point included: so long since the world's start, so many calls, or a time.

    `after: 5m` holds from five minutes on; `after: 20 calls` from the world's 21st call on, whatever the tools;
    `after: 2029-03-01T12:00:00Z` from noon of that day on. A filter: counters beside it see only the calls that pass.
    """

    role = Role.FILTER
    is_clockwork = True

    point: Point = Field(description="A duration since the world's start, `N calls`, or a time.", examples=["20 calls"])

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        is_reached = reached(self.point)
        return lambda turn, _: is_reached(turn)

    def why(self) -> str:
        return f"after {point_text(self.point)}"

    def stretch(self, start: datetime) -> Stretch:
        return since(self.point, start)
