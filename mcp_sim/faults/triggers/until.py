"""Up to a point in the world's life."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import Point, point_text
from mcp_sim.types.time_bounds import Stretch, before, reached


@triggers.register("until")
class Until(Trigger):
    """Calls before a point, that point not included: so long since the world's start, so many calls, or a time.

    `until: 5m` holds for the first five minutes, `until: 20 calls` for the world's first 20 calls, whatever the tools.
    A filter: counters beside it see only the calls that pass.
    """

    role = Role.FILTER
    is_clockwork = True

    point: Point = Field(description="A duration since the world's start, `N calls`, or a time.", examples=["5m"])

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        is_reached = reached(self.point)
        return lambda turn, _: not is_reached(turn)

    def why(self) -> str:
        return f"until {point_text(self.point)}"

    def stretch(self, start: datetime) -> Stretch:
        return before(self.point, start)
