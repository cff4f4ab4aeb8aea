"""The base class of triggers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from enum import IntEnum
from typing import ClassVar, TypeAlias

from mcp_sim.types import Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds.kind import Kind
from mcp_sim.types.time_bounds import CallNumbers, TimeBounds

Check: TypeAlias = Callable[[Turn, int], bool]
"""Whether a trigger holds for a turn, given how many calls (this one included) have passed the filters."""


class Role(IntEnum):
    """When a trigger is evaluated: filters first, then counters on the calls that pass them, then chance."""

    FILTER = 0
    COUNTER = 1
    CHANCE = 2


class Trigger(Kind):
    """Decides whether a perturbation applies to a call. It does not depend on other perturbations."""

    role: ClassVar[Role]
    """When it is evaluated."""

    depends_on_time_only: ClassVar[bool] = False
    """Whether it reads nothing but the time and the number of the world's calls."""

    carries_over: ClassVar[bool] = False
    """Whether a decision without effect (preempted, no_effect) passes to the next call that passes the filters."""

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        """Return the check for one tool. Called once for each tool in reach.

        `purpose` names the draws of this trigger: use `turn.draws.unit(purpose)`. The check may raise `Unevaluable`;
        then the perturbation is not decided, and the ledger says why.
        """
        raise NotImplementedError

    def why(self) -> str:
        """Return the options in a few words, for the ledger: `nth 1`, `probability 0.25`."""
        raise NotImplementedError

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        """Return why it can never hold, or why it is ambiguous, as sentences.

        Each is an error when the scenario is loaded. `tools` are those in reach of the perturbation.
        """
        return ()

    def warnings(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        """Return what is possible but hardly meant, as sentences. Each is a warning when the scenario is loaded."""
        return ()

    def never_holds(self) -> bool:
        """Whether it holds for no call at all, by its options."""
        return False

    def time_bounds(self, start: datetime) -> TimeBounds:
        """Return the bounds outside which it never holds, in a world that begins at `start`."""
        return TimeBounds()

    def call_numbers(self) -> CallNumbers | None:
        """Return the numbers of the calls for which a counter holds, if they are the same in every world; else None."""
        return None
