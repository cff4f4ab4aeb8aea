"""The base class of expectations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mcp_sim.types import Step, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds.kind import Kind


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of an expectation. `because` is a sentence for people."""

    outcome: Literal["passed", "failed", "vacuous"]
    """`vacuous`: nothing happened that could have been judged; it never counts as passed."""
    because: str


class Expectation(Kind):
    """What the agent should have done or left behind.

    The facts are whatever the expectation remembers of a world. They must be immutable: forks share them. A subclass
    without facts implements `verdict` only, and judges the final state.
    """

    def facts(self) -> Any:
        """Return the facts before the first step."""
        return None

    def notice(self, facts: Any, step: Step, domain: Domain) -> Any:
        """Return the facts after one more step. Called for every entry of the ledger: calls, events and resets."""
        return facts

    def verdict(self, facts: Any, view: View, domain: Domain) -> Verdict:
        """Return the verdict on the state `view` at the end of a run; it may be asked for more than once.

        It does not raise: an expectation that cannot be evaluated has failed, and `because` says why.
        """
        raise NotImplementedError  # every kind judges in its own way

    def problems(self, domain: Domain, perturbations: Sequence[str]) -> Sequence[str]:
        """Return unknown tools, entities or perturbation ids, as sentences.

        Each is an error when the scenario is loaded. `perturbations` are the ids of the scenario's perturbations.
        """
        return ()
