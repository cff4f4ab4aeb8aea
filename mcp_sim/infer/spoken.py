"""Which nouns do the tools speak of, in their names, in what they are asked and in what they show?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcp_sim.infer.names import Reading
from mcp_sim.infer.nouns import Nouns
from mcp_sim.infer.outputs import output_of
from mcp_sim.infer.subjects import NO_NOUNS
from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.shapes import items, main_type, properties
from mcp_sim.types.lexicon.words import singular_phrase, snake

_DEEPEST = 2


def spoken(readings: Iterable[Reading], tools: Iterable[Tool]) -> Nouns:
    """The nouns that the tools speak of, and the arguments that are whole numbers or texts."""
    names: set[str] = set()
    for reading in readings:
        phrase = (*reading.noun, *reading.after[1:]) if reading.noun else reading.after[1:]
        ends = [(start, end) for start in range(len(phrase)) for end in range(start + 1, len(phrase) + 1)]
        names |= {singular_phrase(phrase[start:end]) for start, end in ends}
    numbers: set[str] = set()
    texts: set[str] = set()
    bare: set[str] = set()
    shown: set[str] = set()
    for tool in tools:
        parts = properties(tool.input_schema)
        numbers |= {snake(name) for name, part in parts.items() if main_type(part) == "integer"}
        texts |= {snake(name) for name, part in parts.items() if main_type(part) == "string"}
        bare |= {snake(name) for name in parts if "id" in properties(output_of(tool, None))}
        shown |= {snake(name) for name in _shown_names(output_of(tool, None))}
        names |= {name.removesuffix("_id") for name in map(snake, parts) if name.endswith("_id")}
    return Nouns(frozenset(names - NO_NOUNS), frozenset(numbers), frozenset(texts), frozenset(bare), frozenset(shown))


def _shown_names(output: Record, depth: int = 0) -> Iterator[str]:
    """What the records in a result have, as far as its schema tells."""
    for name, part in properties(output).items():
        yield name
        if depth < _DEEPEST:
            yield from _shown_names(items(part) if main_type(part) == "array" else part, depth + 1)
