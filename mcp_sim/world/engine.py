"""What acts on worlds: the engine that answers their calls, and the judge that grades them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from mcp_sim.types import Call, Observation, Record
from mcp_sim.types.calls import Request
from mcp_sim.types.grades import Exercised, Grade
from mcp_sim.world.commits import Faults

if TYPE_CHECKING:
    from mcp_sim.world.world import World

T = TypeVar("T")


class Engine(Protocol):
    """Answers the calls of worlds, and lets others act on them between calls."""

    async def answer(self, world: World, call: Call) -> Observation:
        """Answer a call. Raises `Crash`, or `BadArguments`."""
        ...

    def answer_at_once(self, world: World, call: Call) -> Observation | None:
        """Answer a call whose result can be delivered without waiting for anything.

        None if it may take longer, or ends otherwise; then it was not made. Raises `Crash` if it cannot be recorded.
        """
        ...

    async def ask(self, world: World, call: Call) -> Observation:
        """Return what a call would be answered now, without faults and without a step. Raises `Crash`."""
        ...

    def ask_at_once(self, world: World, call: Call) -> Observation | None:
        """Return the same, if there is nothing to wait for."""
        ...

    async def request(self, world: World, server: str, request: Request) -> Record | None:
        """Return what a real server or a recording answers to a request other than a call, or None.

        Raises `Crash`.
        """
        ...

    async def steer(self, world: World, act: Callable[[], T]) -> T:
        """Run what someone does to a world while no call is answered, and keep what it changes."""
        ...

    async def act(self, world: World, call: Call, actor: str) -> Observation:
        """Make a call as someone other than the agent: without faults, and as an event. Raises `Crash`."""
        ...

    def refit(self, faults: Faults, steered: Record) -> Faults:
        """Return the perturbations after one was added, enabled or disabled, as an event names it.

        Raises `DocumentError` with the problems of the perturbation, `UsageError` if the id is unknown.
        """
        ...


class Judge(Protocol):
    """Grades worlds."""

    def __call__(self, world: World, answer: str | None, *, strict: bool, exercised: Exercised) -> Grade: ...
