"""Create records, or apply a create to the record that exists already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import TypeAlias

from mcp_sim.generate.defaults import MOST_LINK_CANDIDATES, generated_fields, record_maker
from mcp_sim.generate.keys import key_maker, key_of_copy, next_key
from mcp_sim.generate.missing_records import generated_put
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.generate.uniqueness import is_name, is_unique
from mcp_sim.plans.records.arguments import assigned_values, assignments_of, fixed_values, links_of, resolve_links
from mcp_sim.plans.records.effects import Effect, Write, new_once
from mcp_sim.plans.records.line_items import line_completer
from mcp_sim.plans.records.record_lookup import finder
from mcp_sim.plans.records.updates import changing
from mcp_sim.plans.refusal import conflict
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import (
    as_list,
    as_object,
    constants,
    in_list,
    is_nullable,
    is_rows,
    items,
    main_type,
    properties,
    property_of,
)
from mcp_sim.types.json_values import as_key, is_key, nest_paths
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import last_word, singular, snake
from mcp_sim.types.plans import Plan
from mcp_sim.types.switches import WriteMode, mode_reader
from mcp_sim.types.views import find_key

Imply: TypeAlias = Callable[[Turn, Invent, Record], Record]
"""Returns the given values with the references that they imply."""

Complete: TypeAlias = Callable[[Turn, Invent, Record], list[Change]]
"""Adds references to a new record, and returns the records to create for them."""

Divide: TypeAlias = Callable[[Turn, Invent, Key, Record], dict[str, list[Change]]]
"""Returns the records to create for the parts of a new record, by the field that lists them."""


def creation(tool: Tool, plan: Plan, domain: Domain) -> Write:
    """Compile a tool that creates a record."""
    entity = domain.entities[plan.entity or ""]
    name, sets, links = entity.name, assignments_of(tool, plan, domain), links_of(plan, entity, domain)
    make, keys = record_maker(plan, entity, domain), key_maker(entity)
    fixed = fixed_values(plan, entity)
    change, imply = changing(tool, plan, domain), implied_links(entity, domain)
    complete, divide = linked_records(entity, domain), child_records(entity, domain)
    complete_lines = line_completer(entity, domain, sets)
    stored = frozenset(entity.fields)
    dotted: Record = dict.fromkeys(field for field in entity.fields if "." in field)
    is_marked = name in domain.unspecified or name in domain.given
    guesses = generated_fields(entity) if is_marked else frozenset[str]()
    shown = [(rule, entity.fields[rule.field].schema) for rule in sets if is_marked and rule.field in entity.fields]
    mode_of = mode_reader(expanded(tool.input_schema), {*plan.sets})
    known_key = _key_finder(plan, entity)
    copied = None if plan.copies is None else finder(tool, replace(plan, key=plan.copies), entity)
    unique = {entity.key} | {name for name, field in entity.fields.items() if _is_own(entity, field)}

    def create(turn: Turn, invent: Invent) -> Effect | Observation:
        source = None if copied is None else copied(turn)
        if isinstance(source, Observation):
            return source
        original = Record() if source is None else turn.view.get(name, source) or {}
        copy = {field: value for field, value in original.items() if field not in unique}
        values = {**copy, **fixed(turn), **assigned_values(turn, sets)}
        values = resolve_links(turn, tool, links, values)
        if isinstance(values, Observation):
            return values
        values = nest_paths(values, dotted)
        values = {field: value for field, value in values.items() if field in stored or field not in entity.fields}
        shaped = values
        values = values if complete_lines is None else complete_lines(turn, values)
        asked_mode = None if mode_of is None else mode_of(turn.call.arguments)
        mode: WriteMode = asked_mode or plan.if_exists
        taken = known_key(turn.view, values)
        if taken is not None and mode != "replace" and turn.view.get(name, taken) is not None:
            if mode == "refuse":
                return conflict(tool, name, taken, "already exists")
            return change(turn, taken) if mode != "keep" else Effect(taken, turn.view.get(name, taken) or {}, ())
        key = taken if source is None or taken is not None else key_of_copy(entity, source, turn.view)
        key = key if key is not None else next_key(entity, keys, turn.view, turn.draws)
        known = {**imply(turn, invent, values), entity.key: key}
        determined = frozenset(known)
        linked = complete(turn, invent, known)
        record = make(turn, invent, known, values)
        put = Change("put", name, key, record, expected=turn.view.version(name, key))
        children = divide(turn.after([put]), invent, key, values)
        if children:
            record = {**record, **{field: [child.record for child in puts] for field, puts in children.items()}}
            put = replace(put, record=record)
        is_guessed = not guesses.isdisjoint(record.keys() - determined) or any(
            _is_completed(rule.fetch(turn.call.arguments), shaped[rule.field], record.get(rule.field), schema)
            for rule, schema in shown
            if rule.field in shaped
        )
        return Effect(key, record, (put, *linked, *chain.from_iterable(children.values())), is_guessed)

    return create


def _is_completed(given: Json, shaped: Json, stored: Json, schema: Record) -> bool:
    """Return whether an argument was completed by values that nothing determines, to fit the schema of the field.

    Keys are the server's to choose, and empty values are how things begin. What differs from the `shaped` argument
    was taken from the records that it names.
    """
    if isinstance(stored, list):
        rows = zip(as_list(given), as_list(shaped), as_list(stored), strict=False)
        return any(_is_completed(*row, items(schema)) for row in rows)
    if not isinstance(stored, dict):
        return False
    before, argument = as_object(shaped), as_object(given)
    for name, value in as_object(stored).items():
        inner = property_of(schema, name)
        if name in argument:
            if _is_completed(argument[name], before.get(name), value, inner):
                return True
        elif value and value != given and before.get(name) == value:
            is_settled = last_word(name) == "id" or "default" in inner or len(constants(inner)) == 1
            if not is_settled:
                return True
    return False


def child_records(entity: Entity, domain: Domain) -> Divide:
    """Compile the records that a new record contains as a list of objects and that tools name by ids of their own.

    A request that is created with its `tasks` has tasks that refer to it, if the tools create tasks of a request, too.
    """
    creates = {plan.entity: plan for plan in domain.plans.values() if plan.verb == "create" and plan.entity}
    asked = {plan.entity for plan in domain.plans.values() if plan.key is not None}
    named = {field: singular(snake(field)) for field in entity.fields if is_rows(entity.fields[field].schema)}
    parts = {field: domain.entities[name] for field, name in named.items() if name in asked and name in creates}
    links = {
        field: next((own.name for own in child.fields.values() if own.link == entity.name), None)
        for field, child in parts.items()
        if child.inside is None
    }
    makers = [
        (field, child, link, key_maker(child), record_maker(creates[child.name], child, domain))
        for field, child in parts.items()
        if (link := links.get(field)) is not None
    ]

    def divide(turn: Turn, invent: Invent, key: Key, values: Record) -> dict[str, list[Change]]:
        children = dict[str, list[Change]]()
        for field, child, link, keys, make in makers:
            for item in map(as_object, as_list(values.get(field))):
                own: Key = next_key(child, keys, turn.view, turn.draws)
                mine = {name: value for name, value in item.items() if name in child.fields and name != child.key}
                record = make(turn, invent, {**mine, link: key, child.key: own}, {**mine, link: key})
                put = Change("put", child.name, own, record, expected=turn.view.version(child.name, own))
                children.setdefault(field, []).append(put)
                turn = turn.after([put])
        return children

    return divide if makers else lambda _turn, _invent, _key, _values: {}


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
                key = (turn.view.get(link.target, implied[link.link]) or {}).get(link.theirs)
                if key and turn.view.get(entity.fields[link.field].link or "", key):
                    implied[link.field] = key
        for link in chosen:
            if link.link not in implied and implied.get(link.field) is not None:
                rows = islice(turn.view.find(link.target, link.theirs, implied[link.field]), MOST_LINK_CANDIDATES)
                if keys := [key for key, _ in rows]:
                    implied[link.link] = invent.choose_reference(turn, entity.name, link.link, link.target, keys)
        return implied

    return imply if shared else lambda _turn, _invent, values: values


def linked_records(entity: Entity, domain: Domain) -> Complete:
    """Compile the records that a new record needs and that nothing else creates: the booking of a booked flight.

    They are created while there are no records that a required link can refer to. So are those which a call names,
    where only a name suggests the link and nothing specifies the records.
    """
    created = {plan.entity for plan in domain.variants if plan.verb == "create"} | domain.given
    links = [field for field in entity.fields.values() if field.required and field.is_single_link]
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
        puts = new_once(put for name, target in named for put in _named(turn, invent, target, values.get(name)))
        for name, (target, keys) in free.items():
            if name in values or turn.view.count(target.name):
                continue
            key = next_key(target, keys, turn.view, turn.draws)
            values[name] = key
            puts.append(generated_put(turn, target, key, invent))
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
    schema = target.schema_of(target.key)
    for item in in_list(value):
        known = {name: inner for name, inner in as_object(item).items() if name in target.fields}
        key: Json = known.get(target.key) if isinstance(item, dict) else item
        if not is_key(key) or not validity_test(schema)(key):
            continue
        if find_key(turn.view, target.name, key) is None and not turn.view.version(target.name, key):
            yield generated_put(turn, target, key, invent, known)


def _shared(entity: Entity, domain: Domain) -> Iterator[_Shared]:
    """Yield the references of an entity that repeat those of linked records, such as `hotel_id` of a room."""
    links = [field for field in entity.fields.values() if field.is_single_link and field.link in domain.entities]
    for link in links:
        target = domain.entities[link.link or ""]
        for theirs in target.fields.values():
            own, noun = entity.fields.get(theirs.name), (theirs.link or "").rpartition(".")[2]
            is_role = snake(theirs.name) not in {noun, f"{noun}_id", f"{noun}_key"}  # `assignee_id`, not `user_id`
            if own is None or own is link or is_role or not theirs.is_single_link or own.link != theirs.link:
                continue
            yield _Shared(own.name, link.name, target.name, theirs.name)


def _is_own(entity: Entity, field: Field) -> bool:
    """Return whether a copy has a value of its own: a code or an address, or the time of its creation or change."""
    is_code = is_unique(entity, field) and not is_name(field.name)
    return is_code or time_meaning(field.name, field.schema) in {"created", "updated"}


def _key_finder(plan: Plan, entity: Entity) -> Callable[[View, Record], Key | None]:
    """Return a function that finds the key given by the caller, or that of a record with the same identity.

    A unique field identifies a record, else all texts if the record has numbers.
    """
    fields = [entity.fields[name] for name in plan.sets.values() if name in entity.fields]
    naming = min((field.name for field in fields if is_unique(entity, field)), key=is_name, default=None)
    has_numbers = any(main_type(field.schema) in {"integer", "number"} for field in fields)
    texts = [field.name for field in fields if main_type(field.schema) == "string"] if has_numbers else []
    identity = [] if plan.if_exists == "refuse" else texts if naming is None else [naming]

    def known(view: View, values: Record) -> Key | None:
        taken: Key | None = as_key(values.get(entity.key))
        given = [name for name in identity if values.get(name) is not None]
        if taken is not None or not given:
            return taken
        alike = view.find(entity.name, given[0], values[given[0]])
        return next((key for key, row in alike if all(row.get(name) == values[name] for name in given)), None)

    return known
