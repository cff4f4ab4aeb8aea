"""How is a call answered with a language model? The world decides, the model fills in what the world leaves open."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from mcp_sim.models.language_model import prompt
from mcp_sim.models.language_model.answer import Reply, json_or_text, observed, parsed
from mcp_sim.models.language_model.conversation import Conversation
from mcp_sim.models.language_model.facts import facts
from mcp_sim.models.language_model.guesses import Guess
from mcp_sim.models.language_model.leaks import leak_problems
from mcp_sim.models.language_model.openings import Filling, Survey
from mcp_sim.models.language_model.roles import Role, Roles
from mcp_sim.types import Attempt, Instruction, Json, Observation, Record, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_text import canonical
from mcp_sim.types.kinds import Answer, Invent

MOST_RAW = 20_000
"""How much of what a model said, and of what it thought, is kept in the ledger, in characters."""

MOST_LIKELY = 8_000
"""How long the answer that a guessed plan would give may be, in characters, to be told."""

MOST_HELD = 64 * 1024
"""How large an answer may be, in characters, to be kept for the next call of the same kind."""


@dataclass(frozen=True, slots=True)
class Settings:
    """`ask_always`: ask also where nothing is open. `withheld` are texts that the model is not told and may not say."""

    ask_always: bool
    withheld: tuple[str, ...] = ()


class Narrator:
    """A predictor that asks a language model, at most once a call."""

    def __init__(self, domain: Domain, conversation: Conversation, invent: Invent, settings: Settings) -> None:
        self._domain, self._conversation, self._invent, self._settings = domain, conversation, invent, settings
        self._roles, self._sight = Roles(domain), conversation.sight

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        role = self._roles.of(turn.tool.id)
        if turn.instruction is not None:
            return await self._obey(turn, role, turn.instruction, rejected)
        if role.answer is None:
            return await self._guess(turn, role, cast("Guess", role.guess), rejected)
        survey = Survey(self._invent, self._domain)
        settled = role.answer(turn, survey)
        if survey.schemas:
            return await self._fill(turn, role.answer, survey, settled, rejected)
        return await self._settled(turn, role, settled)

    async def _settled(self, turn: Turn, role: Role, settled: Transition) -> Transition:
        """The world's transition, and whether the model would have said the same, if it is to be asked anyway."""
        if not self._settings.ask_always:
            return replace(settled, measured={**settled.measured, "asked": False})
        user = prompt.whole_turn(turn, self._told(turn, role))
        reply = await self._conversation.asked(turn, user, role.form, ())
        self._conversation.remember(turn, user, settled)
        return _measured(settled, reply, (), open_fields=0, differs=_differs(settled.observation, reply))

    async def _fill(
        self, turn: Turn, answer: Answer, survey: Survey, settled: Transition, rejected: tuple[Attempt, ...]
    ) -> Transition:
        """The world's transition, its open fields as the model says."""
        told = self._told(turn, self._roles.of(turn.tool.id))
        if survey.candidates:
            told["candidates"] = survey.listed(turn.view, self._sight)
        user = prompt.open_turn(turn, told, survey.settled(settled, self._sight), survey.schemas)
        schema, judge = self._roles.open_form(canonical(survey.schemas))
        reply = await self._conversation.asked(turn, user, schema, rejected)
        with _raw_of(reply):
            values, surplus = _only(parsed(observed(reply), reply.content), survey.schemas)
            _refuse(judge.problems(values) or self._leaks(turn, values, reply))
        transition = answer(turn, Filling(survey, values))
        self._conversation.remember(turn, user, transition)
        return _measured(transition, reply, rejected, surplus, open_fields=len(survey.schemas))

    async def _guess(self, turn: Turn, role: Role, guess: Guess, rejected: tuple[Attempt, ...]) -> Transition:
        """The transition that the model foretells, where the world cannot tell; what it says must agree with it."""
        refusal = guess.refusal(turn)
        if refusal is not None:
            return await self._settled(turn, role, Transition(refusal, guessed=True))
        likely = None if guess.settle is None else guess.settle(turn, self._invent)
        if likely is not None and not likely.observation.ok:
            return await self._settled(turn, role, replace(likely, guessed=True))
        held = self._held(turn, guess, likely)
        if held is not None:
            return await self._settled(turn, role, held)
        told = self._told(turn, role) | self._likely(turn, guess, likely)
        user = prompt.whole_turn(turn, told)
        reply = await self._conversation.asked(turn, user, role.form, rejected)
        with _raw_of(reply):
            observation = _foretold(role, reply)
            _refuse(self._leaks(turn, _value(observation), reply))
            transition, repaired = guess.absorbed(turn, self._invent, likely, observation)
        self._conversation.remember(turn, user, transition)
        self._hold(turn, guess, transition)
        return _measured(transition, reply, rejected, repaired)

    async def _obey(
        self, turn: Turn, role: Role, instruction: Instruction, rejected: tuple[Attempt, ...]
    ) -> Transition:
        """What the model makes of the true answer when it is told to; the transcript does not keep it."""
        user = prompt.instructed_turn(turn, self._told(turn, role), instruction.text)
        reply = await self._conversation.asked(turn, user, role.form, rejected)
        with _raw_of(reply):
            observation = _foretold(role, reply)
            _refuse(self._leaks(turn, _value(observation), reply))
        return _measured(Transition(observation, obeyed=True), reply, rejected)

    # what is known, and what is held to

    def _told(self, turn: Turn, role: Role) -> Record:
        return facts(turn, role.bears, self._conversation.said(turn), self._sight)

    def _likely(self, turn: Turn, guess: Guess, transition: Transition | None) -> Record:
        """What the call returns if the tool does what its name suggests."""
        body = None if transition is None else transition.observation.body
        if transition is None or not isinstance(body, ToolResult) or len(body.encoded) > MOST_LIKELY:
            return {}
        return {"likely": self._sight.value(turn.view.after(transition.changes), guess.plan.entity, body.value)}

    def _leaks(self, turn: Turn, value: Json, reply: Reply) -> list[str]:
        return leak_problems(value, reply.reasoning, self._settings.withheld, turn.call.arguments)

    def _held(self, turn: Turn, guess: Guess, likely: Transition | None) -> Transition | None:
        """The answer to the same call before, where nothing was changed since."""
        kept = self._conversation.memory(turn).get(f"held/{turn.draws.scope}") if guess.is_read else None
        if kept is None or _changed_since(turn, kept[0]):
            return None
        transition, _ = guess.absorbed(turn, self._invent, likely, kept[1])
        return transition

    def _hold(self, turn: Turn, guess: Guess, transition: Transition) -> None:
        observation = transition.observation
        if guess.is_read and isinstance(observation.body, ToolResult) and len(observation.body.encoded) <= MOST_HELD:
            self._conversation.memory(turn).set(f"held/{turn.draws.scope}", (turn.index, observation))


def _changed_since(turn: Turn, index: int) -> bool:
    """Was anything written after the call of this index? Yes where that is too long ago to be known."""
    for past in reversed(turn.history):
        if past.tool and past.index <= index:
            return False
        if past.changes:
            return True
    return True


def _foretold(role: Role, reply: Reply) -> Observation:
    """The observation that a model's answer is."""
    text = observed(reply)
    value = json_or_text(text) if role.judge is None else parsed(text, reply.content)
    if _is_refusal(value):
        return Observation(ToolResult(value["text"], form="text", is_error=True))
    if role.judge is None:
        return Observation(ToolResult(value, form="text" if isinstance(value, str) else "json"))
    _refuse(role.judge.problems(value))
    return Observation(ToolResult(value))


def _value(observation: Observation) -> Json:
    return observation.body.value if isinstance(observation.body, ToolResult) else None


def _only(value: Json, schemas: Record) -> tuple[Json, list[str]]:
    """The open fields alone, and what was said beside them: that is the world's to say."""
    if not isinstance(value, dict):
        return value, []
    said = cast("Record", value)
    surplus = [name for name in said if name not in schemas]
    return {name: part for name, part in said.items() if name in schemas}, surplus


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
    if not isinstance(value, dict):
        return False
    said = cast("Record", value)
    return said.keys() == {"isError", "text"} and said["isError"] is True and isinstance(said["text"], str)


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise Rejected("", problems)


@contextmanager
def _raw_of(reply: Reply) -> Generator[None]:
    """Whatever is wrong with an answer is told with all that the model said, its thoughts included."""
    try:
        yield
    except Rejected as error:
        thought = f"<think>\n{reply.reasoning[: MOST_RAW // 2]}\n</think>\n\n" if reply.reasoning else ""
        raise Rejected(thought + reply.content, error.problems) from None


def _measured(
    transition: Transition, reply: Reply, rejected: tuple[Attempt, ...], repaired: Sequence[str] = (), **noted: Any
) -> Transition:
    said: Record = {"raw": reply.content[:MOST_RAW]}
    if reply.reasoning:
        said["reasoning"] = reply.reasoning[:MOST_RAW]
    figures: dict[str, Any] = {"asked": True, "attempts": len(rejected) + 1, "said": said, **noted, **reply.usage}
    if reply.cached:
        figures["cached"] = True
    if repaired:
        figures["repaired"] = list(dict.fromkeys(repaired))
    return replace(transition, measured={**transition.measured, **figures})
