"""How is a call answered with a language model? The world decides, the model fills in what the world leaves open."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from secrets import token_hex
from typing import Any, TypeAlias, cast

from mcp_sim.domain import Domain, Plan
from mcp_sim.errors import Crash, Rejected, TooLong, Unanswered
from mcp_sim.extensions import Answer, Invent, behaviours
from mcp_sim.json_text import canonical, decode
from mcp_sim.language_model import prompt
from mcp_sim.language_model.answer import Reply, json_or_text, observed, parsed
from mcp_sim.language_model.endpoint import Request
from mcp_sim.language_model.facts import Bearing, bearing, facts
from mcp_sim.language_model.openings import Filling, Survey
from mcp_sim.language_model.tighten import MOST_TEXT, tighten
from mcp_sim.language_model.transcript import Said, appended, fitting
from mcp_sim.types import (
    Attempt,
    Change,
    Instruction,
    Json,
    Memory,
    Observation,
    Record,
    Tool,
    ToolResult,
    Transition,
    Turn,
)
from mcp_sim.validation import Validator

FORMS_KEPT = 1_024
MOST_RAW = 20_000
"""How much of what a model said is kept in the ledger, in characters."""

REFUSAL: Record = {
    "type": "object",
    "properties": {"isError": {"const": True}, "text": {"type": "string", "maxLength": MOST_TEXT}},
    "required": ["isError", "text"],
    "additionalProperties": False,
}


Ask: TypeAlias = Callable[[Request], Awaitable[Reply]]
"""Asks the engine once. Raises Unanswered where there is no answer."""


@dataclass(frozen=True, slots=True)
class Role:
    """What the model does for one tool. `answer` is None where the plan is a guess: then the model says everything."""

    bears: Bearing
    answer: Answer | None
    judge: Validator | None
    schema: Record | None


@dataclass(frozen=True, slots=True)
class Settings:
    """`owner` names the transcript in a world's memory, which holds at most `transcript` characters.

    `room` tells how many the engine takes at present, the system prompt included; None where it does not know.
    """

    owner: str
    ask_always: bool
    transcript: int
    room: Callable[[], int | None]


class Narrator:
    """A predictor that asks a language model, at most once a call."""

    def __init__(self, domain: Domain, ask: Ask, invent: Invent, settings: Settings) -> None:
        self._domain, self._engine, self._invent, self._settings = domain, ask, invent, settings
        self._system = prompt.system(domain)
        self._roles = dict[str, Role]()
        self._form = lru_cache(maxsize=FORMS_KEPT)(_form)

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        role = self._role(turn.tool)
        if turn.instruction is not None:
            return await self._obey(turn, role, turn.instruction, rejected)
        if role.answer is None:
            return await self._foretell(turn, role, rejected)
        survey = Survey(self._invent, self._domain)
        settled = role.answer(turn, survey)
        if survey.schemas:
            return await self._fill(turn, role.answer, survey, settled, rejected)
        if self._settings.ask_always:
            return await self._compare(turn, role, settled)
        return replace(settled, measured={**settled.measured, "asked": False})

    async def _fill(
        self, turn: Turn, answer: Answer, survey: Survey, settled: Transition, rejected: tuple[Attempt, ...]
    ) -> Transition:
        """The world's transition, its open fields as the model says."""
        told = self._told(turn)
        user = prompt.open_turn(turn, told, survey.settled(settled), survey.schemas)
        schema, judge = self._form(canonical(survey.schemas))
        reply = await self._ask(turn, user, schema, rejected)
        values = parsed(observed(reply), reply.content)
        _refuse(judge.problems(values), reply)
        transition = answer(turn, Filling(survey, values))
        self._remember(turn, user, transition)
        return _measured(transition, reply, rejected, open_fields=len(survey.schemas))

    async def _compare(self, turn: Turn, role: Role, settled: Transition) -> Transition:
        """The world's transition, and whether the model would have said the same."""
        user = prompt.whole_turn(turn, self._told(turn))
        schema = None if role.schema is None else {"anyOf": [role.schema, REFUSAL]}
        reply = await self._ask(turn, user, schema, ())
        self._remember(turn, user, settled)
        return _measured(settled, reply, (), open_fields=0, differs=_differs(settled.observation, reply))

    async def _foretell(self, turn: Turn, role: Role, rejected: tuple[Attempt, ...]) -> Transition:
        """The transition that the model foretells, where the world cannot tell."""
        user = prompt.whole_turn(turn, self._told(turn))
        reply = await self._ask(turn, user, role.schema, rejected)
        observation = _foretold(role, reply)
        transition = Transition(observation, guessed=True)
        self._remember(turn, user, transition)
        return _measured(transition, reply, rejected)

    async def _obey(
        self, turn: Turn, role: Role, instruction: Instruction, rejected: tuple[Attempt, ...]
    ) -> Transition:
        """What the model makes of the true answer when it is told to; the transcript does not keep it."""
        user = prompt.instructed_turn(turn, self._told(turn), instruction.text)
        schema = None if role.schema is None else {"anyOf": [role.schema, REFUSAL]}
        reply = await self._ask(turn, user, schema, rejected)
        return _measured(Transition(_foretold(role, reply), obeyed=True), reply, rejected)

    def _role(self, tool: Tool) -> Role:
        """What the model does for a tool, compiled when the tool is called for the first time."""
        role = self._roles.get(tool.id)
        if role is None:
            role = self._roles[tool.id] = _role(self._domain.tools[tool.id], self._domain)
        return role

    def _told(self, turn: Turn) -> Record:
        return facts(turn, self._role(turn.tool).bears, self._said(turn))

    async def _ask(self, turn: Turn, user: str, schema: Record | None, rejected: tuple[Attempt, ...]) -> Reply:
        """Ask in the conversation so far; where the engine finds that too long, in a shorter one."""
        said = self._fitting(turn, len(user))
        try:
            return await self._asked(turn, prompt.messages(self._system, said, user, rejected), schema, len(rejected))
        except TooLong as error:
            if said is None or said.before is None:
                raise Crash(turn.tool.id, str(error)) from None
        said = self._fitting(turn, len(user), at_once=True)
        try:
            return await self._asked(turn, prompt.messages(self._system, said, user, rejected), schema, len(rejected))
        except TooLong as error:
            raise Crash(turn.tool.id, str(error)) from None

    async def _asked(
        self, turn: Turn, conversation: Sequence[prompt.Message], schema: Record | None, attempt: int
    ) -> Reply:
        request = Request(conversation, schema, _seed(turn, attempt), self._affinity(turn))
        try:
            return await self._engine(request)
        except TooLong:
            raise
        except Unanswered as error:
            raise Crash(turn.tool.id, str(error)) from None

    def _fitting(self, turn: Turn, user: int, *, at_once: bool = False) -> Said | None:
        """The transcript, shortened where it would not fit beside the system prompt and a turn of `user` characters."""
        room = self._settings.room()
        most = self._settings.transcript
        if room is not None:
            most = max(0, min(most, room - len(self._system) - user))
        before = self._said(turn)
        said = fitting(before, most, lambda size: prompt.state_turn(turn, self._domain, size), at_once=at_once)
        if said is not before:
            self._memory(turn).set("said", said)
        return said

    def _affinity(self, turn: Turn) -> str:
        """A name of the conversation, for routers; forks begin with the same, as they begin with the same words."""
        memory = self._memory(turn)
        known = memory.get("affinity")
        if known is None:
            known = token_hex(8)
            memory.set("affinity", known)
        return known

    def _memory(self, turn: Turn) -> Memory:
        return turn.memories.of(self._settings.owner)

    def _said(self, turn: Turn) -> Said | None:
        return self._memory(turn).get("said")

    def _remember(self, turn: Turn, user: str, transition: Transition) -> None:
        """Append the turn and what is true of it; kept if the call is committed."""
        assistant = prompt.observation_turn(transition.observation)
        written: tuple[Change, ...] = (*transition.changes, *transition.pins)
        said = appended(self._said(turn), turn.index, user, assistant, written)
        self._memory(turn).set("said", said)


def _role(tool: Tool, domain: Domain) -> Role:
    plan = domain.plans.get(tool.id) or Plan(tool.id, "unknown", confidence=0.0)
    output = tool.output_schema
    return Role(
        bears=bearing(plan, domain),
        answer=None if plan.guessed else behaviours[plan.behaviour]().compile(tool, plan, domain),
        judge=None if output is None else Validator(output),
        schema=None if output is None else tighten(output),
    )


def _form(schemas: str) -> tuple[Record, Validator]:
    """For the open fields of a result form (canonical JSON): what binds the engine, and what judges the answer."""
    properties = cast("Record", decode(schemas))
    whole = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return tighten(whole), Validator(whole)


def _foretold(role: Role, reply: Reply) -> Observation:
    """The observation that a model's answer is."""
    text = observed(reply)
    value = json_or_text(text) if role.judge is None else parsed(text, reply.content)
    if _is_refusal(value):
        return Observation(ToolResult(value["text"], form="text", is_error=True))
    if role.judge is None:
        return Observation(ToolResult(value, form="text" if isinstance(value, str) else "json"))
    _refuse(role.judge.problems(value), reply)
    return Observation(ToolResult(value))


def _differs(truth: Observation, reply: Reply) -> bool:
    """Would the model have said something else than what is true? The wording of a refusal does not count."""
    try:
        text = observed(reply)
    except Rejected:
        return True
    body, value = truth.body, json_or_text(text)
    if not isinstance(body, ToolResult) or body.is_error:
        return not _is_refusal(value)
    return text != body.value.strip() if body.form == "text" else canonical(value) != canonical(body.value)


def _is_refusal(value: Json) -> bool:
    return isinstance(value, dict) and value.keys() == {"isError", "text"} and value["isError"] is True


def _refuse(problems: Sequence[str], reply: Reply) -> None:
    if problems:
        raise Rejected(reply.content, problems)


def _seed(turn: Turn, attempt: int) -> int:
    """The sampling seed of one attempt."""
    return int(turn.draws.unit(f"language_model/{attempt}") * 2**31)


def _measured(transition: Transition, reply: Reply, rejected: tuple[Attempt, ...], **noted: Any) -> Transition:
    said: Record = {"raw": reply.content[:MOST_RAW], **({"reasoning": reply.reasoning} if reply.reasoning else {})}
    kept: Record = {"cached": True} if reply.cached else {}
    figures: Mapping[str, Any] = {"asked": True, "attempts": len(rejected) + 1, "said": said, **kept, **noted}
    figures = {**figures, **reply.usage}
    return replace(transition, measured={**transition.measured, **figures})
