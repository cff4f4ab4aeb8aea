"""Summaries, statistics and counts: computed from the records that a tool is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from mcp_sim.plans.acknowledgements import is_repeated
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.english import last_word, plural, singular, snake, words
from mcp_sim.types.lexicon.terms import terms

Digest: TypeAlias = Callable[[Turn], Record]

DIGESTS: Final = terms("nouns.digests")
_GROUPS, _AMOUNTS = terms("fields.groups"), terms("fields.amounts")
_MOST_GROUPS = 12
"""A field with more values than this identifies records, and does not group them."""


def digest_of(tool: Tool, domain: Domain) -> Digest | None:
    """Return a function that sums up records; None if the tool's name promises no digest or there are no records.

    They are those of the entities that its name mentions, else of all that the world knows, and have the values that
    arguments name.
    """
    named = {singular(word) for word in words(tool.name)} | {*words(tool.name)}
    known = _known_entities(tool, domain) if not DIGESTS.isdisjoint(named) else []
    chosen = [entity for entity in known if last_word(entity.name) in named] or known
    if not chosen:
        return None

    def digest(turn: Turn) -> Record:
        result: Record = {name: value for name, value in turn.call.arguments.items() if is_repeated(name, value)}
        for entity in chosen:
            rows = [*_matching(turn, entity)]
            result[f"total_{snake(plural(entity.name))}"] = len(rows)
            result |= _figures(entity, rows, alone=len(chosen) == 1)
        return result

    return digest


def _known_entities(tool: Tool, domain: Domain) -> list[Entity]:
    """Return the entities of a server whose records tools create or the state gives."""
    mine = [plan for id_, plan in domain.plans.items() if domain.tools[id_].server == tool.server]
    created = {plan.entity for plan in mine if plan.verb == "create"}
    listed = dict.fromkeys(plan.entity for plan in mine if plan.entity in created | domain.given)
    entities = [domain.entities[name] for name in listed if name is not None]
    return [entity for entity in entities if not entity.singleton and entity.inside is None]


def _matching(turn: Turn, entity: Entity) -> Iterator[Record]:
    """Yield the records with the values that arguments name."""
    asked = {name: value for name, value in turn.call.arguments.items() if name in entity.fields and value is not None}
    for _, row in turn.view.rows(entity.name):
        if all(row.get(name) == value for name, value in asked.items()):
            yield row


def _figures(entity: Entity, rows: Sequence[Record], *, alone: bool) -> Record:
    """Return the numbers by status or category, the sums of amounts, and how many records a flag holds for."""
    figures: Record = {}
    for name, field in entity.fields.items():
        kind = main_type(field.schema)
        if kind == "boolean":
            figures[f"{snake(name)}_{snake(plural(entity.name))}"] = sum(row.get(name) is True for row in rows)
        elif alone and kind in {"integer", "number"} and last_word(name) in _AMOUNTS:
            figures[f"total_{snake(name)}"] = _sum(rows, name)
        elif alone and last_word(name) in _GROUPS:
            figures |= _grouped(field, rows)
    return figures


def _sum(rows: Sequence[Mapping[str, Json]], name: str) -> Json:
    values = [value for row in rows if isinstance(value := row.get(name), int | float)]
    return round(sum(values), 2)


def _grouped(field: Field, rows: Sequence[Record]) -> Record:
    counts = Counter(value for row in rows if isinstance(value := row.get(field.name), str))
    return {f"by_{snake(field.name)}": dict(sorted(counts.items()))} if len(counts) <= _MOST_GROUPS else {}
