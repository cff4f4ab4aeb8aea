"""Base classes of expectations that are alike: those about a perturbation, and those that limit calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from pydantic import Field

from mcp_sim.types import Step, Tool
from mcp_sim.types.call_matchers import CallPattern
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.kinds import Expectation, Perturbation
from mcp_sim.types.options import CountFromZero


class AboutPerturbation(Expectation):
    """An expectation about the calls that a perturbation was applied to."""

    perturbation: str = Field(description="The id of a perturbation of this scenario.", examples=["lost-deal"])

    injected: bool = Field(
        default=False, description="Whether it is added to the world while that runs, so that no entry declares it."
    )

    def is_applied(self, step: Step) -> bool:
        """Whether the perturbation was applied to this step."""
        return any(
            perturbation.id == self.perturbation and perturbation.outcome == "applied"
            for perturbation in step.perturbations
        )

    def allows_giving_up(self, tools: Sequence[Tool], domain: Domain) -> bool:
        return True

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        if self.injected or self.perturbation in perturbations:
            return ()
        return [f"no perturbation has the id {self.perturbation!r}{did_you_mean(self.perturbation, perturbations)}"]


class AtMost(Expectation):
    """An expectation that calls of some tools do something at most so often."""

    max: CountFromZero = Field(description="How many calls at most.", examples=[10])
    tool: str = Field(default="*", description="Only calls of these tools, by glob.")

    @cached_property
    def pattern(self) -> CallPattern:
        return CallPattern(tool=self.tool)

    def allows_giving_up(self, tools: Sequence[Tool], domain: Domain) -> bool:
        return True

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        return self.pattern.mismatches(domain)
