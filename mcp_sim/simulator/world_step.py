"""The world's step within a call: check the arguments, find a stub, else predict and check the answer.

An answer that cannot be served is requested again, up to `max_attempts` of the world model; then the call crashes.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import field, replace
from datetime import timedelta
from typing import Any, cast

from mcp_sim.generate.media import media_block
from mcp_sim.types import UNABLE, Attempt, Json, KeptAnswer, Observation, Record, RpcError, ToolResult, Transition, Turn
from mcp_sim.types.calls import NESTED
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.error_templates import invalid_arguments, refused_as
from mcp_sim.types.errors import Crash, Rejected, Unmatched
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.satisfiability import NoInstance
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import Path, decode, get_part, replace_part
from mcp_sim.types.kinds import Predictor
from mcp_sim.types.scenario import Stub
from mcp_sim.types.surface import (
    MISSING_CAPABILITY,
    NO_INTERACTION,
    ArgumentCheck,
    ToolInteraction,
    fill_slots,
    missing_capability_error,
)
from mcp_sim.world.consistency import Inspection

logger = logging.getLogger(__name__)

MOST_RAW = 20_000
"""The maximum length of a rejected answer in the ledger, in characters. A rejected reply may repeat until its tokens
run out, and the ledger keeps each of them."""


async def refused(turn: Turn) -> Transition:
    """Return the answer to arguments that violate the inputSchema."""
    return Transition(invalid_arguments(turn))


@frozen
class Source:
    """A world model that answers a tool; the next one answers what it has no answer to."""

    predictor: Predictor
    max_attempts: int
    fallback: Predictor | None = None
    name: str = ""
    """Its kind, which the ledger notes. The built-in one has none where it is alone."""
    judges_arguments: bool = False
    """Whether it answers calls with invalid arguments."""
    is_planned: bool = True
    """Whether it follows plans: what these infer does not hold against a call, and results are repaired. So are those
    of the fallback."""
    is_local: bool = True
    """Whether it asks no language model and no real server."""
    predict_at_once: Callable[[Turn], Transition | None] | None = None
    """What the predictor answers without waiting, if it can (`ImmediatePredictor`)."""


@frozen
class WorldStep:
    """The world's step for the calls of one tool, compiled once per scenario."""

    arguments: Validator
    output: Validator | None
    inspect: Inspection
    inspect_firmly: Inspection
    """Checks only what is declared or given. What a plan merely infers, and a call contradicts, does not hold."""
    stubs: tuple[Stub, ...]
    sources: tuple[Source, ...]
    """At least one."""
    interaction: ToolInteraction = NO_INTERACTION
    planned_output: Validator | None = None
    """Checks the results of plans, also their formats."""
    repair: Callable[[Json], Json] | None = None
    """Returns a value that is valid under the outputSchema, close to the value that a plan led to."""
    refuse: Callable[[Turn], Awaitable[Transition]] = refused
    """Answers a call with invalid arguments, as `Turn.problems` says."""
    is_lenient: bool = False
    """Whether texts that spell valid values are taken for them, as the tool spec declares."""
    doubts: set[str] = field(default_factory=set[str])
    """The rules that answers of plans broke since something was only inferred. Each is logged once."""

    def answered_at_once(self, turn: Turn) -> Transition | None:
        """Return the world's transition for a plain call that its first source answers without waiting.

        None means that it takes `answered`: the arguments are invalid, a stub or the client answers, the source is a
        language model or may take long, or the answer cannot be served.
        """
        source = self.sources[0]
        turn = self._read_leniently(turn)
        if source.predict_at_once is None or turn.call.answers or self.stubs or turn.kept is not None:
            return None
        if self._failed_check(turn) is not None:
            return None
        try:
            transition = source.predict_at_once(turn) if self.arguments.is_valid(turn.call.arguments) else None
        except RecursionError:
            return None
        if transition is None or self._problems(turn, transition, is_planned=source.is_planned):
            return None
        if self.interaction is not NO_INTERACTION:
            transition = self._with_interaction(transition, turn)
        return _named(source.name, transition)

    async def counterfactual(self, turn: Turn) -> Transition | None:
        """Return what a call that a fault answered would have done, without a trace of it in the turn.

        None if a stub would have answered, or someone who is asked only once: a language model, a real server, the
        client. So it is if the world cannot answer.
        """
        if not all(source.is_local for source in self.sources):
            return None
        with turn.memories.aside({}):
            try:
                transition, is_stub = await self.answered(turn)
            except Exception:  # noqa: BLE001 (whatever goes wrong, the call itself was answered)
                return None
        return None if is_stub else transition

    async def answered(self, turn: Turn) -> tuple[Transition, bool]:
        """Return the world's transition for a call, and whether a stub answered. Raises `Crash`."""
        turn = self._read_leniently(turn)
        problems = () if self.arguments.is_valid(turn.call.arguments) else self.arguments.problems(turn.call.arguments)
        if problems:
            turn = replace(turn, problems=tuple(problems))
            if not any(source.judges_arguments for source in self.sources):
                return await self.refuse(turn), False
        # A call with invalid arguments was never made, so that its key answers nothing.
        if turn.kept is not None and not problems:
            return self._late(_kept(turn, turn.kept), turn), False
        declined = self._declined(turn) if turn.call.answers else None
        if declined is not None:
            return declined, False
        stub = next((stub for stub in self.stubs if _fits(stub, turn)), None)
        # Only for calls that fit the inputSchema, also where a language model words what does not: the order is that of
        # servers.
        check = None if problems or stub is not None else self._failed_check(turn)
        if check is not None:
            return self._late(await self._failing(check, turn), turn), False
        transition = self._stubbed(stub, turn) if stub is not None else await self._predict(turn)
        if self.interaction is not NO_INTERACTION:
            transition = self._with_interaction(transition, turn, is_stub=stub is not None)
        return transition, stub is not None

    def _read_leniently(self, turn: Turn) -> Turn:
        """Return the turn with the values that its texts spell, where the server accepts them in their place."""
        arguments = turn.call.arguments
        if not self.is_lenient or self.arguments.is_valid(arguments):
            return turn
        return replace(turn, call=replace(turn.call, arguments=with_values(arguments, self.arguments)))

    def _declined(self, turn: Turn) -> Transition | None:
        """Return the answer if the client cannot be asked or its user declined; else None."""
        for questions in self.interaction.asks:
            for name, ask in questions.items():
                answer = as_object(turn.call.answers.get(name))
                if answer == UNABLE:
                    return Transition(Observation(RpcError(MISSING_CAPABILITY, *missing_capability_error(ask.needs))))
                if ask.method == "elicitation/create" and ask.is_refused(answer):
                    return Transition(turn.tool.failure("declined", "Declined by the user", **turn.call.arguments))
        return None

    def _with_interaction(self, transition: Transition, turn: Turn, *, is_stub: bool = False) -> Transition:
        """Add the declared delay, and blocks and notifications to a successful result."""
        transition = self._late(transition, turn)
        observation = transition.observation
        body = observation.body
        if not observation.ok or not isinstance(body, ToolResult):
            return transition
        media = self.interaction.media
        if (
            media is not None
            and not is_stub
            and body.form != "blocks"
            and all(each.is_planned for each in self.sources)
        ):
            body = ToolResult([media_block(media, turn.tool.name, turn.call.arguments)], form="blocks")
        slots = _slots(turn, body.value)
        if self.interaction.blocks and body.form != "blocks":
            body = ToolResult(fill_slots(self.interaction.blocks, slots), form="blocks")
        delay, notices = observation.delay, self.interaction.notices
        if notices:
            delay += timedelta(milliseconds=notices[-1].get("at_ms", 0))
        return replace(transition, observation=Observation(body, delay, tuple(fill_slots(notices, slots))))

    def _late(self, transition: Transition, turn: Turn) -> Transition:
        """Add the declared delay."""
        if self.interaction.latency is None:
            return transition
        late = transition.observation.delay + self.interaction.latency.quantile(turn.chance("latency"))
        return replace(transition, observation=replace(transition.observation, delay=late))

    def _stubbed(self, stub: Stub, turn: Turn) -> Transition:
        if stub.error is not None:
            return Transition(Observation(ToolResult(stub.error, form="text", is_error=True)))
        if stub.blocks:
            return Transition(Observation(ToolResult(fill_slots(stub.blocks, _slots(turn, None)), form="blocks")))
        form = "text" if isinstance(stub.result, str) else "json" if self.output is None else "structured"
        transition = Transition(Observation(ToolResult(stub.result, form=form)))
        problems = self._shape_problems(transition, self.output)
        if problems:
            raise Crash(turn.tool.id, f"a stub's result violates the outputSchema: {'; '.join(problems)}")
        return transition

    async def _predict(self, turn: Turn) -> Transition:
        """Return the answer of the first source that has one."""
        reasons = list[str]()
        for source in self.sources:
            if turn.problems and not source.judges_arguments:
                return await self.refuse(turn)
            staged = dict(turn.memories.staged)
            try:
                return _named(source.name, await self._ask(source, turn))
            except Unmatched as error:
                reasons.append(error.reason)
                turn.memories.staged = staged
        raise Crash(turn.tool.id, "; ".join(reasons))

    def _failed_check(self, turn: Turn) -> ArgumentCheck | None:
        return self.interaction.failed_check(turn.call.arguments) if self.interaction.checks else None

    async def _failing(self, check: ArgumentCheck, turn: Turn) -> Transition:
        problems = check.schema.problems(turn.call.arguments[check.argument])
        failing = replace(turn, problems=tuple(f"{check.argument}: {problem}" for problem in problems))
        observation = None if check.error is None else refused_as(check.error, failing)
        return await self.refuse(failing) if observation is None else Transition(observation)

    async def _ask(self, source: Source, turn: Turn) -> Transition:
        """Return the answer of a source. Raises `Unmatched` if it does not answer."""
        rejected = tuple[Attempt, ...]()
        while len(rejected) < source.max_attempts:
            transition, attempt = await self._attempt(source.predictor, turn, rejected, is_planned=source.is_planned)
            if transition is not None:
                return _with_attempts(transition, rejected)
            rejected = (*rejected, attempt)
        if turn.instruction is not None:
            return _with_attempts(Transition(Observation(ToolResult("", form="text"))), rejected)
        if source.fallback is not None:
            transition, attempt = await self._attempt(source.fallback, turn, (), is_planned=True)
            if transition is not None:
                return _with_attempts(transition, rejected, fallback=True)
            rejected = (*rejected, attempt)
        last = rejected[len(rejected) - 1]
        raise Crash(turn.tool.id, "; ".join(last.problems), _attempts_json(rejected))

    async def _attempt(
        self, predictor: Predictor, turn: Turn, rejected: tuple[Attempt, ...], *, is_planned: bool
    ) -> tuple[Transition | None, Attempt]:
        """Return a transition that may be served, or None with the problems of the answer.

        Memory that a failed attempt wrote is dropped.
        """
        staged = dict(turn.memories.staged)
        try:
            transition = await predictor.predict(turn, rejected)
        except RecursionError:
            turn.memories.staged = staged
            return _too_deep(turn), Attempt("", ())
        except Rejected as error:
            turn.memories.staged = staged
            return None, Attempt(error.raw[:MOST_RAW], error.problems)
        except Crash as crash:
            raise Crash(crash.tool, crash.error, (*_attempts_json(rejected), *crash.attempts)) from None
        # A real server is right by definition, also where it breaks its own outputSchema.
        if transition.is_real:
            return transition, Attempt("", ())
        shape = self._shape_problems(transition, self.planned_output if is_planned else self.output)
        content = self._content_problems(turn, transition, self.inspect)
        if is_planned and content and not self._content_problems(turn, transition, self.inspect_firmly):
            self._report_doubts(turn.tool.id, content)
            noted = {**transition.measured, "findings": [*content]}
            transition, content = replace(transition.marked(*content), measured=noted), ()
        if not shape and not content:
            return transition, Attempt("", ())
        problems = (*shape, *content)
        # Only the form is repaired. A result that contradicts the world would remain wrong in a valid form.
        if is_planned and self.repair is not None and not content:
            try:
                return _with_result(transition, self.repair), Attempt("", ())
            except NoInstance as none:
                # Where a schema's formats contradict its patterns, only lenient clients can be served.
                if not self._shape_problems(transition, self.output):
                    return transition, Attempt("", ())
                problems = (*problems, f"no valid result can be generated: {none}")
        turn.memories.staged = staged
        body = transition.observation.body
        raw = body.encoded.decode() if isinstance(body, ToolResult) else ""
        return None, Attempt(raw[:MOST_RAW], tuple(problems))

    def _problems(self, turn: Turn, transition: Transition, *, is_planned: bool) -> Sequence[str]:
        """Return why a transition cannot be served as it is."""
        shape = self._shape_problems(transition, self.planned_output if is_planned else self.output)
        return shape or self._content_problems(turn, transition, self.inspect)

    def _report_doubts(self, tool: str, findings: Sequence[str]) -> None:
        """Log, once for each rule, that a call contradicts what is inferred about its tool."""
        for finding in findings:
            rule = finding.partition(":")[0]
            if rule not in self.doubts:
                self.doubts.add(rule)
                logger.warning("%s: what is inferred does not hold and is dropped: %s", tool, finding)

    def _content_problems(self, turn: Turn, transition: Transition, inspect: Inspection) -> Sequence[str]:
        """Return where a transition contradicts the world, or the instruction that it followed."""
        if turn.instruction is None:
            if transition.events:
                turn = turn.after([change for due in transition.events for change in due.changes])
            return inspect(turn, transition)
        return turn.instruction.problems(transition.observation) if transition.obeyed else ()

    def _shape_problems(self, transition: Transition, output: Validator | None) -> tuple[str, ...]:
        """Return where a result violates the tool's outputSchema."""
        body = transition.observation.body
        if output is None or not isinstance(body, ToolResult) or body.is_error:
            return ()
        if body.form != "structured":
            return ("the tool declares an outputSchema, but the result is not structured",)
        return () if output.is_valid(body.value) else output.problems(body.value)


def _too_deep(turn: Turn) -> Transition:
    """Return the refusal of a call in whose arguments a text nests too deeply. Raises `Crash` if they are too short."""
    if turn.size < NESTED:
        raise Crash(turn.tool.id, "RecursionError")
    return Transition(turn.tool.failure("invalid", "Invalid arguments: they nest too deeply", **turn.call.arguments))


def _kept(turn: Turn, kept: KeptAnswer) -> Transition:
    """Return the answer to a call whose idempotency key is known: the first one, or a conflict for another call."""
    if kept.scope == turn.draws.scope:
        return Transition(kept.observation, repeats=kept.index)
    sentence = "409 Conflict: the idempotency key was already used with other arguments"
    return Transition(turn.tool.failure("key_reused", sentence, **{**turn.call.arguments, "status": 409}))


def _with_result(transition: Transition, repair: Callable[[Json], Json]) -> Transition:
    """Return the transition with a valid result, close to its own. Raises `NoInstance`."""
    body = transition.observation.body
    value = body.value if isinstance(body, ToolResult) else None
    observation = replace(transition.observation, body=ToolResult(repair(value)))
    return replace(transition, observation=observation).marked("the result is repaired to fit its outputSchema")


def _named(source: str, transition: Transition) -> Transition:
    """Return the transition with the name of its source, unless it has one."""
    return transition if transition.source or not source else replace(transition, source=source)


def _fits(stub: Stub, turn: Turn) -> bool:
    arguments = turn.call.arguments
    return all(matches(arguments.get(name, ABSENT)) for name, matches in stub.arguments.items())


def _slots(turn: Turn, result: Json) -> dict[str, Json]:
    """Return the values for templates: arguments, answers of the client, fields of the result."""
    shown = as_object(result) or {"result": result}
    return {**turn.call.arguments, **turn.call.answers, **shown}


def _with_attempts(transition: Transition, rejected: tuple[Attempt, ...], *, fallback: bool = False) -> Transition:
    if not rejected:
        return transition
    noted: dict[str, Any] = {"rejected": _attempts_json(rejected)}
    return replace(transition, measured={**transition.measured, **noted, **({"fallback": True} if fallback else {})})


def _attempts_json(rejected: tuple[Attempt, ...]) -> list[dict[str, Any]]:
    return [{"raw": attempt.raw, "problems": list(attempt.problems)} for attempt in rejected]


_BOOLEANS = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}
"""The words that pydantic takes for booleans, in lower case."""

_DEEPEST = 8
"""The most JSON texts that are read within one another: each costs two validations of all arguments."""


def with_values(arguments: Record, schema: Validator) -> Record:
    """Return the arguments with invalid texts replaced by the values they spell, where these are valid."""
    for _ in range(_DEEPEST):
        texts = _invalid_texts(arguments, schema)
        # A number comes before a boolean, as in JSON: "1" is True only where 1 is invalid.
        read = _replaced_where_valid(arguments, {path: _parsed(text) for path, text in texts.items()}, schema)
        rest = _invalid_texts(read, schema)
        read = _replaced_where_valid(
            read, {path: _BOOLEANS.get(text.lower(), text) for path, text in rest.items()}, schema
        )
        if read == arguments:
            break
        arguments = read
    return arguments


def _invalid_texts(arguments: Record, schema: Validator) -> dict[Path, str]:
    parts = {path: get_part(arguments, path) for path in schema.invalid_parts(arguments)}
    return {path: value for path, value in parts.items() if isinstance(value, str)}


def _replaced_where_valid(arguments: Record, values: Mapping[Path, Json], schema: Validator) -> Record:
    """Return the arguments with the values at their paths, without those that are invalid there."""
    spelt = {path: value for path, value in values.items() if not isinstance(value, str)}
    if not spelt:
        return arguments
    refused = set(schema.invalid_parts(_replaced(arguments, spelt)))
    return _replaced(arguments, {path: value for path, value in spelt.items() if path not in refused})


def _parsed(text: str) -> Json:
    try:
        return decode(text)
    except (ValueError, RecursionError):
        return text


def _replaced(arguments: Record, values: Mapping[Path, Json]) -> Record:
    replaced: Json = arguments
    for path, value in values.items():
        replaced = replace_part(replaced, path, value)
    return cast("Record", replaced)
