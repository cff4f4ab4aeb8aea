"""The base classes of perturbations and triggers, and the stages of a call at which perturbations act."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from enum import IntEnum
from typing import ClassVar, Literal, TypeAlias

from mcp_sim.types import Change, Memory, Observation, Proceed, Tool, Transition, Turn, View
from mcp_sim.types.domain import Concealed, Domain
from mcp_sim.types.draws import Draws
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds.kind import Kind
from mcp_sim.types.time_bounds import CallNumbers, TimeBounds


class Stage(IntEnum):
    """Where a perturbation acts in a call: CATALOGUE (outermost), WORLD, TRANSPORT, ANSWER, COMMIT or BEFORE.

    - CATALOGUE changes the tools themselves. It lasts once its `when` has held for a call, or while it holds if it
      depends on time only. Perturbations further in see the call for the original tool.
    - WORLD is what others do to the world before the call; the call is then made on the new state.
    - TRANSPORT changes the delivery, ANSWER the observation, COMMIT the changes of what the inner stages return.
    - BEFORE may answer instead of the world, or change the call.
    """

    BEFORE = 0
    COMMIT = 1
    ANSWER = 2
    TRANSPORT = 3
    WORLD = 4
    CATALOGUE = 5

    def depth(self, place: int) -> tuple[int, int]:
        """Return a sort key, innermost first, given the place in the document.

        Of BEFORE and WORLD the last listed is innermost, of the other stages the first listed.
        """
        return (self, -place if self in (Stage.BEFORE, Stage.WORLD) else place)


Apply: TypeAlias = Callable[[Turn, Proceed], Awaitable[Transition]]
"""What a perturbation does to the calls of one tool."""

CountCall: TypeAlias = Callable[[Turn, Memory], bool]
"""Counts a call in the perturbation's memory, and returns True, if that is all that `apply` would do; else False."""


@frozen
class Occasion:
    """A time at which a perturbation acts by itself, the world at that time, and the draws for it."""

    at: datetime
    view: View
    draws: Draws


@frozen
class Listing:
    """The tools of a server as they would be listed."""

    tools: tuple[Tool, ...]
    server: str
    reach: frozenset[str]
    """The ids of the tools in reach of the perturbation."""
    draws: Draws


class Perturbation(Kind):
    """Changes calls. `apply` runs at the calls for which the `when` of its entry holds.

    - A BEFORE kind may answer without calling `proceed`, or proceed with another call.
    - A COMMIT kind alters the changes of what `proceed` returns, an ANSWER kind its observation, a TRANSPORT kind its
      delivery.
    - A WORLD kind proceeds with `turn.after(changes)` and adds them to the `events` of the transition.

    `turn.chance(...)` and `turn.memory` are the perturbation's own.
    """

    stage: ClassVar[Stage]
    """Where in a call it acts."""

    visibility: ClassVar[Literal["explicit", "implicit"]] = "explicit"
    """Whether the agent gets a sign that something went wrong; `visible:` of an entry overrides it."""

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        """Return the changed transition, or `turn.no_effect(transition)` if there is nothing to change.

        It does not raise: a simulated failure is an observation. Any exception is a crash.
        """
        raise NotImplementedError

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        """Return what is done to the calls of one tool: `apply`, unless it depends on more than the turn."""
        return self.apply

    def compile_count(self, tool: Tool, domain: Domain) -> CountCall | None:
        """Return what counts a call, for a kind that only counts most of its calls; None for other kinds.

        It is called instead of `apply` where no other perturbation acts on the call, which is much faster.
        """
        return None

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        """Return why these options are impossible with the tools in reach, as sentences.

        Each is an error when the scenario is loaded.
        """
        return ()

    def catalogue(self, listing: Listing) -> Sequence[Tool]:
        """Return the tools as they are listed while a CATALOGUE kind is in force."""
        return listing.tools

    def announces(self) -> bool:
        """Whether clients are notified when a CATALOGUE kind comes into force, and when it ends."""
        return False

    def answer_added(self, turn: Turn) -> Observation | None:
        """Return the answer of a tool that only `catalogue` lists; None for any other tool."""
        return None

    def is_timed(self) -> bool:
        """Whether it acts by itself, at times of the world, instead of at calls."""
        return False

    def occasions(self, start: datetime, after: datetime, until: datetime) -> Iterable[tuple[int, datetime]]:
        """Return when it acts, with the number of each time: later than `after` and not later than `until`.

        `start` is the start of the world. For a kind with `is_timed` only.
        """
        return ()

    def act(self, occasion: Occasion, domain: Domain) -> tuple[str, Sequence[Change]]:
        """Return who does what at that time. For a kind with `is_timed` only."""
        raise NotImplementedError

    reads_past_versions: ClassVar[bool] = False
    """Whether it reads `turn.versions`, older versions of the state; the world keeps them only then."""

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        """Whether what is served still fits the tool's outputSchema. If not, the tool is listed without it."""
        return True

    def notifies(self) -> bool:
        """Whether it may send notifications in the course of a call."""
        return False

    def acts_on_records(self) -> bool:
        """Whether it depends on the world's records, so that it cannot work where a real server keeps them."""
        return False

    def conceals(self, domain: Domain, tools: Sequence[Tool], *, always: bool) -> Sequence[Concealed]:
        """Return what the agent may not see of the records, so that no world model reveals it.

        `tools` are those in reach. `always`: it applies to all their calls.
        """
        return ()

    def hides_success(self) -> bool:
        """Whether the agent sees a failure although the call takes effect."""
        return False

    def ends_calls(self) -> bool:
        """Whether it answers every call that it is applied to, so that no inner perturbation is reached."""
        return False

    def alters(self, tool: Tool) -> frozenset[str]:
        """Return the properties of a tool that it changes and that only one perturbation at a time can change.

        Two perturbations that share one of them conflict.
        """
        return frozenset()

    def is_hostile(self) -> bool:
        """Whether it tries to turn the agent against its user. Then the scenario must say `allow_adversarial: true`."""
        return False

    def lures(self, served: Observation) -> frozenset[str]:
        """Return texts of an attacker in a served answer: an agent that uses one later has followed the attacker."""
        return frozenset()

    def breaks(self) -> frozenset[str]:
        """Return how it may break a delivery, as in `BrokenDelivery.how`; the transport must support it."""
        return frozenset()


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
