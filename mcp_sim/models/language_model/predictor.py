"""Predict calls with a language model: it answers, and the world keeps the answers consistent."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from anyio import from_thread, to_thread

from mcp_sim.models.language_model import prompt
from mcp_sim.models.language_model.absorption import is_closed
from mcp_sim.models.language_model.adoption import Adoption
from mcp_sim.models.language_model.asked_changes import (
    MAX_DIFFERENCES,
    NOTHING,
    UNKNOWN,
    ReportedChanges,
    changes_between,
    changes_schema,
    judgement_schema,
    problems_of,
)
from mcp_sim.models.language_model.compiled_tools import CompiledTool, CompiledTools, collect_facts
from mcp_sim.models.language_model.conformity import conform
from mcp_sim.models.language_model.conversation import Conversation
from mcp_sim.models.language_model.disclosure import find_leaks, without_chat_marks
from mcp_sim.models.language_model.effects import Draft, has_failed
from mcp_sim.models.language_model.fixed_facts import WRITTEN, FixedFacts
from mcp_sim.models.language_model.observations import read_observation
from mcp_sim.models.language_model.reply import (
    CUT_OFF,
    NOT_JSON,
    Reply,
    ended,
    newest_readable,
    observation_text,
    parse_json,
)
from mcp_sim.models.language_model.second_look import SecondLook
from mcp_sim.models.language_model.subjects import Reach
from mcp_sim.models.language_model.tighten import Bounds
from mcp_sim.types import Attempt, Instruction, Json, Key, Observation, Record, ToolResult, Transition, Turn, frozen
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Rejected
from mcp_sim.types.json_schema.validation import Validator
from mcp_sim.types.json_values import Path, as_text
from mcp_sim.types.kinds import Invent
from mcp_sim.types.plans import RECORDLESS
from mcp_sim.types.programs import PROGRAM

MAX_RAW = 20_000
"""How much of a reply, and of its reasoning, the ledger keeps, in characters. A reply may repeat itself until its
tokens run out."""

MAX_DRAFT = 8_000  # maximum size of a draft that the prompt includes, in characters

MAX_KEPT_ANSWER = 64 * 1024
"""Maximum size of an answer that is kept for the next equal call, in characters. It is kept as long as the world."""


@frozen
class PredictorSettings:
    """Settings of a predictor.

    `ask_always`: also ask if nothing is open. `max_attempts`: how often one call is asked for. `judges_arguments`: the
    model answers calls whose arguments violate the inputSchema. `bounds` limit what a grammar allows. `withheld`: texts
    that prompts omit and replies must not contain.
    """

    ask_always: bool
    max_attempts: int
    bounds: Bounds
    withheld: tuple[str, ...] = ()


class ModelPredictor:
    """A predictor that asks a language model, at most once per attempt of a call."""

    def __init__(self, domain: Domain, conversation: Conversation, invent: Invent, settings: PredictorSettings) -> None:
        self._domain, self._conversation, self._invent, self._settings = domain, conversation, invent, settings
        self._tools, self._disclosure = CompiledTools(domain, settings.bounds), conversation.disclosure
        self._changes_schema = changes_schema(domain)

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        tool = self._tools.of(turn.call)
        if tool.is_unclear and self._conversation.memory(turn).get(_reads(turn, tool), False):
            tool = replace(tool, is_write=False)
        if turn.instruction is not None:
            return await self._follow_instruction(turn, tool, turn.instruction, rejected)
        if tool.plan.backend == PROGRAM:
            program = self._domain.program_of(tool.tool.id)
            imagination = Imagination(self._invent, self._conversation, self._settings.max_attempts)
            if program is not None and program.functions[tool.tool.id].effects.imagines:
                transition = await to_thread.run_sync(tool.answer, turn, imagination)
            else:
                transition = tool.answer(turn, self._invent)
            self._conversation.remember(turn, prompt.whole_turn(turn, self._facts(turn, tool)), transition)
            asked: dict[str, Any] = {"asked": imagination.asked > 0}
            return replace(transition, measured={**transition.measured, **asked})
        draft = None if turn.problems else Draft.of(tool.answer, turn, self._invent)
        # A fault that looks twice gets the same reply, read against the other view: a second question might have
        # another answer.
        look: SecondLook | None = turn.memories.shared.get(self._conversation.owner)
        if look is not None and look.is_of(turn):
            return look.again(self._adoption(turn, tool, draft))
        settled = self._settled(turn, tool, draft)
        if settled is not None:
            self._conversation.remember(turn, prompt.whole_turn(turn, self._facts(turn, tool)), settled)
            return replace(settled, measured={**settled.measured, "asked": False})
        return await self._ask(turn, tool, draft, rejected)

    def _settled(self, turn: Turn, tool: CompiledTool, draft: Draft | None) -> Transition | None:
        """Return the transition of a call about which nothing is left to ask; None if the model is asked."""
        memory = self._conversation.memory(turn)
        earlier = self._earlier(turn, tool)
        if earlier is not None and not memory.get(f"identified/{turn.draws.scope}", False):
            return Transition(earlier, guesses=tool.plan.guesses)
        if self._settings.ask_always or draft is None or not draft.is_determined or tool.plan.guessed:
            return None
        if tool.plan.verb in RECORDLESS:
            return None
        body = draft.transition.observation.body
        subjects = tool.names.subjects(body.value, turn.call.arguments) if isinstance(body, ToolResult) else []
        # A record that is known by its id only: something referred to it.
        is_bare = any(len(turn.view.get(*subject.identity) or ()) == 1 for subject in subjects)
        return None if is_bare else draft.transition

    async def _ask(
        self, turn: Turn, tool: CompiledTool, draft: Draft | None, rejected: tuple[Attempt, ...]
    ) -> Transition:
        """Return the transition that the model predicts, corrected and absorbed by the world."""
        facts = self._facts(turn, tool) | self._draft_facts(turn, tool, draft)
        if "likely" in facts:
            facts.pop("rows", None)  # it has them
        user = prompt.whole_turn(turn, facts)
        # After a reply that was cut off, optional parts are closed: they were what made it too long.
        problems = [problem for attempt in rejected for problem in attempt.problems]
        was_unreadable = any(problem.startswith((CUT_OFF, NOT_JSON)) for problem in problems)
        schema = tool.closed_schema if was_unreadable else tool.reply_schema
        reply = await self._conversation.ask_model(turn, user, schema, rejected)
        is_last = self._is_last(rejected)
        if is_last:
            reply = replace(reply, content=without_chat_marks(reply.content, turn.call.arguments))
        with _with_raw_reply(reply):
            reply, observation, omitted = self._conforming(turn, tool, reply, rejected)
            adoption = await self._asked_adoption(turn, tool, draft, user, observation)
            before = rejected[-1].raw.rpartition("</think>\n\n")[2] if rejected else ""
            adoption.is_repeated = bool(before) and reply.content.startswith(before)
            transition = adoption.adopt(observation, is_last=is_last)
        turn.memories.shared[self._conversation.owner] = SecondLook(turn, observation, transition)
        self._conversation.remember(turn, user, transition)
        self._keep(turn, adoption, transition)
        if omitted:
            repaired = (*(".".join(map(str, path)) for path in omitted), *adoption.figures.get("repaired", ()))
            adoption.figures["repaired"] = list(repaired)
        return _measured(transition, reply, rejected, adoption.figures)

    def _conforming(
        self, turn: Turn, tool: CompiledTool, reply: Reply, rejected: tuple[Attempt, ...]
    ) -> tuple[Reply, Observation, list[Path]]:
        """Return a reply, its observation, and the parts of it that were changed because they violate the outputSchema.

        If the last reply cannot be read or conform, these are of the newest earlier one that can. Raises `Rejected`.
        """
        is_last = self._is_last(rejected)

        def conforming(candidate: Reply) -> tuple[Observation, list[Path]]:
            read = read_observation(ended(candidate) if is_last else candidate, tool.schema)
            _refuse(self._leaks(turn, read, candidate))
            return conform(read, tool.schema, tool.validator, is_last=is_last)

        candidate, conformed = newest_readable(reply, rejected, conforming, is_last=is_last)
        return candidate, *conformed

    async def _asked_adoption(
        self, turn: Turn, tool: CompiledTool, draft: Draft | None, user: str, observation: Observation
    ) -> Adoption:
        """Return the adoption of an answer; if the plan does not show what the call changed, the model is asked."""
        if not tool.is_unclear or has_failed(observation):
            return self._adoption(turn, tool, draft)
        reply = await self._conversation.ask_changes(turn, user, observation, self._changes_schema)
        reported = None if reply is None else ReportedChanges.of(reply)
        if reported is not None and not reported.items:
            self._conversation.memory(turn).set(_reads(turn, tool), True)
            tool = replace(tool, is_write=False)
        adoption = replace(self._adoption(turn, tool, draft), reported=reported)
        adoption.figures["changes"] = UNKNOWN if reported is None else len(reported.items) or NOTHING
        return adoption

    def _is_last(self, rejected: tuple[Attempt, ...]) -> bool:
        return len(rejected) + 1 >= self._settings.max_attempts

    def _adoption(self, turn: Turn, tool: CompiledTool, draft: Draft | None) -> Adoption:
        plain = replace(turn, call=self._tools.plain_call(turn.call))
        changes = draft.transition.changes if tool.is_write and draft is not None and draft.ok else None
        reach = None if changes is None else Reach.of(plain, tool.plan, self._domain, changes)
        facts = FixedFacts(turn, self._conversation.memory(turn), tool.declared, tool.is_write, reach)
        return Adoption(plain, tool, self._disclosure, facts, draft, before=self._earlier(turn, tool))

    async def _follow_instruction(
        self, turn: Turn, tool: CompiledTool, instruction: Instruction, rejected: tuple[Attempt, ...]
    ) -> Transition:
        """Return the true observation, altered by an instruction. It does not become part of the transcript."""
        body = instruction.truth.body
        truth = body.encoded.decode() if isinstance(body, ToolResult) else ""
        user = prompt.instructed_turn(turn, self._facts(turn, tool), instruction.text, truth)
        reply = await self._conversation.ask_model(turn, user, tool.reply_schema, rejected)
        with _with_raw_reply(reply):
            read = read_observation(reply, tool.schema)
            _refuse(self._leaks(turn, read, reply))
            observation, _ = conform(read, tool.schema, tool.validator, is_last=self._is_last(rejected))
            _refuse(instruction.problems(observation))
            # What the true answer fails is checked by `must`; else only the model can say whether its changes are asked
            # for.
            verified = "must" if instruction.problems(instruction.truth) else "model"
            changes = changes_between(instruction.truth, observation) if verified == "model" else []
            if len(changes) > MAX_DIFFERENCES:
                _refuse([f"more than {MAX_DIFFERENCES} values differ from the true observation: change fewer"])
            if changes:
                user, schema = prompt.judged_turn(turn, instruction.text, changes), judgement_schema(changes)
                judged = await self._conversation.ask_about(turn, user, schema, f"verify/{len(rejected)}")
                _refuse(problems_of(changes, judged))
            elif verified == "model":
                observation = instruction.truth
        return _measured(Transition(observation, obeyed=True), reply, rejected, {"verified": verified})

    # facts and earlier answers

    def _facts(self, turn: Turn, tool: CompiledTool) -> Record:
        return collect_facts(turn, tool.relevant, self._conversation.transcript(turn), self._disclosure)

    def _draft_facts(self, turn: Turn, tool: CompiledTool, draft: Draft | None) -> Record:
        """Return what the draft knows, for the prompt: a determined answer, or the fields that the call writes."""
        if turn.problems:
            return {"invalid arguments": list(turn.problems)}
        if draft is None or tool.plan.entity is None:
            return {}
        body = draft.transition.observation.body
        # A refusal is certain only if all records are known.
        is_known = tool.entity is not None and is_closed(self._domain, tool.entity)
        is_certain = draft.is_determined and (draft.ok or is_known)
        if is_certain and isinstance(body, ToolResult) and len(body.encoded) <= MAX_DRAFT:
            view = turn.view.after(draft.transition.changes)
            shown = self._disclosure.value(view, tool.plan.entity, body.value)
            return {"likely": {"isError": True, "text": as_text(shown)} if body.is_error else shown}
        changes = draft.transition.changes
        records = [(change.entity, self._disclosure.record(change.entity, change.record)) for change in changes]
        written = [
            {name: value for name, value in record.items() if (entity, name) not in draft.generated}
            for entity, record in records
            if record is not None
        ]
        return {"written": written} if written and len(str(written)) <= MAX_DRAFT else {}

    def _leaks(self, turn: Turn, observation: Observation, reply: Reply) -> list[str]:
        body = observation.body
        shown: Json = [body.value, *body.content] if isinstance(body, ToolResult) else asdict(body)
        return find_leaks(shown, reply.reasoning, self._settings.withheld, turn.call.arguments)

    def _earlier(self, turn: Turn, tool: CompiledTool) -> Observation | None:
        """Return the answer to an equal earlier read, if neither a call nor someone else has written since."""
        memory = self._conversation.memory(turn)
        kept = None if tool.is_write or tool.varies else memory.get(f"kept/{turn.draws.scope}")
        if kept is None or memory.get(WRITTEN, 0) > kept[0]:
            return None
        for past in reversed(turn.history):
            if past.tool and past.index <= kept[0]:
                return kept[1]
            if past.changes:
                return None
        return None  # the history does not go back so far

    def _keep(self, turn: Turn, adoption: Adoption, transition: Transition) -> None:
        """Keep the answer of a read for the next equal one. If it identifies nothing, the model is not asked again."""
        memory, body = self._conversation.memory(turn), transition.observation.body
        is_fixed = not adoption.tool.is_write and not adoption.tool.varies
        if is_fixed and isinstance(body, ToolResult) and len(body.encoded) <= MAX_KEPT_ANSWER:
            memory.set(f"kept/{turn.draws.scope}", (turn.index, transition.observation))
            memory.set(f"identified/{turn.draws.scope}", adoption.identified)


def _reads(turn: Turn, tool: CompiledTool) -> str:
    return f"reads/{tool.kind_of_call(turn.call.arguments)}"


@contextmanager
def _with_raw_reply(reply: Reply) -> Generator[None]:
    """Add the whole reply, including its reasoning, to `Rejected`."""
    try:
        yield
    except Rejected as error:
        thought = f"<think>\n{reply.reasoning[: MAX_RAW // 2]}\n</think>\n\n" if reply.reasoning else ""
        raise Rejected(thought + reply.content, error.problems) from None


def _measured(
    transition: Transition, reply: Reply, rejected: tuple[Attempt, ...], figures: Mapping[str, Any]
) -> Transition:
    replied: Record = {"raw": reply.content[:MAX_RAW]}
    if reply.finish_reason == "length":
        replied["cut_off"] = True
    if reply.reasoning:
        replied["reasoning"] = reply.reasoning[:MAX_RAW]
    noted: dict[str, Any] = {"asked": True, "attempts": len(rejected) + 1, "reply": replied, **figures, **reply.usage}
    if reply.cached:
        noted["cached"] = True
    return replace(transition, measured={**transition.measured, **noted})


def _refuse(problems: Sequence[str]) -> None:
    if problems:
        raise Rejected("", problems)


@dataclass(slots=True)
class Imagination:
    """An `Invent` for a program in a thread: it asks a language model for what the program imagines."""

    invent: Invent
    conversation: Conversation
    attempts: int
    """How often the model is asked for one value; then it is generated."""
    asked: int = 0

    def __call__(self, turn: Turn, entity: str, field: str, schema: Record, record: Record) -> Json:
        return self.invent(turn, entity, field, schema, record)

    def choose_reference(self, turn: Turn, entity: str, field: str, target: str, keys: Iterable[Key]) -> Key:
        return self.invent.choose_reference(turn, entity, field, target, keys)

    def imagine(self, turn: Turn, schema: Record, about: str) -> Json:
        validator, user = Validator(schema), prompt.imagined_turn(turn, about)
        for attempt in range(self.attempts):
            self.asked += 1
            reply = from_thread.run(self.conversation.ask_about, turn, user, schema, f"imagine/{attempt}")
            try:
                value = None if reply is None else parse_json(observation_text(reply), reply.content)
            except Rejected:
                continue
            if reply is not None and validator.is_valid(value):
                return value
        return self.invent.imagine(turn, schema, about)
