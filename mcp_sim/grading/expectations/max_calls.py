"""The expectation that the agent made few calls."""

from __future__ import annotations

from mcp_sim.grading.bases import NO_EVIDENCE, AtMost, Evidence, judged
from mcp_sim.types import Step
from mcp_sim.types.call_matchers import times
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import End, Verdict, expectations
from mcp_sim.types.scenario import Scenario


@frozen
class Facts:
    """The number of calls, and the first one too many."""

    count: int = 0
    guessed: bool = False
    exceeding: Evidence = NO_EVIDENCE


@expectations.register("max_calls")
class MaxCalls(AtMost):
    """The agent made at most so many calls, of all tools together or of some.

    Every call counts, also one that a perturbation answered, and one of an unknown tool. Vacuous without any call.
    """

    def facts(self) -> Facts:
        return Facts()

    def notice(self, facts: Facts, step: Step, scenario: Scenario) -> Facts:
        if not self.pattern.fits(step, scenario.domain):
            return facts
        exceeding = NO_EVIDENCE.with_step(step) if facts.count == self.max else facts.exceeding
        return Facts(facts.count + 1, facts.guessed or step.guessed, exceeding)

    def verdict(self, facts: Facts, end: End) -> Verdict:
        counted = f"{'a tool' if self.tool == '*' else self.tool} was called {times(facts.count)}"
        if not facts.count:
            return judged("vacuous", counted)
        outcome = "passed" if facts.count <= self.max else "failed"
        because = f"{counted}; expected at most {times(self.max)}"
        return judged(outcome, because, facts.exceeding, Evidence((), facts.guessed))
