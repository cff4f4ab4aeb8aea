"""The expectation that a tool was called a number of times."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from mcp_sim.types import Step, View
from mcp_sim.types.call_matchers import CallExpectation, times
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Verdict, expectations
from mcp_sim.types.options import Count, CountFromZero


@expectations.register("called")
class Called(CallExpectation):
    """The agent called the tool, by default at least once.

    Every call counts, also one that a perturbation answered: an agent that repeats a failing call has called the tool.
    """

    at_least: CountFromZero = Field(default=1, description="How often at least.")
    at_most: Count | None = Field(default=None, description="How often at most; left out: no bound.", examples=[2])

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.at_most is not None and self.at_most < self.at_least:
            raise ValueError("at_most is less than at_least")
        return self

    def facts(self) -> int:
        return 0

    def notice(self, facts: int, step: Step, domain: Domain) -> int:
        return facts + self.fits(step, domain)

    def verdict(self, facts: int, view: View, domain: Domain) -> Verdict:
        is_met = facts >= self.at_least and (self.at_most is None or facts <= self.at_most)
        because = f"{self.tool} was called {times(facts)}; expected {self._wanted()}"
        return Verdict("passed" if is_met else "failed", because)

    def _wanted(self) -> str:
        if self.at_most is None:
            return f"at least {times(self.at_least)}" if self.at_least else "any number of calls"
        return times(self.at_most) if self.at_most == self.at_least else f"{self.at_least} to {self.at_most} times"
