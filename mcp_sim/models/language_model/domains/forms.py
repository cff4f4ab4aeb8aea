"""The turns of each domain, as AgentWorld writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Literal, cast

from mcp_sim.types import Json, Record
from mcp_sim.types.errors import Rejected
from mcp_sim.types.frozen import frozen

_TYPED = ("keystrokes", "command", "cmd", "input", "code", "text")
"""Arguments that hold what is typed, best first."""
_CODE = ("action", "code", "script", "command")
"""Arguments that hold an action of a browser, or a program, as a whole."""
TASK, STATE, ACTION = "# Task", "# Current State", "# Action"
INSTRUCTION = "# Simulation Instruction"
"""The headings of turns."""
_HEADINGS = re.compile(rf"^({STATE}|{ACTION}|{INSTRUCTION})[ \t]*$", re.MULTILINE)
_HEADINGS_WITH_TASK = re.compile(rf"^({TASK}|{STATE}|{ACTION}|{INSTRUCTION})[ \t]*$", re.MULTILINE)
_PAUSE = 1.0
"""Seconds that a terminal is watched after keystrokes, where the call does not say."""


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
        observation = next((part for part in (before, *states) if part.strip()), "")
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
