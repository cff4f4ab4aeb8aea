"""Nouns that the tools of a server mention, and the entities that table names mean."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mcp_sim.infer.effect_evidence import NO_NOUNS
from mcp_sim.infer.names import ParsedName, noun_spans
from mcp_sim.types import Tool
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.lexicon.english import singular, singular_phrase, snake, words
from mcp_sim.types.lexicon.terms import terms

COLLECTIONS = terms("nouns.collections")


@dataclass(frozen=True, slots=True)
class Nouns:
    """Nouns that tools mention: `names` of entities, their arguments, and those arguments that are integers."""

    names: frozenset[str] = frozenset()
    arguments: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()

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
    """Collect the nouns that names of tools and of id arguments mention, and the arguments."""
    names: set[str] = set()
    for parsed in parsed_names:
        phrase = (*parsed.noun, *parsed.after[1:])
        names |= {singular_phrase(phrase[start:end]) for start, end in noun_spans(len(phrase))}
        names |= {singular_phrase(phrase)} if phrase else set[str]()
    parts = [(snake(name), part) for tool in tools for name, part in properties(tool.input_schema).items()]
    names |= {name.removesuffix("_id") for name, _ in parts if name.endswith("_id")}
    numbers = frozenset(name for name, part in parts if main_type(part) == "integer")
    return Nouns(frozenset(names - NO_NOUNS), frozenset(name for name, _ in parts), numbers)
