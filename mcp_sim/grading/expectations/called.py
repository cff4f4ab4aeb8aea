"""The expectation that a tool was called a number of times."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self

from pydantic import Field, model_validator

from mcp_sim.grading.bases import NO_EVIDENCE, Evidence, judged
from mcp_sim.types import Record, Step, Tool, ToolResult
from mcp_sim.types.call_matchers import CallExpectation, Test, argument_test, times
from mcp_sim.types.conditions import matcher
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.kinds import End, Verdict, expectations
from mcp_sim.types.options import Count, CountFromZero, MatcherSource
from mcp_sim.types.scenario import Scenario
from mcp_sim.types.tools import in_reach


@frozen
class Facts:
    """The calls so far."""

    count: int = 0
    evidence: Evidence = NO_EVIDENCE


@expectations.register("called")
class Called(CallExpectation):
    """The agent called the tool with success, by default at least once.

    A call succeeds if the agent got a result other than an error, or if it took effect and its answer was lost. With
    `failed: true` every call counts, however it was answered. Vacuous if no call counts and none had to be made.
    """

    at_least: CountFromZero = Field(default=1, description="How often at least.")
    at_most: Count | None = Field(default=None, description="How often at most; left out: no bound.", examples=[2])
    result: dict[str, MatcherSource] = Field(
        default_factory=dict[str, MatcherSource],
        description="Only calls whose structured result satisfies these matchers.",
        examples=[{"exit_code": 0}],
    )
    failed: bool = Field(default=False, description="Whether calls that failed count as well.")

    @cached_property
    def _result_tests(self) -> tuple[Test, ...]:
        return tuple(argument_test(name, matcher(value)) for name, value in self.result.items())

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.at_most is not None and self.at_most < self.at_least:
            raise ValueError("at_most is less than at_least")
        return self

    def allows_giving_up(self, tools: Sequence[Tool], domain: Domain) -> bool:
        return self.at_least <= 1 and all(in_reach((self.tool,), tool) for tool in tools)

    def facts(self) -> Facts:
        return Facts()

    def notice(self, facts: Facts, step: Step, scenario: Scenario) -> Facts:
        if not self.fits(step, scenario.domain) or not (self.failed or _succeeded(step)):
            return facts
        if self.result and not all(test(_result(step)) for test in self._result_tests):
            return facts
        return Facts(facts.count + 1, facts.evidence.with_step(step))

    def verdict(self, facts: Facts, end: End) -> Verdict:
        how = "called" if self.failed else "called with success"
        if not facts.count and not self.at_least:
            return judged("vacuous", f"{self.tool} was never {how}")
        is_met = facts.count >= self.at_least and (self.at_most is None or facts.count <= self.at_most)
        count = times(facts.count) if facts.count else "0 times"
        because = f"{self.tool} was {how} {count}; expected {self._wanted()}"
        return judged("passed" if is_met else "failed", because, facts.evidence)

    def _wanted(self) -> str:
        if self.at_most is None:
            return f"at least {times(self.at_least)}" if self.at_least else "any number of calls"
        return times(self.at_most) if self.at_most == self.at_least else f"{self.at_least} to {self.at_most} times"


def _result(step: Step) -> Record:
    """Return what the call truly returned, whatever the agent saw of it."""
    body = None if step.truth is None else step.truth.observation.body
    return as_object(body.value) if isinstance(body, ToolResult) else {}


def _succeeded(step: Step) -> bool:
    """Whether the agent got a result other than an error, or the call took effect all the same."""
    if step.served is not None and step.served.ok:
        return True
    is_carried_out = step.truth is not None and step.truth.observation.ok
    return is_carried_out and any(change.op != "reserve" for change in step.committed)
