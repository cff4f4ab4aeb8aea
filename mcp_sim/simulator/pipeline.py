"""The pipeline of a tool: its faults, nested around the step of the world.

Stages from the outside in: world and catalogue (first listed outermost), transport, answer (last listed outermost),
commit (last listed outermost), before (first listed outermost), then the world's step. All faults decide when the turn
opens, on the unmodified call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mcp_sim.faults.compile import Rule
from mcp_sim.simulator.world_step import WorldStep
from mcp_sim.types import ConditionFailure, Decision, Outcome, Proceed, Transition, Turn
from mcp_sim.types.errors import Unevaluable
from mcp_sim.types.kinds import Stage


@dataclass(frozen=True, slots=True)
class Passage:
    """The outcome of a call: the world's own transition (None if it was not asked), the final one, and the faults."""

    truth: Transition | None
    transition: Transition
    decided: tuple[Decision, ...]
    is_stub: bool
    erred: tuple[ConditionFailure, ...] = ()


@dataclass(slots=True)
class _Course:
    """Notes about one call while it runs."""

    turn: Turn
    truth: Transition | None = None
    answered: Transition | None = None
    """The transition of a fault of stage `before` that answered instead of the world."""
    reached: bool = False
    is_stub: bool = False
    entered: set[str] = field(default_factory=set[str])


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The compiled faults and world step of one tool, shared by all worlds."""

    rules: tuple[Rule, ...]
    step: WorldStep

    async def run(self, turn: Turn) -> Passage:
        """Run one call, up to the transition that is to be committed. Raises `Crash`."""
        course = _Course(turn)
        decided, erred = self._decide(turn)
        if not decided:
            transition = await self._world(turn, course)
            return Passage(course.truth, transition, (), course.is_stub, erred)
        carried = {rule.id for rule in decided if rule.carries and turn.memories.of(rule.id).get("carried")}
        outcomes: dict[str, Outcome] = {rule.id: "capped" for rule in decided if rule.is_capped(turn)}
        active = _one_per_group([rule for rule in decided if rule.id not in outcomes])
        transition = await self._nest(active, course)(turn)
        for rule in decided:
            if rule.id not in outcomes:
                outcomes[rule.id] = _outcome(rule, transition, course)
        _remember(turn, decided, outcomes)
        named = tuple(
            Decision(rule.id, rule.kind, outcomes[rule.id], f"{rule.why}, carried" if rule.id in carried else rule.why)
            for rule in decided
        )
        return Passage(course.truth, transition, named, course.is_stub, erred)

    def _decide(self, turn: Turn) -> tuple[Sequence[Rule], tuple[ConditionFailure, ...]]:
        """Return the faults that apply to a call, and those whose condition could not be evaluated."""
        decided, erred = list[Rule](), tuple[ConditionFailure, ...]()
        for rule in self.rules:
            try:
                if rule.decide(turn):
                    decided.append(rule)
            except Unevaluable as error:
                erred = (*erred, ConditionFailure(rule.id, rule.kind, str(error)))
        return decided, erred

    def _nest(self, active: Sequence[Rule], course: _Course) -> Proceed:
        """Nest the faults that apply around the world's step."""

        async def world(turn: Turn) -> Transition:
            return await self._world(turn, course)

        proceed: Proceed = world
        for rule in sorted(active, key=lambda rule: rule.stage.depth(rule.place)):
            proceed = _layer(rule, proceed, course)
        return proceed

    async def _world(self, turn: Turn, course: _Course) -> Transition:
        """Run the world's step. It is the truth if the world was asked the agent's own call."""
        course.reached = True
        transition, course.is_stub = await self.step.answered(turn)
        if turn.call is course.turn.call and turn.view is course.turn.view and turn.instruction is None:
            course.truth = transition
        return transition


def _layer(rule: Rule, inner: Proceed, course: _Course) -> Proceed:
    """Nest one fault around the rest. Commit faults are skipped where a `before` fault answered."""

    async def through(turn: Turn) -> Transition:
        if rule.stage is Stage.COMMIT and course.answered is not None:
            return course.answered
        if rule.stage in (Stage.WORLD, Stage.CATALOGUE):
            course.turn = turn  # the truth is what the call does to the tool and the world as this fault left them
        transition = await inner(turn)
        if rule.stage is Stage.COMMIT and not course.reached:
            course.answered = transition
        return transition

    async def layer(turn: Turn) -> Transition:
        course.entered.add(rule.id)
        owned = turn.owned_by(rule.id)
        bent = await rule.apply(owned, lambda inward: through(turn if inward is owned else inward.owned_by("")))
        if rule.stage is Stage.COMMIT and course.answered is not None:
            return course.answered
        return bent

    return layer


def _one_per_group(rules: Sequence[Rule]) -> list[Rule]:
    """Return the faults, of each group only the first in file order."""
    taken = set[str]()
    kept = list[Rule]()
    for rule in rules:
        if rule.group is None or rule.group not in taken:
            kept.append(rule)
        if rule.group is not None:
            taken.add(rule.group)
    return kept


def _outcome(rule: Rule, transition: Transition, course: _Course) -> Outcome:
    if rule.id not in course.entered or (rule.stage is Stage.COMMIT and course.answered is not None):
        return "preempted"
    return "no_effect" if rule.id in transition.no_effect else "applied"


def _remember(turn: Turn, decided: Sequence[Rule], outcomes: dict[str, Outcome]) -> None:
    """Count applied faults against `fires`, and carry faults without effect to the next call in reach."""
    for rule in decided:
        outcome = outcomes[rule.id]
        if outcome == "applied":
            rule.note_applied(turn)
        if rule.carries:
            turn.memories.of(rule.id).set("carried", outcome in ("preempted", "no_effect"))
