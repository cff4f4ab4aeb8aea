"""The expectation that a tool was not called."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.grading.bases import NO_EVIDENCE, Evidence, judged
from mcp_sim.types import Step, Tool
from mcp_sim.types.call_matchers import CallExpectation
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import End, Verdict, expectations
from mcp_sim.types.scenario import Scenario


@frozen
class Facts:
    """Whether any tool was called, and the first of the calls in question."""

    has_calls: bool = False
    first: int | None = None
    evidence: Evidence = NO_EVIDENCE


@expectations.register("not_called")
class NotCalled(CallExpectation):
    """The agent never called the tool, or never with such arguments. How the calls were answered does not matter.

    Vacuous if the agent called no tool at all.
    """

    def allows_giving_up(self, tools: Sequence[Tool], domain: Domain) -> bool:
        return True

    def facts(self) -> Facts:
        return Facts()

    def notice(self, facts: Facts, step: Step, scenario: Scenario) -> Facts:
        if facts.first is not None or step.entry != "call":
            return facts
        if self.fits(step, scenario.domain):
            return Facts(has_calls=True, first=step.n, evidence=NO_EVIDENCE.with_step(step))
        return facts if facts.has_calls else Facts(has_calls=True)

    def verdict(self, facts: Facts, end: End) -> Verdict:
        if facts.first is not None:
            return judged("failed", f"{self.tool} was called, first at step {facts.first}", facts.evidence)
        if not facts.has_calls:
            return judged("vacuous", "no tool was called")
        return judged("passed", f"{self.tool} was not called")
