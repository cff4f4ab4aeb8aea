"""Sums and numbers of given records that a description promises: the total of all unpaid invoices of a customer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from mcp_sim.plans.infer.names import last_segment
from mcp_sim.plans.infer.verbs import is_verb
from mcp_sim.plans.records.figures import NUMBERS, Figure, sum_of
from mcp_sim.plans.schema_only.digests import Digest, find_selection
from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import items, main_type, properties, required
from mcp_sim.types.lexicon.english import last_word, singular, snake, words
from mcp_sim.types.lexicon.terms import terms

_PROMISE = re.compile(r"\b(?:total|sum of|(?P<count>number of|count of|how many)|how much|owes?|owed)\b[^.;]*")
_COUNTS, _OWED, _STATES = terms("figures.count"), terms("figures.owed"), terms("fields.state")
_NEGATIONS = frozenset({"not", "never", "no"})


def described_sum(tool: Tool, schema: Record, domain: Domain) -> Digest | None:
    """Return a function that computes what the description of a tool promises, from the records that arguments select.

    They are those of the given entity that it mentions, or that has the number it mentions. None if it promises no
    sum, or if an argument selects none of these.
    """
    promise, arguments = _PROMISE.search(tool.description.lower()), properties(tool.input_schema)
    if promise is None or any(properties(items(part)) for part in properties(schema).values()):
        return None
    said = [singular(word) for word in words(promise[0])]
    for entity in sorted(_given_entities(domain), key=lambda entity: _place(entity, said)):
        select, selecting = find_selection(tool, entity)
        named = _named_number(entity, said)
        figure = named or (len if promise["count"] else _only_number(entity))
        is_meant = named is not None or last_word(entity.name) in said
        if figure is None or not is_meant or not required(expanded(tool.input_schema)) <= {*selecting}:
            continue
        shown = [name for name, part in properties(schema).items() if main_type(part) in NUMBERS]
        figures = {name: _figure_of(name, entity, figure) for name in shown if name not in arguments}
        computed, holds = figures or {_asked(tool): figure}, _condition(entity, said)
        return lambda turn: {
            **{name: value for name, value in turn.call.arguments.items() if name in selecting},
            **{name: compute(holds(select(turn))) for name, compute in computed.items()},
        }
    return None


def _asked(tool: Tool) -> str:
    parts = words(last_segment(tool.name))
    return "_".join(parts[1:] if is_verb(parts[0]) else parts)


def _given_entities(domain: Domain) -> list[Entity]:
    known = [domain.entities[name] for name in sorted(domain.given & domain.entities.keys())]
    return [entity for entity in known if not entity.singleton and entity.inside is None]


def _place(entity: Entity, said: Sequence[str]) -> tuple[int, bool]:
    """Return where a text first mentions an entity or one of its numbers, and whether it leaves out the entity."""
    noun = last_word(entity.name)
    names = [noun, *(singular(last_word(snake(name))) for name in _numbers(entity))]
    return min((said.index(name) for name in names if name in said), default=len(said)), noun not in said


def _numbers(entity: Entity) -> list[str]:
    """Return the fields that can be summed up."""
    fields = [field for field in entity.fields.values() if field.name != entity.key and field.link is None]
    return [field.name for field in fields if main_type(field.schema) in NUMBERS and last_word(field.name) != "id"]


def _named_number(entity: Entity, said: Sequence[str]) -> Figure | None:
    """Return the sum of the number that comes first in a text."""
    names = [name for name in _numbers(entity) if singular(last_word(snake(name))) in said]
    first = min(names, key=lambda name: said.index(singular(last_word(snake(name)))), default=None)
    return None if first is None else lambda rows: sum_of(rows, first)


def _only_number(entity: Entity) -> Figure | None:
    numbers = _numbers(entity)
    return (lambda rows: sum_of(rows, numbers[0])) if len(numbers) == 1 else None


def _figure_of(name: str, entity: Entity, usual: Figure) -> Figure:
    """Return how a number of the result is computed: as the count of records, as the sum of its field, or as usual."""
    parts = [singular(word) for word in words(snake(name))]
    is_count = last_word(entity.name) in parts or not _COUNTS.isdisjoint(parts)
    return len if is_count else _named_number(entity, parts) or usual


def _condition(entity: Entity, said: Sequence[str]) -> Callable[[Sequence[Record]], list[Record]]:
    """Return what selects the records in a state that a text mentions: `unpaid`, `not paid`, `finished`."""
    denied = {word for before, word in pairwise(said) if before in _NEGATIONS}
    mentioned = {*said} - denied
    flags: dict[str, bool] = {}
    for name in (name for name, field in entity.fields.items() if main_type(field.schema) == "boolean"):
        plain = snake(name).removeprefix("is_")
        if plain in denied or f"un{plain}" in mentioned or (plain == "paid" and not _OWED.isdisjoint(mentioned)):
            flags[name] = False
        elif plain in mentioned:
            flags[name] = True
    states = [name for name in entity.fields if snake(name) in _STATES]

    def select(rows: Sequence[Record]) -> list[Record]:
        chosen = [row for row in rows if all(row.get(name) is value for name, value in flags.items())]
        for name in states:
            wanted = {snake(str(row.get(name))) for row in rows} & mentioned
            chosen = [row for row in chosen if not wanted or snake(str(row.get(name))) in wanted]
            chosen = [row for row in chosen if snake(str(row.get(name))) not in denied]
        return chosen

    return select
