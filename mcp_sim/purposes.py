"""What is each tool for, as behaviours judge it: the words of its name, its arguments, what it must be given?

A tool whose argument `operation` (`action`, `mode`, ...) selects what it does has a purpose for each of the choices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.schemas import constants, expanded, main_type, properties, required
from mcp_sim.types import Record, Tool
from mcp_sim.words import singular, snake, vocabulary, words

SELECTORS = ("operation", "action", "op", "command", "method", "mode", "operation_type", "action_type")
"""The names of arguments that select what a tool does."""

_EMPTY_WORDS = vocabulary("manage manager management operation operations tool tools do perform handle the a an")


@dataclass(frozen=True, slots=True)
class Purpose:
    """One thing that a tool does. `words` are those of its name, in lower case; `said` those of its description.

    `choice` is the value of the argument `selector` that asks for it, where one does.
    """

    tool: Tool
    words: tuple[str, ...]
    arguments: Mapping[str, Record]
    needed: frozenset[str]
    said: str
    selector: str | None = None
    choice: str = ""

    @property
    def nouns(self) -> frozenset[str]:
        """The words of the name, each in the singular."""
        return frozenset(singular(word) for word in self.words)

    def has(self, *names: str) -> bool:
        """Is one of these among the words of the name?"""
        return bool(self.nouns.intersection(names))

    def argument(self, *names: str, kind: str = "") -> str | None:
        """The argument that goes by the first of these names; else the first whose name ends with one of them."""
        called = {snake(name): name for name in self.arguments if self._is(name, kind)}
        exact = next((called[name] for name in names if name in called), None)
        if exact is not None:
            return exact
        return next((name for form, name in called.items() if any(form.endswith(f"_{end}") for end in names)), None)

    def _is(self, name: str, kind: str) -> bool:
        return name != self.selector and (not kind or main_type(self.arguments[name]) in {kind, ""})


def purposes(tools: Sequence[Tool]) -> list[Purpose]:
    """The purposes of these tools; a first word that most tools of one server share is dropped."""
    shared = {server: _shared(tools, server) for server in {tool.server for tool in tools}}
    return [purpose for tool in tools for purpose in purposes_of(tool, shared[tool.server])]


def purposes_of(tool: Tool, prefix: str = "") -> list[Purpose]:
    """What one tool is for."""
    schema = expanded(tool.input_schema)
    parts = words(tool.name)
    parts = parts[1:] if prefix and len(parts) > 1 and parts[0] == prefix else parts
    whole = Purpose(tool, parts, properties(schema), required(schema), tool.description.lower())
    return list(_choices(whole)) or [whole]


def _choices(whole: Purpose) -> Iterator[Purpose]:
    for name in whole.arguments:
        chosen = [value for value in constants(whole.arguments[name]) if isinstance(value, str)]
        if snake(name) in SELECTORS and len(chosen) > 1:
            rest = tuple(word for word in whole.words if word not in _EMPTY_WORDS)
            needed = whole.needed - {name}
            for value in chosen:
                yield replace(whole, words=(*words(value), *rest), needed=needed, selector=name, choice=value)
            return


def _shared(tools: Sequence[Tool], server: str) -> str:
    """The first word of at least three tools and three fifths of all."""
    names = [words(tool.name) for tool in tools if tool.server == server]
    counts = Counter(parts[0] for parts in names if len(parts) > 1)
    word, count = counts.most_common(1)[0] if counts else ("", 0)
    followed = {parts[1] for parts in names if len(parts) > 1 and parts[0] == word}
    return word if count >= 3 and count >= 0.6 * len(names) and len(followed) > 2 else ""
