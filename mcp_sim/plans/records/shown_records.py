"""Absorb the records that an answer mentions for the first time: the tools that take their ids know them afterwards.

An answer may hold generated objects of other entities: the creator of a page, the project that a job will make. Only
records that nothing specifies are absorbed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from mcp_sim.generate.embedded_records import WRAPPER, Names
from mcp_sim.generate.missing_records import generate_record
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.types import Change, Json, Record, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import value_at
from mcp_sim.types.kinds import Answer, Invent
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key, was_written

_TYPES: Final = ("type", "object", "resource_type")
"""Properties with the kind of an object, in JSON:API and in the APIs of many vendors."""


def absorbing(answer: Answer, plan: Plan, domain: Domain) -> Answer:
    """Return an answer that absorbs the records that it mentions, if there are entities that nothing specifies."""
    if domain.entities.keys() <= domain.specified:
        return answer
    names, envelope = _names_of(domain), plan.envelope
    place = envelope.rows if envelope.record is None else envelope.record
    own = plan.entity if plan.verb != "delete" else None

    def absorbed(turn: Turn, invent: Invent) -> Transition:
        transition = answer(turn, invent)
        body = transition.observation.body
        if not isinstance(body, ToolResult) or body.is_error:
            return transition
        shown = [*_mentions(body.value, "", names)]
        shown += _mentions(value_at(body.value, place), own, names) if own and place is not None else ()
        changes = _absorbed(turn, transition, shown, invent, domain)
        return transition if not changes else replace(transition, absorbed=(*transition.absorbed, *changes))

    return absorbed


def _names_of(domain: Domain) -> Names:
    if _names_of not in domain.kept:
        domain.kept[_names_of] = Names(domain)
    return domain.kept[_names_of]


def _mentions(value: Json, name: str, names: Names) -> Iterator[tuple[Entity, Json, Record]]:
    """Yield the entity, the key and the object of each record that a value holds or names by its key.

    `name` is that of the property which holds the value.
    """
    for item in as_list(value):
        yield from _mentions(item, name, names)
    body = as_object(value)
    entity = _typed(body, names) or names.entity_of(name)
    if entity is not None and entity.key in body:
        yield entity, body[entity.key], body
    for key, held in body.items():
        if isinstance(held, dict | list):
            yield from _mentions(held, name if key == WRAPPER else key, names)
        elif (target := names.named_by(key)) is not None:
            yield target, held, {}


def _typed(body: Record, names: Names) -> Entity | None:
    kinds = (snake(kind) for word in _TYPES if isinstance(kind := body.get(word), str))
    return next((entity for kind in kinds if (entity := names.entity_of(kind)) and entity.name == kind), None)


def _absorbed(
    turn: Turn, transition: Transition, shown: Iterable[tuple[Entity, Json, Record]], invent: Invent, domain: Domain
) -> list[Change]:
    """Return the records to absorb: those that are unknown and were never written or deleted."""
    known = {(change.entity, change.key) for change in (*transition.changes, *transition.absorbed)}
    changes = list[Change]()
    for entity, key, body in shown:
        is_key = isinstance(key, str | int) and not isinstance(key, bool) and key != ""
        if not is_key or entity.name in domain.specified or (entity.name, key) in known:
            continue
        known.add((entity.name, key))
        is_new = find_key(turn.view, entity.name, key) is None and not was_written(turn.view, entity.name, key)
        if is_new and (entity.key not in entity.fields or _fits(entity.fields[entity.key], key)):
            fields = {name: field for name, field in entity.fields.items() if field.link is None}
            held = {name: body[name] for name, field in fields.items() if name in body and _fits(field, body[name])}
            record = generate_record(turn, entity, key, invent, held)
            changes.append(Change("put", entity.name, key, record, expected=0))
    return changes


def _fits(field: Field, value: Json) -> bool:
    return validity_test(field.schema)(value)
