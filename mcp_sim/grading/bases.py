"""What expectations share: numbers of records, and base classes of those about a perturbation or that limit calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from mcp_sim.types import Step, Tool
from mcp_sim.types.call_matchers import CallPattern
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.kinds import Expectation, Perturbation
from mcp_sim.types.options import CountFromZero


class Bounds(BaseModel):
    """A number of records: `at_least` and `at_most`, or both at once as a plain number."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    at_least: CountFromZero = Field(default=0, description="How many at least.")
    at_most: CountFromZero | None = Field(default=None, description="How many at most; left out: no bound.")

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.at_most is not None and self.at_most < self.at_least:
            raise ValueError("at_most is less than at_least")
        return self

    def holds(self, n: int) -> bool:
        return n >= self.at_least and (self.at_most is None or n <= self.at_most)

    def __str__(self) -> str:
        if self.at_most is None:
            return f"at least {self.at_least}"
        return str(self.at_most) if self.at_most == self.at_least else f"{self.at_least} to {self.at_most}"


def _exactly(value: Any) -> Any:
    return cast("Any", value) if isinstance(value, dict | Bounds) else {"at_least": value, "at_most": value}


Amount = Annotated[Bounds, BeforeValidator(_exactly, json_schema_input_type=CountFromZero | Bounds)]


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
