"""The pipeline of a tool: its faults, nested around the step of the world.

From the outside in: catalogue, world, transport, answer, commit, before (`Stage`), then the world's step. All faults
decide when the turn opens, on the unmodified call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from mcp_sim.faults.compile import CompiledFault
from mcp_sim.simulator.world_step import WorldStep
from mcp_sim.types import ConditionFailure, Decision, Outcome, Proceed, Transition, Turn
from mcp_sim.types.errors import Unevaluable
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Stage
from mcp_sim.world.commits import AnsweredCall

Decided: TypeAlias = tuple[Sequence[CompiledFault], tuple[ConditionFailure, ...]]
"""The faults that apply to a call, and those whose condition could not be evaluated."""


@dataclass(slots=True)
class _Course:
    """Notes about one call while it runs."""

    turn: Turn
    truth: Transition | None = None
    answered_before_commit: Transition | None = None
    """The transition of a `before` fault that answered instead of the world, where commit faults surround it."""
    reached: bool = False
    is_stub: bool = False
    entered: set[str] = field(default_factory=set[str])


@frozen
class Pipeline:
    """The compiled faults and world step of one tool, shared by all worlds."""

    faults: tuple[CompiledFault, ...]
    step: WorldStep
    compared: frozenset[str] = frozenset()
    """The ids of the faults whose calls some expectation compares with what they do without faults."""

    def decide(self, turn: Turn) -> Decided:
        """Decide which faults apply to a call."""
        decided, errors = list[CompiledFault](), tuple[ConditionFailure, ...]()
        for fault in self.faults:
            try:
                if fault.decide(turn):
                    decided.append(fault)
            except Unevaluable as error:
                errors = (*errors, ConditionFailure(fault.id, fault.kind, str(error)))
        return decided, errors

    def run_at_once(self, turn: Turn, decided: Decided) -> AnsweredCall | None:
        """Run one call for which there is nothing to wait: each fault that applies only counts it.

        Returns None, and leaves the turn as it was, if there may be more to do than that.
        """
        faults, errors = decided
        staged = {**turn.memories.staged}
        if all(fault.count is not None and fault.count(turn) for fault in faults):
            transition = self.step.answered_at_once(turn)
            if transition is not None:
                decisions = tuple([Decision(fault.id, fault.kind, "no_effect", fault.why) for fault in faults])
                return AnsweredCall(transition, transition, decisions, is_stub=False, errors=errors)
        turn.memories.staged = staged
        return None

    async def run(self, turn: Turn, decided: Decided) -> AnsweredCall:
        """Run one call, up to the transition that is to be committed. Raises `Crash`."""
        course = _Course(turn)
        faults, errors = decided
        if not faults:
            transition = await self._world(turn, course)
            return AnsweredCall(course.truth, transition, (), course.is_stub, errors)
        carried = {fault.id for fault in faults if fault.carries_over and turn.memories.of(fault.id).get("carried")}
        # Capped faults are left out before groups choose: one that has used up its fires must not block the next of its
        # group.
        outcomes: dict[str, Outcome] = {fault.id: "capped" for fault in faults if fault.is_capped(turn)}
        active = _first_of_each_group([fault for fault in faults if fault.id not in outcomes])
        transition = await self._nest(active, course)(turn)
        for fault in faults:
            if fault.id not in outcomes:
                outcomes[fault.id] = _outcome(fault, transition, course)
            outcome = outcomes[fault.id]
            if outcome == "applied":  # counts against `fires`
                fault.note_applied(turn)
            if fault.carries_over:  # to the next call in reach
                turn.memories.of(fault.id).set("carried", outcome in ("preempted", "no_effect"))
        decisions = tuple(
            Decision(
                fault.id, fault.kind, outcomes[fault.id], f"{fault.why}, carried" if fault.id in carried else fault.why
            )
            for fault in faults
        )
        counterfactual = None
        # The call is computed once more only where an expectation compares with it: it costs as much as the call.
        if course.truth is None and any(outcomes[name] == "applied" for name in self.compared & outcomes.keys()):
            counterfactual = await self.step.counterfactual(
                turn.after([change for due in transition.events for change in due.changes])
                if transition.events
                else turn
            )
        return AnsweredCall(course.truth, transition, decisions, course.is_stub, errors, counterfactual)

    def _nest(self, active: Sequence[CompiledFault], course: _Course) -> Proceed:
        """Nest the faults that apply around the world's step."""

        async def world(turn: Turn) -> Transition:
            return await self._world(turn, course)

        proceed: Proceed = world
        # From the inside out: each fault surrounds those that are nested so far.
        for fault in sorted(active, key=lambda fault: fault.stage.depth(fault.place)):
            proceed = _layer(fault, proceed, course)
        return proceed

    async def _world(self, turn: Turn, course: _Course) -> Transition:
        """Run the world's step, and note it as the truth if no fault changed the call, the state or what is written."""
        course.reached = True
        transition, course.is_stub = await self.step.answered(turn)
        # By identity: a fault that bends call or view makes a new one, and comparing records would cost more than the
        # call.
        if turn.call is course.turn.call and turn.view is course.turn.view and not (turn.instruction or turn.lost):
            course.truth = transition
        return transition


def _layer(fault: CompiledFault, inner: Proceed, course: _Course) -> Proceed:
    """Nest one fault around the rest. Commit faults are skipped where a `before` fault answered."""

    async def through(turn: Turn) -> Transition:
        if fault.stage is Stage.COMMIT and course.answered_before_commit is not None:
            return course.answered_before_commit
        if fault.stage in (Stage.WORLD, Stage.CATALOGUE):
            course.turn = turn  # the truth is what the call does to the tool and the world as this fault left them
        transition = await inner(turn)
        if fault.stage is Stage.COMMIT and not course.reached:
            course.answered_before_commit = transition
        return transition

    async def layer(turn: Turn) -> Transition:
        course.entered.add(fault.id)
        # A fault writes memory under its own id, but what it surrounds must not.
        owned = turn.owned_by(fault.id)
        transition = await fault.apply(owned, lambda inward: through(turn if inward is owned else inward.owned_by("")))
        if fault.stage is Stage.COMMIT and course.answered_before_commit is not None:
            return course.answered_before_commit
        return transition

    return layer


def _first_of_each_group(faults: Sequence[CompiledFault]) -> list[CompiledFault]:
    """Return the faults, of each group only the first in file order."""
    taken = set[str]()
    kept = list[CompiledFault]()
    for fault in faults:
        if fault.group is None or fault.group not in taken:
            kept.append(fault)
        if fault.group is not None:
            taken.add(fault.group)
    return kept


def _outcome(fault: CompiledFault, transition: Transition, course: _Course) -> Outcome:
    if fault.id not in course.entered or (fault.stage is Stage.COMMIT and course.answered_before_commit is not None):
        return "preempted"
    return "no_effect" if fault.id in transition.no_effect else "applied"
