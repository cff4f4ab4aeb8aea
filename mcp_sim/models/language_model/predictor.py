"""Predict calls with a language model: the world decides, the model fills in what the world leaves open."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, cast

from mcp_sim.backends.records.open_world import open_answer
from mcp_sim.models.language_model import prompt
from mcp_sim.models.language_model.absorption import RecordNames
from mcp_sim.models.language_model.conversation import Conversation
from mcp_sim.models.language_model.disclosure import find_leaks
from mcp_sim.models.language_model.facts import RelevantRecords, collect_facts, relevant_records
from mcp_sim.models.language_model.guessed_tools import GuessedTool
from mcp_sim.models.language_model.open_fields import Filling, OpenFieldSurvey
from mcp_sim.models.language_model.reply import Reply, differs_from, observation_text, parse_json, read_observation
from mcp_sim.models.language_model.tighten import MAX_TEXT, tighten
from mcp_sim.types import Attempt, Instruction, Json, Observation, Record, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.shapes import schema_of
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import canonical, decode
from mcp_sim.types.kinds import Answer, Invent, backends
from mcp_sim.types.plans import Plan

MAX_RAW = 20_000
"""How much of a reply, and of its reasoning, the ledger keeps, in characters."""

MAX_DRAFT = 8_000
"""Maximum size of a draft that the prompt includes, in characters."""

MAX_CACHED_ANSWER = 64 * 1024
"""Maximum size of an answer that is kept for the next equal call, in characters."""

SCHEMAS_KEPT = 1_024

REFUSAL: Record = {
    "type": "object",
    "properties": {"isError": {"const": True}, "text": {"type": "string", "maxLength": MAX_TEXT}},
    "required": ["isError", "text"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class CompiledTool:
    """How the calls of one tool are predicted.

    Either the world's `answer` decides and the model fills in open fields, or the tool is a `guess` and the model
    predicts the whole observation. `reply_schema` constrains a whole observation, and `validator` is the tool's own
    outputSchema; both are None if there is none.
    """

    relevant: RelevantRecords
    answer: Answer | None
    guess: GuessedTool | None
    validator: Validator | None
    reply_schema: Record | None


class CompiledTools:
    """The tools of a scenario, each compiled at its first call."""

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._record_names = RecordNames.of(domain)
        self._compiled_tools = dict[str, CompiledTool]()
        self.open_reply_schema = lru_cache(maxsize=SCHEMAS_KEPT)(_open_reply_schema)

    def of(self, tool: str) -> CompiledTool:
        compiled = self._compiled_tools.get(tool)
        if compiled is None:
            compiled = self._compiled_tools[tool] = self._compile(self._domain.tools[tool])
        return compiled

    def _compile(self, tool: Tool) -> CompiledTool:
        domain = self._domain
        plan = domain.plans.get(tool.id) or Plan(tool.id, "unknown")
        validator = None if tool.output_schema is None else Validator(tool.output_schema)
        relevant, reply_schema = relevant_records(plan, domain), _reply_schema(tool, domain)
        if plan.guessed or plan.verb == "none":
            guess = GuessedTool.of(tool, plan, domain, self._record_names, validator)
            return CompiledTool(relevant, None, guess, validator, reply_schema)
        answer = open_answer(backends[plan.backend]().compile_answer(tool, plan, domain), plan, domain)
        return CompiledTool(relevant, answer, None, validator, reply_schema)


def _reply_schema(tool: Tool, domain: Domain) -> Record | None:
    """Return the schema of a whole observation: the tool's own, or that of an example; None if it may be text."""
    if tool.output_schema is not None:
        return {"anyOf": [tighten(tool.output_schema), REFUSAL]}
    shown = [example.result for example in domain.examples if example.tool == tool.id and not example.is_blocks]
    if not shown or not all(isinstance(result, dict | list) for result in shown):
        return None
    return {"anyOf": [tighten(schema_of(shown[0])), REFUSAL]}


def _open_reply_schema(schemas: str) -> tuple[Record, Validator]:
    """Return the schema for the engine and the validator of open fields; `schemas` is canonical JSON."""
    properties = cast("Record", decode(schemas))
    whole = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return tighten(whole), Validator(whole)


@dataclass(frozen=True, slots=True)
class PredictorSettings:
    """Settings of a predictor.

    `ask_always`: also ask if nothing is open. `withheld`: texts that prompts omit and replies must not contain.
    """

    ask_always: bool
    withheld: tuple[str, ...] = ()


class ModelPredictor:
    """A predictor that asks a language model, at most once per attempt of a call."""

    def __init__(self, domain: Domain, conversation: Conversation, invent: Invent, settings: PredictorSettings) -> None:
        self._domain, self._conversation, self._invent, self._settings = domain, conversation, invent, settings
        self._tools, self._disclosure = CompiledTools(domain), conversation.disclosure

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        compiled = self._tools.of(turn.tool.id)
        if turn.instruction is not None:
            return await self._follow_instruction(turn, compiled, turn.instruction, rejected)
        if compiled.answer is None:
            return await self._predict_whole(turn, compiled, cast("GuessedTool", compiled.guess), rejected)
        survey = OpenFieldSurvey(self._invent, self._domain)
        settled = compiled.answer(turn, survey)
        if survey.schemas:
            return await self._fill_open_fields(turn, compiled.answer, survey, settled, rejected)
        return await self._confirm(turn, compiled, settled)

    async def _confirm(self, turn: Turn, compiled: CompiledTool, settled: Transition) -> Transition:
        """Return the world's transition. If the model is always asked, note whether its reply differs."""
        if not self._settings.ask_always:
            return replace(settled, measured={**settled.measured, "asked": False})
        user = prompt.whole_turn(turn, self._facts(turn, compiled))
        reply = await self._conversation.ask_model(turn, user, compiled.reply_schema, ())
        self._conversation.remember(turn, user, settled)
        return _measured(settled, reply, (), open_fields=0, differs=differs_from(settled.observation, reply))

    async def _fill_open_fields(
        self, turn: Turn, answer: Answer, survey: OpenFieldSurvey, settled: Transition, rejected: tuple[Attempt, ...]
    ) -> Transition:
        """Return the world's transition with the model's values in its open fields."""
        facts = self._facts(turn, self._tools.of(turn.tool.id))
        if survey.candidates:
            facts["candidates"] = survey.listed(turn.view, self._disclosure)
        user = prompt.open_turn(turn, facts, survey.settled(settled, self._disclosure), survey.schemas)
        schema, validator = self._tools.open_reply_schema(canonical(survey.schemas))
        reply = await self._conversation.ask_model(turn, user, schema, rejected)
        with _with_raw_reply(reply):
            values, surplus = _split_surplus(parse_json(observation_text(reply), reply.content), survey.schemas)
            _refuse(validator.problems(values) or self._leaks(turn, values, reply))
        transition = answer(turn, Filling(survey, values))
        self._conversation.remember(turn, user, transition)
        return _measured(transition, reply, rejected, surplus, open_fields=len(survey.schemas))

    async def _predict_whole(
        self, turn: Turn, compiled: CompiledTool, guess: GuessedTool, rejected: tuple[Attempt, ...]
    ) -> Transition:
        """Return the transition that the model predicts, corrected and absorbed by the world."""
        refusal = guess.refusal(turn)
        if refusal is not None:
            return await self._confirm(turn, compiled, Transition(refusal, guessed=True))
        draft = None if guess.draft is None else guess.draft(turn, self._invent)
        if draft is not None and not draft.observation.ok:
            return await self._confirm(turn, compiled, replace(draft, guessed=True))
        cached = self._cached_answer(turn, guess, draft)
        if cached is not None:
            return await self._confirm(turn, compiled, cached)
        facts = self._facts(turn, compiled) | self._draft_facts(turn, guess, draft)
        user = prompt.whole_turn(turn, facts)
        reply = await self._conversation.ask_model(turn, user, compiled.reply_schema, rejected)
        with _with_raw_reply(reply):
            observation = read_observation(reply, compiled.validator)
            _refuse(self._leaks(turn, _result_value(observation), reply))
            transition, repaired = guess.absorb(turn, self._invent, draft, observation)
        self._conversation.remember(turn, user, transition)
        self._cache_answer(turn, guess, transition)
        return _measured(transition, reply, rejected, repaired)

    async def _follow_instruction(
        self, turn: Turn, compiled: CompiledTool, instruction: Instruction, rejected: tuple[Attempt, ...]
    ) -> Transition:
        """Return the true observation, altered by an instruction. It does not become part of the transcript."""
        user = prompt.instructed_turn(turn, self._facts(turn, compiled), instruction.text)
        reply = await self._conversation.ask_model(turn, user, compiled.reply_schema, rejected)
        with _with_raw_reply(reply):
            observation = read_observation(reply, compiled.validator)
            _refuse(self._leaks(turn, _result_value(observation), reply))
        return _measured(Transition(observation, obeyed=True), reply, rejected)

    # facts and earlier answers

    def _facts(self, turn: Turn, compiled: CompiledTool) -> Record:
        return collect_facts(turn, compiled.relevant, self._conversation.transcript(turn), self._disclosure)

    def _draft_facts(self, turn: Turn, guess: GuessedTool, transition: Transition | None) -> Record:
        """Return the draft as a fact of the prompt: what the call returns if the tool does what its name suggests."""
        body = None if transition is None else transition.observation.body
        if transition is None or not isinstance(body, ToolResult) or len(body.encoded) > MAX_DRAFT:
            return {}
        return {"likely": self._disclosure.value(turn.view.after(transition.changes), guess.plan.entity, body.value)}

    def _leaks(self, turn: Turn, value: Json, reply: Reply) -> list[str]:
        return find_leaks(value, reply.reasoning, self._settings.withheld, turn.call.arguments)

    def _cached_answer(self, turn: Turn, guess: GuessedTool, draft: Transition | None) -> Transition | None:
        """Return the answer to an equal earlier call, if nothing has changed since."""
        kept = self._conversation.memory(turn).get(f"held/{turn.draws.scope}") if guess.is_read else None
        if kept is None or _changed_since(turn, kept[0]):
            return None
        transition, _ = guess.absorb(turn, self._invent, draft, kept[1])
        return transition

    def _cache_answer(self, turn: Turn, guess: GuessedTool, transition: Transition) -> None:
        observation = transition.observation
        if (
            guess.is_read
            and isinstance(observation.body, ToolResult)
            and len(observation.body.encoded) <= MAX_CACHED_ANSWER
        ):
            self._conversation.memory(turn).set(f"held/{turn.draws.scope}", (turn.index, observation))


def _changed_since(turn: Turn, index: int) -> bool:
    """Whether anything was written after the call of this index; True if that call is no longer in the history."""
    for past in reversed(turn.history):
        if past.tool and past.index <= index:
            return False
        if past.changes:
            return True
    return True


def _result_value(observation: Observation) -> Json:
    return observation.body.value if isinstance(observation.body, ToolResult) else None


def _split_surplus(value: Json, schemas: Record) -> tuple[Json, list[str]]:
    """Return the open fields of a reply, and the names of surplus ones, which the world determines."""
    if not isinstance(value, dict):
        return value, []
    fields = cast("Record", value)
    surplus = [name for name in fields if name not in schemas]
    return {name: part for name, part in fields.items() if name in schemas}, surplus


@contextmanager
def _with_raw_reply(reply: Reply) -> Generator[None]:
    """Add the whole reply, including its reasoning, to `Rejected`."""
    try:
        yield
    except Rejected as error:
        thought = f"<think>\n{reply.reasoning[: MAX_RAW // 2]}\n</think>\n\n" if reply.reasoning else ""
        raise Rejected(thought + reply.content, error.problems) from None


def _measured(
    transition: Transition, reply: Reply, rejected: tuple[Attempt, ...], repaired: Sequence[str] = (), **noted: Any
) -> Transition:
    replied: Record = {"raw": reply.content[:MAX_RAW]}
    if reply.reasoning:
        replied["reasoning"] = reply.reasoning[:MAX_RAW]
    figures: dict[str, Any] = {"asked": True, "attempts": len(rejected) + 1, "reply": replied, **noted, **reply.usage}
    if reply.cached:
        figures["cached"] = True
    if repaired:
        figures["repaired"] = list(dict.fromkeys(repaired))
    return replace(transition, measured={**transition.measured, **figures})


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise Rejected("", problems)
