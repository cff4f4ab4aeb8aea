"""What is each tool for, as backends judge it: the words of its name, its arguments, what is said of it?

A tool whose argument `operation` (`action`, `mode`, ...) selects what it does has a purpose for each of the choices.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mcp_sim.infer.choices import choices_of
from mcp_sim.infer.result_forms import result_schema
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.json_schema.shapes import (
    as_list,
    constants,
    expanded,
    items,
    main_type,
    properties,
    required,
    types_of,
)
from mcp_sim.types.lexicon.words import singular, snake, vocabulary, words

SELECTORS = ("operation", "action", "op", "command", "method", "mode", "operation_type", "action_type")
"""The names of arguments that select what a tool does."""

_EMPTY_WORDS = vocabulary("manage manager management operation operations ops tool tools do perform handle the a an")
_VERBS = vocabulary("add calculate check compute convert create delete find get list read search send set update write")
LONGEST_READ = 4000
"""So much of a description is read, in characters."""


@dataclass(frozen=True)
class Purpose:
    """One thing that a tool does. `words` are those of its name without the server's; schemas are expanded.

    `choice` is the value of the argument `selector` that asks for it, where one does.
    """

    tool: Tool
    words: tuple[str, ...]
    arguments: Mapping[str, Record]
    needed: frozenset[str]
    selector: str | None = None
    choice: str = ""

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The words of the name, each in the singular."""
        return frozenset(singular(word) for word in self.words)

    @cached_property
    def said(self) -> str:
        """The description, in lower case."""
        return self.tool.description.lower()

    @cached_property
    def told(self) -> frozenset[str]:
        """The words that the description begins with."""
        return frozenset(re.findall(r"[a-z][a-z0-9]+", self.said[:LONGEST_READ]))

    @cached_property
    def output(self) -> Record:
        """The outputSchema; empty where there is none."""
        return result_schema(self.tool)

    def has(self, *names: str) -> bool:
        """Is one of these among the words of the name, each in the singular?"""
        return bool(self.nouns.intersection(names))

    def says(self, *names: str) -> bool:
        """Does the name or the description hold one of these words?"""
        return any(word in self.told or word in self.words for word in names)

    def argument(self, names: Collection[str], types: Collection[str] = ()) -> str | None:
        """The argument that goes by the first of these names, of one of these types.

        Of a set, which has no first, it is the first argument that goes by one of them.
        """
        called: dict[str, str] = {}
        for name in self.arguments:
            if self._may_be(name, types):
                called.setdefault(snake(name), name)
        wanted = names if isinstance(names, Sequence) else [name for name in called if name in names]
        return next((called[name] for name in wanted if name in called), None)

    def argument_like(self, names: Sequence[str], types: Collection[str] = ()) -> str | None:
        """The same; else the first argument whose name ends with one of them."""
        exact = self.argument(names, types)
        if exact is not None:
            return exact
        ends = tuple(f"_{name}" for name in names)
        return next((one for one in self.arguments if self._may_be(one, types) and snake(one).endswith(ends)), None)

    def _may_be(self, name: str, types: Collection[str]) -> bool:
        return name != self.selector and (not types or bool(kinds_of(self.arguments[name]).intersection(types)))


def whole_purposes(tools: Iterable[Tool]) -> list[Purpose]:
    """What each of these tools is for as a whole; a first word that most tools of one server share is dropped."""
    listed = list(tools)
    shared = {server: _shared(listed, server) for server in {tool.server for tool in listed}}
    return [_whole(tool, shared[tool.server]) for tool in listed]


def server_purposes(tools: Iterable[Tool]) -> list[list[Purpose]]:
    """The purposes of the tools of each server, each choice of a selecting argument for itself."""
    servers: dict[str, list[Tool]] = {}
    for tool in tools:
        servers.setdefault(tool.server, []).append(tool)
    return [purposes(listed) for listed in servers.values()]


def purposes(tools: Sequence[Tool]) -> list[Purpose]:
    """The purposes of these tools, each choice of a selecting argument for itself."""
    return [purpose for whole in whole_purposes(tools) for purpose in choices(whole)]


def purposes_of(tool: Tool) -> list[Purpose]:
    """What one tool is for, looked at alone."""
    return choices(_whole(tool, None))


def choices(whole: Purpose) -> list[Purpose]:
    """The purposes that an argument selects among; the whole where none does."""
    return list(_selected(whole)) or [whole]


def last_segment(name: str) -> str:
    """`slack.post_message`, `mcp__math__add`: what stands behind the last separator."""
    return re.split(r"[./:]|__", name.strip("_./:"))[-1] or name


def within(phrase: Sequence[str], whole: Sequence[str]) -> bool:
    """Do these words stand in this order, next to each other?"""
    size = len(phrase)
    return any(tuple(whole[at : at + size]) == tuple(phrase) for at in range(len(whole) - size + 1))


def _whole(tool: Tool, shared: str | None) -> Purpose:
    schema, named = expanded(tool.input_schema), words(last_segment(tool.name))
    bare = named[1:] if shared is not None and len(named) > 1 and named[0] == shared else named
    return Purpose(tool, bare, properties(schema), required(schema))


def _selected(whole: Purpose) -> Iterator[Purpose]:
    for name in whole.arguments:
        chosen = [value for value in choices_of(whole.arguments[name]) if isinstance(value, str)]
        if snake(name) in SELECTORS and len(chosen) > 1:
            rest = tuple(word for word in whole.words if word not in _EMPTY_WORDS)
            needed = whole.needed - {name}
            for value in chosen:
                yield replace(whole, words=(*words(value), *rest), needed=needed, selector=name, choice=value)
            return


def _shared(tools: Sequence[Tool], server: str) -> str | None:
    """A first word, and no verb, of at least three tools and three fifths of all."""
    named = [words(last_segment(tool.name)) for tool in tools if tool.server == server]
    listed = [parts for parts in named if len(parts) > 1]
    word, count = Counter(parts[0] for parts in listed).most_common(1)[0] if listed else ("", 0)
    followed = {parts[1] for parts in listed if parts[0] == word}
    is_shared = count >= 3 and count >= 0.6 * len(named) and len(followed) > 1 and word not in _VERBS
    return word if is_shared else None


_LISTED = re.compile(r"\[Enum\]:?\s*(\[[^\]]*\]|[\w ,/|-]+)")
_ANYTHING = frozenset({"string", "number", "integer", "boolean", "object", "array", "numbers", "strings", "lists"})
_LISTS = {"number": "numbers", "integer": "numbers", "string": "strings", "object": "objects", "array": "lists"}


def kinds_of(schema: Record) -> frozenset[str]:
    """The JSON types that an argument may be of, and `numbers`, `strings`, `objects`, `lists` for what it lists.

    What a schema does not tell is possible: all of them.
    """
    types = set(types_of(schema)) - {"null"}
    for word in ("anyOf", "oneOf"):
        for branch in as_list(schema.get(word)):
            types |= kinds_of(branch) if branch != {"type": "null"} else set()
    if not types:
        return _ANYTHING
    if "array" in types:
        inner = main_type(items(schema))
        types |= {_LISTS[inner]} if inner in _LISTS else set(_LISTS.values())
    return frozenset(types)


def listed_values(schema: Record) -> list[Json]:
    """The values that an argument is said to have: by `enum`, or in the description, as some generators write it."""
    declared = [value for value in constants(schema) if value is not None]
    found = _LISTED.search(str(schema.get("description", "")))
    if declared or found is None:
        return declared
    return [part.strip(" '\"[].") for part in re.split(r"[,/|]", found[1]) if part.strip(" '\"[].")]
