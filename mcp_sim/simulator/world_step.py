"""The world's own step within a call: check the arguments, look for a stub, else predict, hold the answer to the world.

What cannot be served is asked for again, as often as the world model allows; then it is a crash.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from mcp_sim.types import UNABLE, Attempt, Json, Observation, RpcError, ToolResult, Transition, Turn
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.errors import Crash, Rejected
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.kinds import Predictor
from mcp_sim.types.scenario import Stub
from mcp_sim.types.surface import MISSING_CAPABILITY, SILENT, Manner, filled, lacking
from mcp_sim.world.consistency import Inspection

MOST_RAW = 20_000
"""How much of a rejected answer is kept, in characters."""


@dataclass(frozen=True, slots=True)
class WorldStep:
    """What the world does at the calls of one tool, compiled once per scenario."""

    arguments: Validator
    output: Validator | None
    inspect: Inspection
    stubs: tuple[Stub, ...]
    predictor: Predictor
    max_attempts: int
    fallback: Predictor | None
    manner: Manner = SILENT

    async def answered(self, turn: Turn) -> tuple[Transition, bool]:
        """What the world makes of a call, and whether a stub says so. Raises Crash."""
        refused = self._refusal(turn)
        if refused is not None:
            return refused, False
        stub = next((stub for stub in self.stubs if _fits(stub, turn)), None)
        transition = self._stubbed(stub, turn) if stub is not None else await self._predict(turn)
        told = transition if self.manner is SILENT else self._in_its_manner(transition, turn)
        return told, stub is not None

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
