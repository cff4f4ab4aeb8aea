"""What may one call look at, and what does it do?"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeAlias

from mcp_sim.types.change import Change, Due
from mcp_sim.types.draws import Draws
from mcp_sim.types.memory import Memories, Memory
from mcp_sim.types.observation import Observation
from mcp_sim.types.tool import Tool
from mcp_sim.types.values import Json, Record
from mcp_sim.types.view import View


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call as it came. `tool` is the tool's id in the scenario (`server/name` where several are served).

    `answers` is what the client answered to the tool's questions, by their names; UNABLE where it could not be asked.
    With an idempotency `key`, it is made once.
    """

    tool: str
    arguments: dict[str, Json]
    answers: dict[str, Json] = field(default_factory=dict[str, Any])
    key: str | None = None


UNABLE: Record = {"action": "unable"}
"""Stands for the answer of a client that lacks the capability to be asked."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An answer of a world model that could not be served: what it said, and what was wrong with it."""

    raw: str
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Transition:
    """What a call does: its observation and its changes.

    `events` are what others did right before the call: each is committed as an event of its own, ahead of the call, and
    the call's changes are computed from the state after them. They stay whatever the agent is answered.
    `absorbed` are records that the observation tells of for the first time: they exist from now on, if it is served.
    `no_effect` holds the ids of perturbations that found nothing to bend. `measured` is not part of a run's identity.
    """

    observation: Observation
    changes: tuple[Change, ...] = ()
    agenda: tuple[Due, ...] = ()
    events: tuple[Due, ...] = ()
    absorbed: tuple[Change, ...] = ()
    guessed: bool = False
    no_effect: frozenset[str] = frozenset()
    obeyed: bool = False
    """True where a language model followed the turn's instruction."""
    measured: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class PastCall:
    """An earlier call, or event (tool ''), as later calls may look at it, and the changes that were committed."""

    index: int
    tool: str
    arguments: dict[str, Json]
    ok: bool
    at: datetime
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Instruction:
    """What a language model is asked to make of the true answer; `problems` says what a result lacks of it."""

    text: str
    problems: Callable[[Observation], Sequence[str]]


@dataclass(frozen=True, slots=True)
class PastVersion:
    """A version of the state, and the call (0: none) and the time since which it was the newest."""

    index: int
    at: datetime
    view: View


@dataclass(frozen=True, slots=True)
class Turn:
    """Everything that one call may look at. `index` counts the world's calls from 1; `owner` is whose turn it is.

    `versions` are the newest versions of the state, oldest first, the present one included; they are kept where a
    perturbation of the scenario looks back. `instruction` is for a language model.
    """

    call: Call
    index: int
    tool: Tool
    view: View
    start: datetime
    now: datetime
    draws: Draws
    history: Sequence[PastCall]
    memories: Memories
    owner: str = ""
    versions: Sequence[PastVersion] = ()
    instruction: Instruction | None = None

    @property
    def memory(self) -> Memory:
        """The owner's own persistent map."""
        return self.memories.of(self.owner)

    def chance(self, purpose: str = "") -> float:
        """The owner's own number in [0, 1) for this call."""
        return self.draws.unit(f"{self.owner}/{purpose}")

    def owned_by(self, owner: str) -> Turn:
        """The same turn through the eyes of another perturbation."""
        return replace(self, owner=owner)

    def after(self, changes: Iterable[Change]) -> Turn:
        """The same call on the state as it would be after these changes."""
        return replace(self, view=self.view.after(changes))

    def by(self, actor: str, *changes: Change) -> Due:
        """What someone else did just now, to be one of a transition's `events`."""
        return Due(self.now, actor, changes)

    def no_effect(self, transition: Transition) -> Transition:
        """The transition as it was, with the note that the owner found nothing to bend."""
        return replace(transition, no_effect=transition.no_effect | {self.owner})


Proceed: TypeAlias = Callable[[Turn], Awaitable[Transition]]
"""The rest of the pipeline, as a perturbation sees it."""
