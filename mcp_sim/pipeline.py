"""What one call of one tool passes through: perturbations, and in their midst the world.

Stages from outside in: what others do to the world (the first listed outermost), transport, answer (the last listed
outermost), commit (likewise), before (the first listed outermost), world. All decisions are made when the turn opens,
on the call as it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from mcp_sim.conditions import ABSENT
from mcp_sim.consistency import Inspection
from mcp_sim.errors import Crash, Rejected, Unevaluable
from mcp_sim.extensions import Predictor, Stage
from mcp_sim.rules import Rule
from mcp_sim.scenario import Stub
from mcp_sim.schemas import as_object
from mcp_sim.surface import MISSING_CAPABILITY, SILENT, Manner, filled, lacking
from mcp_sim.types import (
    UNABLE,
    Attempt,
    Decided,
    Erred,
    Json,
    Observation,
    Outcome,
    Proceed,
    RpcError,
    ToolResult,
    Transition,
    Turn,
)
from mcp_sim.validation import Validator

MOST_RAW = 20_000
"""How much of a rejected answer is kept, in characters."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What became of a call: the world's own transition (None if it was not asked), the bent one, and who bent it."""

    truth: Transition | None
    transition: Transition
    decided: tuple[Decided, ...]
    is_stub: bool
    erred: tuple[Erred, ...] = ()


@dataclass(slots=True)
class _Course:
    """What is noted while one call is under way."""

    turn: Turn
    truth: Transition | None = None
    answered: Transition | None = None
    """The transition of a `before` kind that answered in the world's place."""
    reached: bool = False
    is_stub: bool = False
    entered: set[str] = field(default_factory=set[str])


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Everything that bears on the calls of one tool, compiled once per scenario."""

    rules: tuple[Rule, ...]
    arguments: Validator
    output: Validator | None
    inspect: Inspection
    stubs: tuple[Stub, ...]
    predictor: Predictor
    max_attempts: int
    fallback: Predictor | None
    manner: Manner = SILENT

    async def run(self, turn: Turn) -> Passage:
        """One call, from opening to what is to be committed. Raises Crash."""
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
            Decided(rule.id, rule.kind, outcomes[rule.id], f"{rule.why}, carried" if rule.id in carried else rule.why)
            for rule in decided
        )
        return Passage(course.truth, transition, named, course.is_stub, erred)

    def _decide(self, turn: Turn) -> tuple[Sequence[Rule], tuple[Erred, ...]]:
        """The rules that were decided for a call, and those that could not be."""
        decided, erred = list[Rule](), tuple[Erred, ...]()
        for rule in self.rules:
            try:
                if rule.decide(turn):
                    decided.append(rule)
            except Unevaluable as error:
                erred = (*erred, Erred(rule.id, rule.kind, str(error)))
        return decided, erred

    def _nest(self, active: Sequence[Rule], course: _Course) -> Proceed:
        """The perturbations that apply to this call, around the world."""

        async def world(turn: Turn) -> Transition:
            return await self._world(turn, course)

        proceed: Proceed = world
        for rule in sorted(active, key=lambda rule: rule.stage.depth(rule.place)):
            proceed = _layer(rule, proceed, course)
        return proceed

    async def _world(self, turn: Turn, course: _Course) -> Transition:
        """The world's step: check the arguments, predict, hold to the schema and to the world."""
        course.reached = True
        transition = self._refusal(turn)
        if transition is None:
            stub = next((stub for stub in self.stubs if _fits(stub, turn)), None)
            course.is_stub = stub is not None
            transition = self._stubbed(stub, turn) if stub is not None else await self._predict(turn)
            if self.manner is not SILENT:
                transition = self._in_its_manner(transition, turn)
        if turn.call is course.turn.call and turn.view is course.turn.view and turn.instruction is None:
            course.truth = transition
        return transition

    def _refusal(self, turn: Turn) -> Transition | None:
        """The answer to arguments that the inputSchema does not allow, and to a client that does not go along."""
        if self.arguments.is_valid(turn.call.arguments):
            return self._declined(turn) if turn.call.answers else None
        problems = self.arguments.problems(turn.call.arguments)
        message = "Invalid arguments: " + "; ".join(problems)
        slots = {**turn.call.arguments, "problems": "; ".join(problems)}
        return Transition(turn.tool.failure("invalid", message, **slots))

    def _declined(self, turn: Turn) -> Transition | None:
        """The answer where the client cannot be asked, or its user does not want to go on; None where all is well."""
        for questions in self.manner.asks:
            for name, ask in questions.items():
                answer = as_object(turn.call.answers.get(name))
                if answer == UNABLE:
                    return Transition(Observation(RpcError(MISSING_CAPABILITY, *lacking(ask.needs))))
                if ask.method == "elicitation/create" and answer.get("action", "accept") != "accept":
                    return Transition(turn.tool.failure("declined", "Declined by the user", **turn.call.arguments))
        return None

    def _in_its_manner(self, transition: Transition, turn: Turn) -> Transition:
        """With the blocks and the notifications that go with what succeeds."""
        observation = transition.observation
        body = observation.body
        if not observation.ok or not isinstance(body, ToolResult):
            return transition
        slots = _slots(turn, body.value)
        if self.manner.blocks and body.form != "blocks":
            body = ToolResult(filled(self.manner.blocks, slots), form="blocks")
        delay, notices = observation.delay, self.manner.notices
        if notices:
            delay += timedelta(milliseconds=notices[-1].get("at_ms", 0))
        return replace(transition, observation=Observation(body, delay, tuple(filled(notices, slots))))

    def _stubbed(self, stub: Stub, turn: Turn) -> Transition:
        if stub.error is not None:
            return Transition(Observation(ToolResult(stub.error, form="text", is_error=True)))
        if stub.blocks:
            return Transition(Observation(ToolResult(filled(stub.blocks, _slots(turn, None)), form="blocks")))
        form = "text" if isinstance(stub.result, str) else "json" if self.output is None else "structured"
        transition = Transition(Observation(ToolResult(stub.result, form=form)))
        problems = self._shape_problems(transition)
        if problems:
            raise Crash(turn.tool.id, f"a stub's result violates the outputSchema: {'; '.join(problems)}")
        return transition

    async def _predict(self, turn: Turn) -> Transition:
        rejected = tuple[Attempt, ...]()
        while len(rejected) < self.max_attempts:
            transition, attempt = await self._attempt(self.predictor, turn, rejected)
            if transition is not None:
                return _with_attempts(transition, rejected)
            rejected = (*rejected, attempt)
        if turn.instruction is not None:
            return _with_attempts(Transition(Observation(ToolResult("", form="text"))), rejected)
        if self.fallback is not None:
            transition, attempt = await self._attempt(self.fallback, turn, ())
            if transition is not None:
                return _with_attempts(transition, rejected, fallback=True)
            rejected = (*rejected, attempt)
        last = rejected[len(rejected) - 1]
        raise Crash(turn.tool.id, "; ".join(last.problems), _attempts_json(rejected))

    async def _attempt(
        self, predictor: Predictor, turn: Turn, rejected: tuple[Attempt, ...]
    ) -> tuple[Transition | None, Attempt]:
        """A transition that may be served, or None and what is wrong with the answer.

        What a failed attempt put into memory is dropped.
        """
        staged = dict(turn.memories.staged)
        try:
            transition = await predictor.predict(turn, rejected)
        except Rejected as error:
            turn.memories.staged = staged
            return None, Attempt(error.raw[:MOST_RAW], error.problems)
        except Crash as crash:
            raise Crash(crash.tool, crash.error, (*_attempts_json(rejected), *crash.attempts)) from None
        problems = (*self._shape_problems(transition), *self._content_problems(turn, transition))
        if not problems:
            return transition, Attempt("", ())
        turn.memories.staged = staged
        body = transition.observation.body
        raw = body.encoded.decode() if isinstance(body, ToolResult) else ""
        return None, Attempt(raw[:MOST_RAW], tuple(problems))

    def _content_problems(self, turn: Turn, transition: Transition) -> Sequence[str]:
        """Where a transition contradicts the world; or, where an instruction was followed, the instruction."""
        if turn.instruction is None:
            return self.inspect(turn, transition)
        return turn.instruction.problems(transition.observation) if transition.obeyed else ()

    def _shape_problems(self, transition: Transition) -> tuple[str, ...]:
        """Where a result violates the tool's outputSchema."""
        body = transition.observation.body
        if self.output is None or not isinstance(body, ToolResult) or body.is_error:
            return ()
        if body.form != "structured":
            return ("the tool declares an outputSchema, but the result is not structured",)
        return self.output.problems(body.value)


def _layer(rule: Rule, inner: Proceed, course: _Course) -> Proceed:
    """One perturbation around the rest. Where a `before` kind answered, commit kinds are passed by."""

    async def through(turn: Turn) -> Transition:
        if rule.stage is Stage.COMMIT and course.answered is not None:
            return course.answered
        if rule.stage in (Stage.WORLD, Stage.CATALOGUE):
            course.turn = turn  # the call meets tool and world as others left them: the truth is what it does there
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
    """Of each group only the first in file order."""
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
    """Count what was applied against `fires`, and carry what came to nothing to the next call in question."""
    for rule in decided:
        outcome = outcomes[rule.id]
        if outcome == "applied":
            rule.note_applied(turn)
        if rule.carries:
            turn.memories.of(rule.id).set("carried", outcome in ("preempted", "no_effect"))


def _fits(stub: Stub, turn: Turn) -> bool:
    arguments = turn.call.arguments
    return all(matches(arguments.get(name, ABSENT)) for name, matches in stub.arguments.items())


def _slots(turn: Turn, result: Json) -> dict[str, Json]:
    """What templates of an answer may speak of: fields of the result, answers of the client, arguments."""
    shown = as_object(result) or {"result": result}
    return {**turn.call.arguments, **turn.call.answers, **shown}


def _with_attempts(transition: Transition, rejected: tuple[Attempt, ...], *, fallback: bool = False) -> Transition:
    if not rejected:
        return transition
    noted: dict[str, Any] = {"rejected": _attempts_json(rejected)}
    return replace(transition, measured={**transition.measured, **noted, **({"fallback": True} if fallback else {})})


def _attempts_json(rejected: tuple[Attempt, ...]) -> list[dict[str, Any]]:
    return [{"raw": attempt.raw, "problems": list(attempt.problems)} for attempt in rejected]
