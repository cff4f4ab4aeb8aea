"""What does a call leave behind: the next version of the world, its step in the ledger, what is remembered of it?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mcp_sim.types import Change, ConditionFailure, Decision, PastCall, Record, Step, Transition, Turn
from mcp_sim.world.state import State
from mcp_sim.world.versions import Version


class Passed(Protocol):
    """What became of a call, as a world commits it."""

    @property
    def truth(self) -> Transition | None: ...
    @property
    def transition(self) -> Transition: ...
    @property
    def decided(self) -> tuple[Decision, ...]: ...
    @property
    def erred(self) -> tuple[ConditionFailure, ...]: ...
    @property
    def is_stub(self) -> bool: ...


def pinned(passed: Passed) -> tuple[Change, ...]:
    """What was made up for the answer and is true from now on, where the answer is the world's own."""
    transition, truth = passed.transition, passed.truth
    shown = truth is not None and transition.observation.body is truth.observation.body
    return transition.absorbed if shown else ()


def state_after(state: State, transition: Transition, absorbed: tuple[Change, ...]) -> State:
    """The state with what others did right before the call, and with what the call writes."""
    for due in transition.events:
        state = state.apply(due.changes)
    changes = (*transition.changes, *absorbed)
    return state.apply(changes, transition.agenda) if changes or transition.agenda else state


def version_after(before: Version, turn: Turn, state: State) -> Version:
    return Version(
        state=state,
        counts=tuple(turn.memories.counts),
        facts=before.facts,
        occurrences=before.occurrences.insert(turn.draws.scope, turn.draws.occurrence + 1),
        memories=turn.memories.committed(),
        index=turn.index,
        n=before.n,
    )


def step_of(n: int, turn: Turn, passed: Passed, absorbed: tuple[Change, ...]) -> Step:
    """The entry of a call, which is the ledger's nth."""
    transition = passed.transition
    return Step(
        n=n,
        entry="call",
        at=turn.now,
        index=turn.index,
        tool=turn.call.tool,
        arguments=turn.call.arguments,
        truth=passed.truth,
        served=transition.observation,
        committed=transition.changes,
        absorbed=absorbed,
        guessed=transition.guessed,
        stub=passed.is_stub,
        perturbations=passed.decided,
        erred=passed.erred,
        answers=turn.call.answers,
    )


def past_of(turn: Turn, transition: Transition, absorbed: tuple[Change, ...]) -> PastCall:
    changes = (*transition.changes, *absorbed)
    return PastCall(turn.index, turn.call.tool, turn.call.arguments, transition.observation.ok, turn.now, changes)


def replayed(state: State, steps: Sequence[Record]) -> State:
    """The state after all changes that a ledger's steps say were committed."""
    for step in steps:
        written = [*step.get("committed", ()), *step.get("pins", ())]
        state = state.apply([Change.from_json(body) for body in written])
    return state
