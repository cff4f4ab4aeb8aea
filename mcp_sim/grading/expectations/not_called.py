"""The expectation that a tool was not called."""

from __future__ import annotations

from mcp_sim.types import Step, View
from mcp_sim.types.call_matchers import CallExpectation
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Verdict, expectations


@expectations.register("not_called")
class NotCalled(CallExpectation):
    """The agent never called the tool, or never with such arguments. How the calls were answered does not matter."""

    def facts(self) -> int | None:
        return None

    def notice(self, facts: int | None, step: Step, domain: Domain) -> int | None:
        return step.index if facts is None and self.fits(step, domain) else facts

    def verdict(self, facts: int | None, view: View, domain: Domain) -> Verdict:
        if facts is None:
            return Verdict("passed", f"{self.tool} was not called")
        return Verdict("failed", f"{self.tool} was called, first at call {facts}")
