"""Which tools tell how many records there are: `count_books(genre)`, `get_book_count`, `get_number_of_books`?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from mcp_sim.infer.looks import Look
from mcp_sim.infer.names import Words
from mcp_sim.infer.readings import last_segment
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.lexicon.words import singular_phrase, words
from mcp_sim.types.plans import Envelope

_ASKS = frozenset({"get", "show", "fetch", "read"})


def with_counts(looks: Sequence[Look]) -> list[Look]:
    """The looks; those that count are about the records they count."""
    known = {look.entity for look in looks if look.verb in {"create", "list", "search"}}
    return [_counting(look, known) for look in looks]


def _counting(look: Look, entities: Collection[str]) -> Look:
    counted = _counted(words(last_segment(look.tool.name)))
    place, entity = _place(look), "" if counted is None else singular_phrase(counted)
    if place is None or entity not in entities or look.single is not None:
        return look
    reading = replace(look.reading, verb="list", noun=words(entity), word="count", plural=True, sure=True, deed="")
    return replace(look, reading=reading, verb="list", entity=entity, envelope=Envelope(total=place))


def _counted(name: Words) -> Words | None:
    """What a name says is counted."""
    asked = name[1:] if name[:1] and name[0] in _ASKS else name
    if asked[:1] == ("count",) and len(asked) > 1:
        return asked[1:]
    if asked[:2] == ("number", "of") and len(asked) > 2:
        return asked[2:]
    return asked[:-1] if asked[-1:] == ("count",) and len(asked) > 1 else None


def _place(look: Look) -> str | None:
    """Where the number stands: the only one in a result that holds nothing but values."""
    parts = properties(look.output)
    numbers = [name for name, part in parts.items() if main_type(part) in {"integer", "number"}]
    plain = all(main_type(part) not in {"array", "object"} for part in parts.values())
    return numbers[0] if plain and len(numbers) == 1 else None
