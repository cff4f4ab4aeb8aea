"""Show the records that refer to the record of a result: the animals of an owner, the latest report on a painting."""

from __future__ import annotations

import re

from mcp_sim.plans.records.effects import Facts, Fill
from mcp_sim.plans.records.projection import is_alias_of_key, projector
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import is_nullable, items, main_type, properties
from mcp_sim.types.lexicon.english import last_word, plural, singular, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan

_LATEST = terms("results.latest")
_ANY: Record = {"type": "object"}
"""The schema of records if nothing declares what is shown."""
_BESIDE = re.compile(r"\b(?:with|including) ((?:its|their|all|the|any) [^.;:\n]*)")


def related_records(entity: Entity, name: str, schema: Record, domain: Domain) -> Fill | None:
    """Return what fills a property with the records of another entity that refer to the record of the result.

    A list shows all of them. An object shows the last of them if its name says so: `latest_report`. None if nothing of
    the name refers to such records, or if it does so in several ways.
    """
    is_list, is_latest = main_type(schema) == "array", not _LATEST.isdisjoint(words(snake(name))[:1])
    shape = items(schema) if is_list else schema if is_latest else {}
    links = [
        (other, field.name)
        for other in domain.entities.values()
        if other.inside is None and _shows(name, shape, other)
        for field in other.fields.values()
        if field.link == entity.name and field.is_single_link
    ]
    if len(links) != 1:
        return None
    other, link = links[0]
    show, is_unspecified = projector(other, shape), other.name in domain.unspecified
    nothing: Json = None if is_nullable(schema) else ABSENT

    def related(facts: Facts) -> Json:
        rows = [] if facts.key is None else [*facts.view.find(other.name, link, facts.key)]
        rows = rows if is_list else rows[-1:]
        first = facts.view.initial_records(other.name)
        if is_unspecified and any(key in first and facts.view.latest_write(other.name, key) is None for key, _ in rows):
            facts.guesses.append(name)
        shown = [show(row) for _, row in rows]
        return shown if is_list else next(iter(shown), nothing)

    return related


def _shows(name: str, shape: Record, other: Entity) -> bool:
    """Whether a property is named after an entity, and its objects show the key of such records, or only fields."""
    is_named, parts = singular(last_word(snake(name))) == last_word(other.name), properties(shape)
    is_keyed = any(part == other.key or is_alias_of_key(other, part) for part in parts)
    is_whole = shape == _ANY or (len(parts) > 1 and parts.keys() <= other.fields.keys())
    return is_named and (is_keyed or is_whole)


def described_parts(tool: Tool, plan: Plan, domain: Domain) -> dict[str, Fill]:
    """Return what fills the lists that a description promises beside a record: "Show a ticket with its parts"."""
    match = _BESIDE.search(tool.description) if plan.verb == "get" else None
    entity, promised = domain.entities[plan.entity or ""], f"_{'_'.join(words(match[1].lower()))}_" if match else ""
    names = [
        name for other in domain.entities if f"_{(name := plural(other))}_" in promised and name not in entity.fields
    ]
    schema: Record = {"type": "array", "items": _ANY}
    parts = {name: related_records(entity, name, schema, domain) for name in names}
    return {name: fill for name, fill in parts.items() if fill is not None}
