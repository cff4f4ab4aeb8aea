"""The domains of AgentWorld other than MCP: what an action and an observation look like, and who predicts them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Literal, cast

from mcp_sim.models.language_model import prompt
from mcp_sim.models.language_model.conversation import Conversation, append_turn
from mcp_sim.models.language_model.disclosure import Disclosure, find_leaks, without_chat_marks
from mcp_sim.models.language_model.observations import read_observation
from mcp_sim.models.language_model.reply import Reply, ended, newest_readable, observation_text
from mcp_sim.types import Attempt, Change, Json, Observation, Record, ToolResult, Transition, Turn, frozen
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import Rejected, UsageError

_TYPED = ("keystrokes", "command", "cmd", "input", "code", "text")  # arguments that hold what is typed, best first
_CODE = ("action", "code", "script", "command")  # arguments that hold an action of a browser, or a program, as a whole
TASK, STATE, ACTION = "# Task", "# Current State", "# Action"
INSTRUCTION = "# Simulation Instruction"
"""The headings of turns."""
_HEADINGS = re.compile(rf"^({STATE}|{ACTION}|{INSTRUCTION})[ \t]*$", re.MULTILINE)
_HEADINGS_WITH_TASK = re.compile(rf"^({TASK}|{STATE}|{ACTION}|{INSTRUCTION})[ \t]*$", re.MULTILINE)
_PAUSE = 1.0  # seconds that a terminal is watched after keystrokes, where the call does not say


@frozen
class Form:
    """How a domain writes a turn.

    `action` renders a call, given the tool's name. `screen`: whether turns show the current state, `first` only the
    first one. `has_task`: whether each turn repeats the task.
    """

    action: Callable[[str, Record], str]
    screen: Literal["never", "first", "always"] = "never"
    has_task: bool = False

    def without_headings(self, text: str, raw: str) -> str:
        """Return the part of a reply that is the observation, where the model repeats a turn or goes on with the next.

        In domains whose turns have no headings it is the whole text. Raises `Rejected`, with `raw`, if nothing is left.
        """
        if self.screen == "never":
            return text
        before, *sections = (_HEADINGS_WITH_TASK if self.has_task else _HEADINGS).split(text)
        # Alternately headings and what is below them
        states = [body for heading, body in zip(sections[::2], sections[1::2], strict=True) if heading == STATE]
        observation = next((text for text in (before, *states) if text.strip()), "")
        if sections and not observation:
            raise Rejected(raw, ["the answer repeats the turn; answer with the observation alone"])
        return observation.strip("\n") if sections else text


def json_call(tool: str, arguments: Record) -> str:
    """Return a call as JSON in a fence."""
    return f"```json\n{json.dumps({'name': tool, 'arguments': arguments}, ensure_ascii=False)}\n```"


def keystrokes(_tool: str, arguments: Record) -> str:
    """Return what is typed into a terminal, as a JSON list of keystrokes with their durations in seconds."""
    actions: Json = arguments.get("actions", arguments.get("commands"))
    if not isinstance(actions, list):
        name, text = _first(arguments, _TYPED)
        # Keystrokes are complete; a command still needs the return key.
        typed = text if name == "keystrokes" or text.endswith("\n") else f"{text}\n"
        actions = [{"keystrokes": typed, "duration": arguments.get("duration", _PAUSE)}]
    return json.dumps(cast("list[Json]", actions), ensure_ascii=False)


def function_call(tool: str, arguments: Record) -> str:
    """Return an action of a browser or desktop: code, if that is the only argument, else a call: `click('a12')`."""
    name, text = _first(arguments, _CODE)
    if name in _CODE and len(arguments) == 1:
        return text
    return f"{tool}({', '.join(repr(value) for value in arguments.values())})"


def _first(arguments: Record, names: tuple[str, ...]) -> tuple[str, str]:
    """Return the first argument with one of these names that is a text, else the first text; '' without any."""
    texts = {name: value for name, value in arguments.items() if isinstance(value, str)}
    return next(((name, texts[name]) for name in (*names, *texts) if name in texts), ("", ""))


DOMAINS: Mapping[str, Form] = {
    "search": Form(json_call),
    "swe": Form(json_call),
    "terminal": Form(keystrokes, "first"),
    "android": Form(json_call, "always", has_task=True),
    "web": Form(function_call, "always", has_task=True),
    "os": Form(function_call, "always", has_task=True),
}
"""The domains by name. `mcp`, the default, is the form of all other prompts."""


SCREEN = "screen"  # the entity, and the key, of the record of what is on the screen: `text`
_MOST_SCREEN = 50_000
"""Characters of a screen that are kept and repeated. A page of a browser has up to twenty thousand."""


@frozen
class DomainSettings:
    """What turns of a domain show besides the action: the first screen, and the task of the agent.

    `withheld`: texts that prompts omit and replies must not contain.
    """

    screen: str = ""
    task: str = ""
    withheld: tuple[str, ...] = ()


def system_text(name: str, folder: str | None, domain: Domain, instructions: str) -> str:
    """Return the system prompt of a domain: that of a folder, else our own words.

    Raises `UsageError` if the folder has no such file.
    """
    if folder is None:
        text = files("mcp_sim.models.language_model").joinpath("prompts", "domains", f"{name}.md").read_text("utf-8")
        tools = [{"name": tool.name, "description": tool.description} for tool in domain.tools.values()]
        text = f"{text.strip()}\n\n# Tools\n\n" + "\n".join(
            f"- {tool['name']}: {tool['description']}" for tool in tools
        )
    else:
        paths = [Path(folder) / name for name in (f"{name}/system_prompt.txt", f"{name}.md", f"{name}.txt")]
        path = next((path for path in paths if path.is_file()), None)
        if path is None:
            raise UsageError(f"prompts: expected {name}/system_prompt.txt, {name}.md or {name}.txt in {folder}")
        text = path.read_text(encoding="utf-8").strip()
    about = f"\n\n# Environment\n\n{domain.description}" if domain.description else ""
    return prompt.encodable(f"{text}{about}" + (f"\n\n# Instructions\n\n{instructions}" if instructions else ""))


def no_summary(_turn: Turn, _disclosure: Disclosure, _size: int) -> None:
    """Return nothing that would replace old turns: those that are kept show the newest screen."""


class DomainPredictor:
    """A predictor that asks a language model in the turns of a domain."""

    def __init__(self, name: str, conversation: Conversation, settings: DomainSettings, max_attempts: int) -> None:
        self._form: Form = DOMAINS[name]
        self._conversation, self._settings, self._max_attempts = conversation, settings, max_attempts

    async def predict(self, turn: Turn, rejected: tuple[Attempt, ...]) -> Transition:
        look: tuple[Turn, Transition] | None = turn.memories.shared.get(self._conversation.owner)
        if look is not None and look[0].index == turn.index and turn.view is not look[0].view:
            # A fault looks at an older state: it sees the screen of then, or the same text.
            if self._form.screen == "never" or turn.instruction is not None:
                return look[1]
            screen = Observation(ToolResult(self._screen(turn), form="text"))
            return replace(look[1], observation=screen, changes=(), absorbed=())
        user = self._user(turn)
        replied = await self._conversation.ask_model(turn, user, None, rejected)
        reply, observation, text = self._read(turn, replied, rejected)
        changes = self._changes(turn, text)
        # What a read shows is absorbed, so that a fault may show an older screen; an action writes.
        kept = "absorbed" if turn.tool.annotations.get("readOnlyHint") else "changes"
        transition = replace(Transition(observation, measured=_figures(reply, len(rejected))), **{kept: changes})
        if turn.instruction is not None:
            problems = turn.instruction.problems(observation)
            if problems:
                raise Rejected(reply.content, problems)
            return replace(transition, changes=(), absorbed=(), obeyed=True)
        transcript = append_turn(self._conversation.transcript(turn), turn.index, user, text, changes)
        self._conversation.memory(turn).set("transcript", transcript)
        turn.memories.shared[self._conversation.owner] = (turn, transition)
        return transition

    def _user(self, turn: Turn) -> str:
        """Return the turn as the domain writes it."""
        form = self._form
        # A transcript that is shortened to nothing begins anew.
        is_first = self._conversation.shortened(turn, len(self._screen(turn))) is None
        parts = [f"{TASK}\n\n{self._settings.task}"] if form.has_task and self._settings.task else []
        if form.screen == "always" or (form.screen == "first" and is_first):
            parts.append(f"{STATE}\n\n{self._screen(turn)}")
        action = form.action(turn.tool.name, turn.call.arguments)
        parts.append(f"{ACTION}\n\n{action}" if parts else action)
        if turn.problems:
            parts.append("The arguments violate the tool's inputSchema: " + "; ".join(turn.problems))
        if turn.instruction is not None:
            truth = turn.instruction.truth.body
            shown = truth.encoded.decode() if isinstance(truth, ToolResult) else ""
            parts.append(f"{INSTRUCTION}\n\n{turn.instruction.text}\n\nWithout it the observation is:\n{shown}")
        return prompt.encodable("\n\n".join(parts))

    def _screen(self, turn: Turn) -> str:
        record = turn.view.get(SCREEN, SCREEN)
        return self._settings.screen if record is None else str(record.get("text", ""))

    def _read(self, turn: Turn, reply: Reply, rejected: tuple[Attempt, ...]) -> tuple[Reply, Observation, str]:
        """Return a reply, its observation, and the text of that.

        If the last reply cannot be served, these are of the newest earlier one that can. Raises `Rejected`.
        """
        is_last = len(rejected) + 1 >= self._max_attempts

        def observed(candidate: Reply) -> tuple[Observation, str]:
            if is_last:  # what was cut off is served as if it had ended
                content = without_chat_marks(candidate.content, turn.call.arguments)
                candidate = ended(replace(candidate, content=content), is_plain=turn.tool.output_schema is None)
            return self._observation(turn, candidate)

        served, (observation, text) = newest_readable(reply, rejected, observed, is_last=is_last)
        return served, observation, text

    def _observation(self, turn: Turn, reply: Reply) -> tuple[Observation, str]:
        """Return the observation in a reply, and its text. Raises `Rejected` if it cannot be served."""
        text = self._form.without_headings(observation_text(reply), reply.content)
        leaks = find_leaks(text, reply.reasoning, self._settings.withheld, turn.call.arguments)
        if leaks:
            raise Rejected(reply.content, leaks)
        if not text.strip() and reply.reasoning:
            raise Rejected(reply.content, ["the answer is empty"])
        if turn.tool.output_schema is not None:
            return read_observation(reply, turn.tool.output_schema), text
        return Observation(ToolResult(text, form="text")), text

    def _changes(self, turn: Turn, text: str) -> tuple[Change, ...]:
        """Return the change of the screen: none in domains without one."""
        shown = text[:_MOST_SCREEN]
        if self._form.screen == "never" or shown == self._screen(turn):
            return ()
        return (Change("put", SCREEN, SCREEN, {"id": SCREEN, "text": shown}),)


def _figures(reply: Reply, rejected: int) -> Mapping[str, object]:
    replied: Record = {"raw": reply.content[:_MOST_SCREEN]}
    if reply.reasoning:
        replied["reasoning"] = reply.reasoning[:_MOST_SCREEN]
    return {"asked": True, "attempts": rejected + 1, "reply": replied, **reply.usage}
