"""Nouns and arguments that tools mention, by which the tables of a given state are named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field

from mcp_sim.plans.infer.keys import key_argument
from mcp_sim.plans.infer.names import ParsedName, Words, noun_spans
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, items, main_type, properties, required
from mcp_sim.types.lexicon.english import last_word, noun_of_id, singular, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import terms

_COLLECTIONS = terms("nouns.collections")
_NOT_PARENTS = terms("arguments.query", "arguments.option", "arguments.limit")
"""Arguments that name no record."""
MOST_NAMES = 200
"""The most keys of an object that are compared with the nouns of tools. An object with more keys is a table, whose
keys are not entities."""
_DEPTH = 4
"""How many levels of wrappers have names of parts. Below them are the contents of records."""


@frozen
class Nouns:
    """Nouns that tools mention: `names` of entities, their arguments, and those arguments that are integers.

    `lookups` are the arguments by which tools get or delete one record, by its noun: `symbol` of a stock. `asked` are
    the arguments that tools which read records of a noun require, `shapes` the properties of the objects in results.
    """

    names: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    lookups: Mapping[str, str] = field(default_factory=dict[str, str])
    asked: Mapping[str, Sequence[str]] = field(default_factory=dict[str, "list[str]"])
    shapes: frozenset[frozenset[str]] = frozenset()

    def entity_of(self, name: str) -> str:
        """Return the entity that a table name means: one that tools mention, else the name itself."""
        parts, whole = words(name), "".join(words(name))
        if whole in self.names:
            return whole  # tools write `watchlist`, the state `watch_list`
        while len(parts) > 1 and parts[-1] in _COLLECTIONS:
            parts = parts[:-1]
        bare = "_".join((*parts[:-1], singular(parts[-1]))) if parts else name
        if bare in self.names:
            return bare
        near = [noun for noun in self.names if bare.endswith(f"_{noun}") or noun.endswith(f"_{bare}")]
        return near[0] if len(near) == 1 else bare

    def includes(self, name: str) -> bool:
        """Whether tools mention the entity that a table name means."""
        return self.entity_of(name) in self.names


def collect_names(state: Json, depth: int = _DEPTH) -> frozenset[Words]:
    """Return the names of the parts of a given state, in the singular."""
    parts = as_object(state) if len(as_object(state)) <= MOST_NAMES else {}
    inner = (collect_names(value, depth - 1) for value in parts.values() if depth)
    return frozenset(words(singular_phrase(words(name))) for name in parts).union(*inner)


def collect_nouns(parsed_names: Mapping[str, ParsedName], tools: Mapping[str, Tool]) -> Nouns:
    """Collect the nouns that names of tools and of id arguments mention, and the arguments. Both are by tool id."""
    names: set[str] = set()
    for parsed in parsed_names.values():
        phrase = (*parsed.noun, *parsed.after[1:])
        names |= {singular_phrase(phrase[start:end]) for start, end in noun_spans(len(phrase))}
        names |= {singular_phrase(phrase)} if phrase else set[str]()
    parts = [(snake(name), schema) for tool in tools.values() for name, schema in properties(tool.input_schema).items()]
    names |= {noun_of_id(name) for name, _ in parts} - {""}
    numbers = frozenset(name for name, schema in parts if main_type(schema) in {"integer", "number"})
    schemas = [(parsed, tools[id_].input_schema) for id_, parsed in parsed_names.items()]
    arguments, known = frozenset(name for name, _ in parts), frozenset(names - terms("nouns.generic"))
    outputs = [tool.output_schema for tool in tools.values() if tool.output_schema is not None]
    shapes = frozenset(shape for output in outputs for shape in _shapes(expanded(output)))
    return Nouns(known, arguments, numbers, dict(_lookups(schemas)), _asked(schemas), shapes)


def _shapes(schema: Record) -> Iterator[frozenset[str]]:
    """Yield the properties of the objects in a schema."""
    parts = properties(schema)
    yield from [frozenset(parts)] if parts else ()
    for inner in (*parts.values(), items(schema)):
        yield from _shapes(inner) if inner else ()


def _asked(tools: Iterable[tuple[ParsedName, Record]]) -> dict[str, list[str]]:
    """Return the arguments that reading tools require, by their nouns, without those that search or page."""
    asked: dict[str, list[str]] = defaultdict(list)
    for parsed, schema in tools:
        needed = {*map(snake, required(schema))} if parsed.verb in {"get", "list", "search"} else set[str]()
        for noun in {"_".join(parsed.noun), parsed.noun[-1]} if parsed.noun else ():
            asked[noun] += sorted(needed - _NOT_PARENTS)
    return asked


def _lookups(tools: Iterable[tuple[ParsedName, Record]]) -> Iterator[tuple[str, str]]:
    """Yield the nouns of tools that get or delete one record, with the argument that names it.

    It may be the key of something else: a manager by `employee_id`. Of several, it is the last: a grade by `course`
    and `student`.
    """
    for parsed, schema in tools:
        noun = "_".join(parsed.noun)
        argument, _ = key_argument(parsed.verb, noun, "id", schema)
        is_one = parsed.verb in {"get", "delete"} and not parsed.plural and parsed.after[:1] != ("by",)
        if is_one and argument is not None and last_word(argument) != "id":
            yield noun, snake(argument)
        elif is_one and parsed.verb == "get":
            needed = [name for name in properties(schema) if name in required(schema)]
            yield from (
                (noun, name) for name in [snake(name) for name in needed if snake(name) not in _NOT_PARENTS][-1:]
            )
