"""What is a perturbation: where in a call does it stand, and what may it do there?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from typing import ClassVar, Literal, TypeAlias

from mcp_sim.types import Change, Observation, Proceed, Tool, Transition, Turn, View
from mcp_sim.types.domain import Concealed, Domain
from mcp_sim.types.draws import Draws
from mcp_sim.types.kinds.kind import Kind


class Stage(IntEnum):
    """Where in a call a perturbation stands. Outermost first: CATALOGUE, WORLD, TRANSPORT, ANSWER, COMMIT, BEFORE.

    CATALOGUE is for what changes the tools themselves: it lasts, once its `when` has held for a call, or as long as it
    holds where that looks at time alone. What stands further in sees the call as the tool was.
    WORLD is for what others do to the world before the call, which is then made on what they left.
    """

    BEFORE = 0
    COMMIT = 1
    ANSWER = 2
    TRANSPORT = 3
    WORLD = 4
    CATALOGUE = 5

    def depth(self, place: int) -> tuple[int, int]:
        """Sorts the innermost first, given the place in the file.

        Before (the last listed innermost), commit, answer, transport (the first listed innermost); outside of all
        stands what others do to the world (the last listed innermost).
        """
        return (self, -place if self in (Stage.BEFORE, Stage.WORLD) else place)


Apply: TypeAlias = Callable[[Turn, Proceed], Awaitable[Transition]]
"""What a perturbation does to the calls of one tool."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """A time at which a perturbation acts by itself, and the world as it is then."""

    at: datetime
    view: View
    draws: Draws


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools of a server as they would be listed, and the ids of those in a perturbation's reach."""

    tools: tuple[Tool, ...]
    server: str
    reach: frozenset[str]
    draws: Draws


class Perturbation(Kind):
    """Bends a call. What a subclass says in `apply` is done at the calls that its entry's `when` decides for.

    A `before` kind may answer without calling `proceed`, or change the turn's call and proceed. A `commit` kind bends
    the changes of what `proceed` returns, an `answer` kind its observation, a `transport` kind its delivery.
    A `world` kind proceeds with `turn.after(changes)` and adds them to the transition's `events`.
    """

    stage: ClassVar[Stage]

    visibility: ClassVar[Literal["explicit", "implicit"]] = "explicit"
    """Whether the agent gets a sign that something went wrong; an entry's `visible:` overrides it."""

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        """The bent transition. Return `turn.no_effect(transition)` where there is nothing to bend."""
        raise NotImplementedError

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        """What is done to the calls of one tool: `apply`, unless a kind must know more than the turn tells."""
        return self.apply

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        """What makes these options impossible with the tools in reach; each is an error at load."""
        return ()

    def catalogue(self, listing: Listing) -> Sequence[Tool]:
        """The tools as they are listed while it is in force."""
        return listing.tools

    def announces(self) -> bool:
        """Are clients told when it comes into force, and when it no longer is?"""
        return False

    def answer_added(self, turn: Turn) -> Observation | None:
        """The answer of a tool that only its catalogue lists; None for any other tool."""
        return None

    def is_timed(self) -> bool:
        """Does it act by itself, at times of the world, instead of at calls?"""
        return False

    def occasions(self, start: datetime, after: datetime, until: datetime) -> Iterable[tuple[int, datetime]]:
        """When it acts, later than `after` and not later than `until`, in a world that began at `start`; numbered."""
        return ()

    def act(self, occasion: Occasion, domain: Domain) -> tuple[str, Sequence[Change]]:
        """Who does what then."""
        raise NotImplementedError

    reads_past_versions: ClassVar[bool] = False
    """True where it looks at older versions of the state, `turn.versions`; the world keeps them then."""

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        """Does what is served of this tool still fit its outputSchema? Else the tool is listed without it."""
        return True

    def notifies(self) -> bool:
        """May it send notifications in the course of a call?"""
        return False

    def conceals(self, domain: Domain, tools: Sequence[Tool], *, always: bool) -> Sequence[Concealed]:
        """What of the records the agent may not see, with these tools in reach, so that no world model tells it.

        `always`: it applies to all their calls.
        """
        return ()

    def ends_calls(self) -> bool:
        """Does it answer every call that it is applied to, so that nothing further in is reached?"""
        return False

    def alters(self, tool: Tool) -> frozenset[str]:
        """What of a tool only one perturbation at a time can change; two that alter the same conflict."""
        return frozenset()

    def is_hostile(self) -> bool:
        """Does it try to turn the agent against its user? Then the scenario must say `allow_adversarial: true`."""
        return False

    def breaks(self) -> frozenset[str]:
        """How it may break a delivery, as `BrokenDelivery.how` names it; the transport must be able to."""
        return frozenset()
