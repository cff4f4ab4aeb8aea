"""What do a tool's name, arguments and description say, in whatever style they are written?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mcp_sim.schemas import as_list, constants, expanded, items, main_type, properties, required, types_of
from mcp_sim.types import Json, Record, Tool
from mcp_sim.words import snake, vocabulary, words

_LISTED = re.compile(r"\[Enum\]:?\s*(\[[^\]]*\]|[\w ,/|-]+)")

_VERBS = vocabulary("add calculate check compute convert create delete find get list read search send set update write")


@dataclass(frozen=True, slots=True)
class Traits:
    """A tool as it is looked at. `words` are those of its name without the server's; schemas are expanded."""

    tool: Tool
    words: tuple[str, ...]
    arguments: Mapping[str, Record]
    required: frozenset[str]
    output: Record
    told: frozenset[str]

    @property
    def id(self) -> str:
        return self.tool.id

    def argument(self, names: Collection[str], types: Collection[str] = ()) -> str | None:
        """The first argument that goes by one of these names, and may be of one of these types."""
        return next(
            (
                name
                for name, schema in self.arguments.items()
                if snake(name) in names and (not types or kinds_of(schema) & set(types))
            ),
            None,
        )

    def says(self, *vocabulary: str) -> bool:
        """Does the name or the description hold one of these words?"""
        return any(word in self.told or word in self.words for word in vocabulary)


def traits_of(tools: Mapping[str, Tool]) -> list[Traits]:
    """The traits of a server's tools."""
    bare = {name: words(last_segment(tool.name)) for name, tool in tools.items()}
    shared = _shared([*bare.values()])
    return [
        _traits(tool, bare[name][1:] if shared and bare[name][:1] == (shared,) else bare[name])
        for name, tool in tools.items()
    ]


def kinds_of(schema: Record) -> frozenset[str]:
    """The JSON types that an argument may be of, and `numbers`, `strings`, `objects`, `lists` for what it lists.

    What a schema does not tell is possible: all of them.
    """
    types = set(types_of(schema)) - {"null"}
    for word in ("anyOf", "oneOf"):
        for branch in as_list(schema.get(word)):
            types |= kinds_of(branch)
    if not types:
        return frozenset({"string", "number", "integer", "boolean", "object", "array", "numbers", "strings", "lists"})
    if "array" in types:
        inner = main_type(items(schema))
        of = {"number": "numbers", "integer": "numbers", "string": "strings", "object": "objects", "array": "lists"}
        types |= {of[inner]} if inner in of else {"numbers", "strings", "objects", "lists"}
    return frozenset(types)


def choices_of(schema: Record) -> list[Json]:
    """The values that an argument is said to have: by `enum`, or in the description, as some generators write it."""
    declared = [value for value in constants(schema) if value is not None]
    found = _LISTED.search(str(schema.get("description", "")))
    if declared or found is None:
        return declared
    return [part.strip(" '\"[].") for part in re.split(r"[,/|]", found[1]) if part.strip(" '\"[].")]


def last_segment(name: str) -> str:
    """`slack.post_message`, `mcp__math__add`: what stands behind the last separator."""
    return re.split(r"[./:]|__", name.strip("_./:"))[-1] or name


def within(phrase: Sequence[str], whole: Sequence[str]) -> bool:
    """Do these words stand in this order, next to each other?"""
    size = len(phrase)
    return any(tuple(whole[at : at + size]) == tuple(phrase) for at in range(len(whole) - size + 1))


def _traits(tool: Tool, named: tuple[str, ...]) -> Traits:
    schema = expanded(tool.input_schema)
    output = expanded(tool.output_schema) if tool.output_schema is not None else {}
    told = frozenset(re.findall(r"[a-z][a-z0-9]+", tool.description[:4000].lower()))
    return Traits(tool, named, properties(schema), required(schema), output, told)


def _shared(names: Iterable[tuple[str, ...]]) -> str | None:
    """A first word that nearly all tools of a server have."""
    listed = [parts for parts in names if len(parts) > 1]
    counts = Counter(parts[0] for parts in listed)
    word, count = counts.most_common(1)[0] if counts else ("", 0)
    is_shared = count >= 3 and count >= 0.6 * len(listed) and len({parts[1] for parts in listed}) > 1
    return word if is_shared and word not in _VERBS else None
