"""Calls after certain earlier calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import islice, takewhile
from typing import Literal

from pydantic import Field

from mcp_sim.types import PastCall, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import Count, SpanText, span_text
from mcp_sim.types.time_bounds import TimeBounds
from mcp_sim.types.tools import in_reach


@triggers.register("history")
class History(Trigger):
    """Calls that follow certain other calls: of a tool, with an outcome, at least a number of times, within a period.

    `history: {tool: search_*, outcome: ok, at_least: 2, within: 10 calls}` holds if at least two of the ten calls
    before this one were successful searches. The served result counts, not the truth. Only entries that the ledger
    still keeps are considered (default 1,000). A filter: counters beside it see only the calls that pass.
    """

    role = Role.FILTER

    tool: str = Field(default="*", description="The tool that was called, by glob.", examples=["search_*"])
    outcome: Literal["ok", "error"] | None = Field(
        default=None, description="Whether the agent was served a success or a failure. Default: either."
    )
    at_least: Count = Field(default=1, description="Minimum number of such calls.")
    within: SpanText | None = Field(
        default=None,
        description="Maximum age of these calls: a duration, or `N calls`. Default: no limit.",
        examples=["5m"],
    )

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        meant = frozenset(tool.id for tool in domain.tools.values() if in_reach((self.tool,), tool))
        outcome, at_least, within = self.outcome, self.at_least, self._within()

        def check(turn: Turn, _: int) -> bool:
            recent = takewhile(partial(within, turn), reversed(turn.history))  # the latest first
            fitting = (
                past for past in recent if past.tool in meant and (outcome is None or past.ok is (outcome == "ok"))
            )
            return sum(1 for _ in islice(fitting, at_least)) == at_least

        return check

    def time_bounds(self, start: datetime) -> TimeBounds:
        return TimeBounds(after=self.at_least)

    def why(self) -> str:
        within = "" if self.within is None else f" within {span_text(self.within)}"
        return f"history of {self.at_least} {self.tool}{f' {self.outcome}' if self.outcome else ''}{within}"

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        if not any(in_reach((self.tool,), tool) for tool in domain.tools.values()):
            return [f"no tool matches {self.tool!r}{did_you_mean(self.tool, domain.tools)}"]
        if self.within is not None and self.within.calls is not None and self.within.calls < self.at_least:
            return [f"never holds: {span_text(self.within)} are fewer than {self.at_least}"]
        return ()

    def _within(self) -> Callable[[Turn, PastCall], bool]:
        """Return a test of whether an earlier call is recent enough."""
        if self.within is None:
            return lambda _turn, _past: True
        if self.within.calls is not None:
            calls = self.within.calls
            return lambda turn, past: turn.index - past.index <= calls
        time = self.within.time or timedelta(0)
        return lambda turn, past: turn.now - past.at <= time
