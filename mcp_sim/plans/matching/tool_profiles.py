"""Profiles of tools, by which backends recognise their operations: words of the name, arguments, description.

A tool whose argument `operation` (`action`, `mode`, ...) selects what it does has one profile for each choice.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.described_choices import choices_of
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, constants, items, main_type, properties, required, types_of
from mcp_sim.types.lexicon.english import singular, snake, words
from mcp_sim.types.lexicon.terms import by_word, terms
from mcp_sim.types.result_schemas import result_schema

_SELECTORS = terms("arguments.chooser")
"""Names of arguments that select what a tool does."""

_EMPTY_WORDS = terms("phrases.tool_words") | {"the", "a", "an"}
_VERBS = (
    by_word("verbs.certain").keys() | by_word("verbs.likely").keys() | terms("verbs.recordless", "verbs.inspecting")
) - terms("verbs.nouns_too", "verbs.recordless_nouns")
MAX_DESCRIPTION = 4000
"""How many characters of a description are read."""


@dataclass(frozen=True)
class ToolProfile:
    """One thing that a tool does. `words` are those of its name without the server's prefix; schemas are expanded.

    `choice` is the value of the argument `selector` that selects it, if the tool has such an argument.
    """

    tool: Tool
    words: tuple[str, ...]
    arguments: Mapping[str, Record]
    needed: frozenset[str]
    selector: str | None = None
    choice: str = ""

    @cached_property
    def nouns(self) -> frozenset[str]:
        """The words of the name, in the singular."""
        return frozenset(singular(word) for word in self.words)

    @cached_property
    def short_names(self) -> Mapping[str, str]:
        """The arguments by their names without separators."""
        return {"".join(words(name)): name for name in self.arguments}

    @cached_property
    def endings(self) -> Mapping[str, frozenset[str]]:
        """The last words of each argument's name, without separators: `path` and `filepath` for `the_file_path`."""
        named = {name: words(name) for name in self.arguments}
        return {name: frozenset("".join(value[at:]) for at in range(1, len(value))) for name, value in named.items()}

    @cached_property
    def description(self) -> str:
        """The description, in lower case."""
        return self.tool.description.lower()

    @cached_property
    def description_words(self) -> frozenset[str]:
        """The words of the description, up to `MAX_DESCRIPTION` characters."""
        return frozenset(re.findall(r"[a-z][a-z0-9]+", self.description[:MAX_DESCRIPTION]))

    @cached_property
    def output(self) -> Record:
        """The output schema, empty if it is missing."""
        return result_schema(self.tool)

    def has(self, *names: str) -> bool:
        """Return whether the name contains one of these nouns."""
        return bool(self.nouns.intersection(names))

    def mentions(self, *names: str) -> bool:
        """Return whether the name or the description contains one of these words."""
        return any(word in self.description_words or word in self.words for word in names)

    def argument(self, names: Collection[str], types: Collection[str] = ()) -> str | None:
        """Return the argument with the first of these names and one of these types.

        If `names` is a set, return the first argument with one of them.
        """
        called: dict[str, str] = {}
        for name in self.arguments:
            if self._may_be(name, types):
                called.setdefault(snake(name), name)
        wanted = names if isinstance(names, Sequence) else [name for name in called if name in names]
        return next((called[name] for name in wanted if name in called), None)

    def _may_be(self, name: str, types: Collection[str]) -> bool:
        return name != self.selector and (not types or bool(argument_types(self.arguments[name]).intersection(types)))


def profiles_of_tools(tools: Iterable[Tool]) -> list[ToolProfile]:
    """Return one profile per tool. A first word that most tools of a server share is dropped."""
    listed = list(tools)
    shared = {server: _shared_prefix(listed, server) for server in {tool.server for tool in listed}}
    return [_profile(tool, shared[tool.server]) for tool in listed]


def profiles_by_server(tools: Iterable[Tool]) -> list[list[ToolProfile]]:
    """Return the profiles of the tools of each server, with one profile per choice of a selecting argument."""
    servers: dict[str, list[Tool]] = {}
    for tool in tools:
        servers.setdefault(tool.server, []).append(tool)
    return [profiles_by_choice(listed) for listed in servers.values()]


def profiles_by_choice(tools: Sequence[Tool]) -> list[ToolProfile]:
    """Return the profiles of these tools, with one profile per choice of a selecting argument."""
    return [profile for whole in profiles_of_tools(tools) for profile in split_by_choice(whole)]


def split_by_choice(whole: ToolProfile) -> list[ToolProfile]:
    """Split a profile into one per choice of a selecting argument, if the tool has such an argument."""
    return list(_selected(whole)) or [whole]


def last_segment(name: str) -> str:
    """Return the part of a name after the last separator: `post_message` for `slack.post_message`."""
    return re.split(r"[./:]|__", name.strip("_./:"))[-1] or name


def _profile(tool: Tool, shared: str | None) -> ToolProfile:
    schema, named = expanded(tool.input_schema), words(last_segment(tool.name))
    bare = named[1:] if shared is not None and len(named) > 1 and named[0] == shared else named
    return ToolProfile(tool, bare, properties(schema), required(schema))


def _selected(whole: ToolProfile) -> Iterator[ToolProfile]:
    for name in whole.arguments:
        chosen = [value for value in choices_of(whole.arguments[name]) if isinstance(value, str)]
        if snake(name) in _SELECTORS and len(chosen) > 1:
            rest = tuple(word for word in whole.words if word not in _EMPTY_WORDS)
            needed = whole.needed - {name}
            for value in chosen:
                yield replace(whole, words=(*words(value), *rest), needed=needed, selector=name, choice=value)
            return


def _shared_prefix(tools: Sequence[Tool], server: str) -> str | None:
    """Return a first word that three tools and three fifths of a server's tools share, unless it is a verb."""
    named = [words(last_segment(tool.name)) for tool in tools if tool.server == server]
    listed = [parts for parts in named if len(parts) > 1 and parts[0] not in _VERBS]
    counts = Counter(parts[0] for parts in listed).most_common(1)
    word, count = counts[0] if counts else ("", 0)
    followed = {parts[1] for parts in listed if parts[0] == word}
    return word if count >= max(3, 0.6 * len(named)) and len(followed) > 1 else None


_LISTED = re.compile(r"\[Enum\]:?\s*(\[[^\]]*\]|[\w ,/|-]+)")
_ANYTHING = frozenset({"string", "number", "integer", "boolean", "object", "array", "numbers", "strings", "lists"})
_LISTS = {"number": "numbers", "integer": "numbers", "string": "strings", "object": "objects", "array": "lists"}


def argument_types(schema: Record) -> frozenset[str]:
    """Return the JSON types of an argument, and `numbers`, `strings`, `objects` or `lists` for the items of a list.

    If a schema declares no type, return all of them.
    """
    types = set(types_of(schema)) - {"null"}
    for word in ("anyOf", "oneOf"):
        for branch in as_list(schema.get(word)):
            types |= argument_types(branch) if branch != {"type": "null"} else set()
    if not types:
        return _ANYTHING
    if "array" in types:
        inner = main_type(items(schema))
        types |= {_LISTS[inner]} if inner in _LISTS else set(_LISTS.values())
    return frozenset(types)


def listed_values(schema: Record) -> list[Json]:
    """Return the choices of an argument: its `enum`, or a list in its description, as some generators write it."""
    declared = [value for value in constants(schema) if value is not None]
    match = _LISTED.search(str(schema.get("description", "")))
    if declared or match is None:
        return declared
    return [piece.strip(" '\"[].") for piece in re.split(r"[,/|]", match[1]) if piece.strip(" '\"[].")]
