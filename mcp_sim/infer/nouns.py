"""Nouns that the tools of a server mention, and the entities that table names mean."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mcp_sim.infer.entity_choice import NO_NOUNS
from mcp_sim.infer.names import ParsedName, noun_spans
from mcp_sim.infer.result_schemas import infer_output
from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.shapes import items, main_type, properties
from mcp_sim.types.lexicon.english import singular, singular_phrase, snake, vocabulary, words

COLLECTIONS = vocabulary(
    "list map queue record records table history store db database collection data entries index dict registry log set"
)
_MAX_DEPTH = 2


@dataclass(frozen=True, slots=True)
class Nouns:
    """Nouns that tools mention: `names` of entities, arguments that are integers, arguments that are texts.

    `bare` are arguments of tools whose results have an `id`. `shown` are names in result schemas.
    """

    names: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    bare: frozenset[str] = frozenset()
    shown: frozenset[str] = frozenset()

    def entity_of(self, name: str) -> str:
        """Return the entity that a table name means: one that tools mention, else the name itself."""
        parts = words(name)
        while len(parts) > 1 and parts[-1] in COLLECTIONS:
            parts = parts[:-1]
        bare = "_".join((*parts[:-1], singular(parts[-1]))) if parts else name
        if bare in self.names:
            return bare
        near = [noun for noun in self.names if bare.endswith(f"_{noun}") or noun.endswith(f"_{bare}")]
        return near[0] if len(near) == 1 else bare

    def includes(self, name: str) -> bool:
        """Whether tools mention the entity that a table name means."""
        return self.entity_of(name) in self.names


def collect_nouns(parsed_names: Iterable[ParsedName], tools: Iterable[Tool]) -> Nouns:
    """Collect the nouns that the tools mention, and the arguments that are integers or texts."""
    names: set[str] = set()
    for parsed in parsed_names:
        phrase = (*parsed.noun, *parsed.after[1:]) if parsed.noun else parsed.after[1:]
        names |= {singular_phrase(phrase[start:end]) for start, end in noun_spans(len(phrase))}
        names |= {singular_phrase(phrase)} if phrase else set[str]()
    numbers: set[str] = set()
    texts: set[str] = set()
    bare: set[str] = set()
    shown: set[str] = set()
    for tool in tools:
        parts = properties(tool.input_schema)
        numbers |= {snake(name) for name, part in parts.items() if main_type(part) == "integer"}
        texts |= {snake(name) for name, part in parts.items() if main_type(part) == "string"}
        output = infer_output(tool, None)
        bare |= {snake(name) for name in parts} if "id" in properties(output) else set[str]()
        shown |= {snake(name) for name in _result_names(output)}
        names |= {name.removesuffix("_id") for name in map(snake, parts) if name.endswith("_id")}
    return Nouns(frozenset(names - NO_NOUNS), frozenset(numbers), frozenset(texts), frozenset(bare), frozenset(shown))


def _result_names(output: Record, depth: int = 0) -> Iterator[str]:
    """Yield the names in a result schema."""
    for name, part in properties(output).items():
        yield name
        if depth < _MAX_DEPTH:
            yield from _result_names(items(part) if main_type(part) == "array" else part, depth + 1)
