"""What follows from the values of new records: references that others imply, and records that are created with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TypeAlias

from mcp_sim.generate.defaults import MOST_LINK_CANDIDATES
from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.generate.missing_records import generate_record
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.types import Change, Json, Record, Turn
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object, is_nullable, items, main_type, properties
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import singular, snake
from mcp_sim.types.views import find_key

Imply: TypeAlias = Callable[[Turn, Invent, Record], Record]
"""Returns the given values with the references that they imply."""

Complete: TypeAlias = Callable[[Turn, Invent, Record], list[Change]]
"""Adds references to a new record, and returns the records to create for them."""


@frozen
class _Shared:
    """A reference that records of an entity and of the entity of one of their links have in common."""

    field: str
    link: str
    target: str
    theirs: str


def implied_links(entity: Entity, domain: Domain) -> Imply:
    """Compile the references that others imply, in both directions.

    A booking of a room has the hotel of the room. A booking in a hotel that must have a room, but names none, has a
    room of this hotel.
    """
    shared = list(_shared(entity, domain))
    chosen = [link for link in shared if entity.fields[link.link].required]

    def imply(turn: Turn, invent: Invent, values: Record) -> Record:
        implied = dict(values)
        for link in shared:
            if link.field not in implied and implied.get(link.link) is not None:
                value = (turn.view.get(link.target, implied[link.link]) or {}).get(link.theirs)
                implied |= {} if value is None else {link.field: value}
        for link in chosen:
            if link.link not in implied and implied.get(link.field) is not None:
                rows = turn.view.find(link.target, link.theirs, implied[link.field])
                keys = [key for key, _ in islice(rows, MOST_LINK_CANDIDATES)]
                if keys:
                    implied[link.link] = invent.choose_reference(turn, entity.name, link.link, link.target, keys)
        return implied

    return imply if shared else lambda _turn, _invent, values: values


def linked_records(entity: Entity, domain: Domain) -> Complete:
    """Compile the records that a new record needs and that nothing else creates: the booking of a booked flight.

    They are created while there are no records that a required link can refer to. So are those which a call names,
    where only a name suggests the link and nothing specifies the records.
    """
    plans = [plan for tool_plan in domain.plans.values() for plan in tool_plan.variants]
    created = {plan.entity for plan in plans if plan.verb == "create"} | domain.given
    links = [field for field in entity.fields.values() if field.required and _is_single_link(field)]
    targets = {link.name: domain.entities.get(link.link or "") for link in links if not is_nullable(link.schema)}
    free = {
        name: (target, key_maker(target))
        for name, target in targets.items()
        if target is not None and target.inside is None and target.name not in {*created, entity.name}
    }

    closed = {name: target for name, target in domain.entities.items() if name in domain.given or target.inside}
    named = [
        (field.name, target)
        for field in entity.fields.values()
        if (target := _named_by(field, domain)) is not None and target.name not in {*closed, entity.name}
    ]

    def complete(turn: Turn, invent: Invent, values: Record) -> list[Change]:
        puts = [put for name, target in named for put in _named(turn, invent, target, values.get(name))]
        for name, (target, keys) in free.items():
            if name in values or turn.view.count(target.name):
                continue
            key = next_key(target, keys, turn.view, turn.draws)
            values[name] = key
            puts.append(Change("put", target.name, key, generate_record(turn, target, key, invent), expected=0))
        return puts

    return complete if free or named else lambda _turn, _invent, _values: []


def _named_by(field: Field, domain: Domain) -> Entity | None:
    """Return the entity whose records the values of a field name: by their keys, or as objects with these."""
    if field.link is not None:
        return domain.entities.get(field.link) if field.link_is_guessed else None
    target = domain.entities.get(singular(snake(field.name)))
    return target if target is not None and target.key in properties(items(field.schema) or field.schema) else None


def _named(turn: Turn, invent: Invent, target: Entity, value: Json) -> Iterator[Change]:
    """Yield the records that a call names and that do not exist: they are known from then on.

    Deleted ones are not created again, nor those whose keys have another form.
    """
    schema = target.fields[target.key].schema if target.key in target.fields else {}
    for item in as_list(value) if isinstance(value, list) else [value]:
        known = {name: inner for name, inner in as_object(item).items() if name in target.fields}
        key: Json = known.get(target.key) if isinstance(item, dict) else item
        is_key = isinstance(key, str | int) and not isinstance(key, bool) and validity_test(schema)(key)
        if is_key and find_key(turn.view, target.name, key) is None and not turn.view.version(target.name, key):
            record = generate_record(turn, target, key, invent, known)
            yield Change("put", target.name, key, record, expected=0)


def _shared(entity: Entity, domain: Domain) -> Iterator[_Shared]:
    """Yield the references of an entity that repeat those of linked records, such as `hotel_id` of a room."""
    links = [field for field in entity.fields.values() if _is_single_link(field) and field.link in domain.entities]
    for link in links:
        target = domain.entities[link.link or ""]
        for theirs in target.fields.values():
            own = entity.fields.get(theirs.name)
            if own is not None and own is not link and _names_its_target(theirs) and own.link == theirs.link:
                yield _Shared(own.name, link.name, target.name, theirs.name)


def _names_its_target(field: Field) -> bool:
    """Whether a link is named after its target, not after a role: `user_id`, not `assignee_id`."""
    noun = (field.link or "").rpartition(".")[2]
    return _is_single_link(field) and snake(field.name) in {noun, f"{noun}_id", f"{noun}_key"}


def _is_single_link(field: Field) -> bool:
    return field.link is not None and main_type(field.schema) != "array"
