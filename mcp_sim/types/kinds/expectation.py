"""What is an expectation, and how does it judge?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mcp_sim.types import Step, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds.kind import Kind


@dataclass(frozen=True, slots=True)
class Verdict:
    """`vacuous`: nothing happened that could have been judged; never counted as passed. `because` is for people."""

    outcome: Literal["passed", "failed", "vacuous"]
    because: str


class Expectation(Kind):
    """What the agent should have done, or left behind. Facts are immutable and forked with the world."""

    def facts(self) -> Any:
        """The facts before the first step."""
        return None

    def notice(self, facts: Any, step: Step, domain: Domain) -> Any:
        """The facts after one more step."""
        return facts

    def verdict(self, facts: Any, view: View, domain: Domain) -> Verdict:
        """The judgement at the end; an expectation that cannot be evaluated fails and says why."""
        raise NotImplementedError  # every kind judges in its own way

    def problems(self, domain: Domain, perturbations: Sequence[str]) -> Sequence[str]:
        """Unknown tools, entities or perturbation ids; each is an error at load."""
        return ()
