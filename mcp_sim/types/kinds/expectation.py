"""The base class of expectations."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from mcp_sim.types import Observation, Record, Step, Tool, View
from mcp_sim.types.domain import Domain
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds.kind import Kind
from mcp_sim.types.kinds.perturbation import Perturbation

if TYPE_CHECKING:
    from mcp_sim.types.scenario import Scenario


@frozen
class Difference:
    """A value at the end of a run, beside the one that was expected, both as text."""

    subject: str
    actual: str
    expected: str

    def __str__(self) -> str:
        return f"{self.subject} is {self.actual}, expected {self.expected}"


@frozen
class Verdict:
    """The result of an expectation. `because` is a sentence for people."""

    outcome: Literal["passed", "failed", "vacuous", "not judged"]
    """`vacuous`: nothing happened that could have been judged; it never counts as passed. `not judged`: something is
    missing, such as the agent's final answer."""
    because: str
    steps: tuple[int, ...] = ()
    """The numbers of the steps in the ledger that decided it, at most ten."""
    guessed: bool = False
    """Whether one of these steps rests on a guess."""
    differences: tuple[Difference, ...] = ()
    """The values that decided it, if it failed, and those that were expected."""


@frozen
class End:
    """The end of a world, as expectations judge it."""

    scenario: Scenario
    view: View
    """The final state."""
    answer: str | None = None
    """The agent's final answer; None if it is not known."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict[str, Verdict])
    """The verdicts by id, for an expectation that judges those of others."""
    answers: Mapping[str, Observation] = field(default_factory=dict[str, Observation])
    """The answers to the final calls of expectations, by `probe_key`."""


class Expectation(Kind):
    """What the agent should have done or left behind.

    The facts are whatever the expectation remembers of a world. They must be immutable: forks share them. The time to
    notice a step must not grow with the number of steps. A subclass without facts implements `verdict` only, and judges
    the final state.
    """

    is_goal: ClassVar[bool] = False
    """Whether it judges what the agent should have achieved, rather than how."""
    judges_verdicts: ClassVar[bool] = False
    """Whether it needs the verdicts of the others: it is judged after them."""

    @property
    def code(self) -> str | None:
        """The function that it runs, as `FILE:FUNCTION`, the file relative to the document; None: it runs none.

        The document then needs the user's trust.
        """
        return None

    @property
    def final_call(self) -> tuple[str, Record] | None:
        """The call, a tool and its arguments, that it makes at the end, without faults; None: it makes none."""
        return None

    @cached_property
    def probe_key(self) -> str:
        """What the answer to its final call is found by; empty without one."""
        return "" if self.final_call is None else json.dumps(self.final_call, sort_keys=True, default=str)

    @cached_property
    def reads(self) -> frozenset[str]:
        """The entities whose records it judges, among other words."""
        return frozenset()

    def with_code(self, code: Mapping[Path, bytes]) -> Self:
        """Return the expectation with the files of its code as they were read, the one that it names first."""
        return self

    def facts(self) -> Any:
        """Return the facts before the first step."""
        return None

    def notice(self, facts: Any, step: Step, scenario: Scenario) -> Any:
        """Return the facts after one more step. Called for every entry of the ledger: calls, events and resets."""
        return facts

    @cached_property
    def notices(self) -> bool:
        """Whether it has facts that change with the steps."""
        return type(self).notice is not Expectation.notice

    def verdict(self, facts: Any, end: End) -> Verdict:
        """Return the verdict at the end of a run; it may be asked for more than once.

        It does not raise: an expectation that cannot be evaluated has failed, and `because` says why.
        """
        raise NotImplementedError  # every kind judges in its own way

    def compares_with(self) -> frozenset[str]:
        """Return the ids of the perturbations whose calls it compares with what they do without faults.

        Where such a perturbation answered instead of the world, the ledger gets a `counterfactual`.
        """
        return frozenset()

    def unknown_ids(self, ids: Collection[str]) -> Sequence[str]:
        """Return the ids of other expectations that it names and that are not among `ids`, as sentences."""
        return ()

    def allows_giving_up(self, tools: Sequence[Tool], domain: Domain) -> bool:
        """Whether it cannot fail for an agent that makes one call of these tools, which takes effect, and no other."""
        return False

    def problems(self, domain: Domain, perturbations: Mapping[str, Perturbation | None]) -> Sequence[str]:
        """Return unknown tools, entities or perturbation ids, as sentences.

        Each is an error when the scenario is loaded. `perturbations` are those of the scenario by id; None for one
        that has errors itself.
        """
        return ()
