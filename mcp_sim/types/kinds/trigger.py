"""What is a trigger, and when is it looked at?"""

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
"""Does it hold for this turn, which is the count-th (from 1) that passed the filters?"""


class Role(IntEnum):
    """When a trigger is looked at: filters first; counters see the calls that pass them; chance is drawn last."""

    FILTER = 0
    COUNTER = 1
    CHANCE = 2


class Trigger(Kind):
    """Decides whether a perturbation applies to a call. It never looks at other perturbations."""

    role: ClassVar[Role]

    depends_on_time_only: ClassVar[bool] = False
    """True where it looks at nothing but the time and the number of the world's calls."""

    carries_over: ClassVar[bool] = False
    """True where a decision that came to nothing (preempted, no_effect) is carried to the next call in question."""

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        """The check for one tool; `purpose` names this trigger's own draws."""
        raise NotImplementedError

    def why(self) -> str:
        """The options in few words, for the ledger: `nth 1`, `probability 0.25`."""
        raise NotImplementedError

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        """What makes it impossible that this ever holds, or unclear what is meant; each is an error at load."""
        return ()

    def warnings(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        """What is possible and hardly meant; each is a warning at load."""
        return ()

    def time_bounds(self, start: datetime) -> TimeBounds:
        """The part of a world's life, begun at `start`, outside of which it never holds."""
        return TimeBounds()

    def call_numbers(self) -> CallNumbers | None:
        """Of a counter: the numbers of the calls it holds for, where they are the same in every world."""
        return None
