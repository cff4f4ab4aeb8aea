"""Create records: with a key of their own, from a copy, and together with child records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeAlias, cast

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.effects import (
    Consequence,
    Effect,
    Write,
    WriteMany,
    batch,
    with_checks,
    with_consequences,
)
from mcp_sim.backends.records.field_values import assigned_values, assignments_of, links_of, resolve_links
from mcp_sim.backends.records.line_items import booking_consequence, line_completer
from mcp_sim.backends.records.side_effects import membership_check, payment_consequence, side_effects
from mcp_sim.backends.records.updates import changing
from mcp_sim.backends.refusal import conflict, neighbours, not_found
from mcp_sim.generate.defaults import record_maker
from mcp_sim.generate.keys import KeyMaker, format_key, is_used, key_maker, next_key
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.generate.uniqueness import is_name, is_unique
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Children, Plan
from mcp_sim.types.views import find_key

NewKey: TypeAlias = Callable[[Turn], "tuple[Key, tuple[Change, ...]]"]
Copy: TypeAlias = Callable[[Turn], "Record | Observation"]

_PARENT = "$parent"
"""An internal argument that names the parent record of children."""


def creation(tool: Tool, plan: Plan, domain: Domain) -> Write:
    """Compile a tool that creates a record."""
    entity = domain.entities[plan.entity or ""]
    name, sets, links = entity.name, assignments_of(tool, plan, domain), links_of(plan, entity, domain)
    make, copied = record_maker(plan, entity, domain), copier(tool, plan, entity)
    complete = line_completer(tool, plan, domain)
    number, change = _key_maker(plan, entity), changing(tool, replace(plan, requires={}), domain)
    known = _key_finder(plan, entity)

    def create(turn: Turn, invent: Invent) -> Effect | Observation:
        values = resolve_links(turn, tool, links, {**plan.fixed, **assigned_values(turn, sets)})
        if isinstance(values, Observation):
            return values
        values = complete(turn, values, {})
        if isinstance(values, Observation):
            return values
        taken = known(turn.view, values)
        if taken is not None and turn.view.get(name, taken) is not None:
            return _existing(turn, tool, plan, taken, change)
        base = copied(turn)
        if isinstance(base, Observation):
            return base
        key, counted = (taken, ()) if taken is not None else number(turn)
        record = make(turn, invent, {**base, **values, entity.key: key}, values)
        put = Change("put", name, key, record, expected=turn.view.version(name, key))
        return Effect(key, record, (put, *counted))

    consequences = (
        booking_consequence(tool, plan, domain),
        payment_consequence(tool, plan),
        side_effects(tool, plan, domain),
    )
    return with_consequences(with_checks(create, membership_check(tool, plan)), *consequences)


def _key_finder(plan: Plan, entity: Entity) -> Callable[[View, Record], Key | None]:
    """Return a function that finds the key given by the caller, or that of a record with the same identity."""
    identity = _identity(plan, entity) if plan.if_exists != "refuse" else ()

    def known(view: View, values: Record) -> Key | None:
        taken: Key | None = values.get(entity.key)
        given = [name for name in identity if values.get(name) is not None]
        if taken is not None or not given:
            return taken
        alike = view.find(entity.name, given[0], values[given[0]])
        return next((key for key, row in alike if all(row.get(name) == values[name] for name in given)), None)

    return known


def _identity(plan: Plan, entity: Entity) -> tuple[str, ...]:
    """Return the fields that identify a record: a unique one, else all texts if the record has numbers."""
    fields = [entity.fields[name] for name in plan.sets.values() if name in entity.fields]
    naming = min((one.name for one in fields if is_unique(entity, one)), key=is_name, default=None)
    numbers = [one.name for one in fields if main_type(one.schema) in {"integer", "number"}]
    texts = tuple(one.name for one in fields if main_type(one.schema) == "string") if numbers else ()
    return (naming,) if naming is not None else texts


def _existing(
    turn: Turn, tool: Tool, plan: Plan, key: Key, change: Callable[[Turn, Key], Effect | Observation]
) -> Effect | Observation:
    """Return the effect on a record that exists already, or the failure that it does."""
    entity = plan.entity or ""
    if plan.if_exists == "refuse":
        return conflict(tool, entity, key, "already exists")
    if plan.if_exists == "update":
        return change(turn, key)
    return Effect(key, turn.view.get(entity, key) or {}, ())


# keys -----------------------------------------------------------------------------------------------------------------


def _key_maker(plan: Plan, entity: Entity) -> NewKey:
    """Return a function that makes the key of a new record: the next in order, or the value of a counter."""
    keys = key_maker(entity)
    if plan.counter is None:
        return lambda turn: (next_key(entity, keys, turn.view, turn.draws), ())
    only, _, field = plan.counter.rpartition(".")
    return lambda turn: _counted(turn, entity, keys, only, field)


def _counted(turn: Turn, entity: Entity, keys: KeyMaker, only: str, field: str) -> tuple[Key, tuple[Change, ...]]:
    state = turn.view.get(only, only) or {}
    key: Json = state.get(field)
    if not isinstance(key, int) or isinstance(key, bool):
        return next_key(entity, keys, turn.view, turn.draws), ()
    like = turn.view.last_key(entity.name)
    while is_used(turn.view, entity.name, format_key(like, key)):
        key += 1
    moved = {**state, field: key + 1}
    return format_key(like, key), (Change("put", only, only, moved, expected=turn.view.version(only, only)),)


def copier(tool: Tool, plan: Plan, entity: Entity) -> Copy:
    """Return a function that copies fields from the record that a call names. It fails if there is no such record."""
    if plan.copies is None:
        return lambda _turn: {}
    fetch, left_out = argument(plan.copies), {*_left_out(entity)}
    named = next((name for name, field in entity.fields.items() if _is_name(field) and name != entity.key), None)

    def copied(turn: Turn) -> Record | Observation:
        asked = fetch(turn.call.arguments)
        key = find_key(turn.view, entity.name, asked)
        if key is None:
            others = neighbours(turn.view, entity)
            return not_found(tool, entity.name, None if asked is ABSENT else asked, plan.copies, others)
        source = turn.view.get(entity.name, key) or {}
        base = {name: value for name, value in source.items() if name not in left_out}
        if named is not None and isinstance(source.get(named), str):
            base[named] = f"{source[named]} (copy)"
        return base

    return copied


def _is_name(field: Field) -> bool:
    return snake(field.name) in {"name", "title"} and main_type(field.schema) in {"string", ""}


def _left_out(entity: Entity) -> Iterator[str]:
    """Yield the fields that a copy does not take: key, timestamps, unique values."""
    yield entity.key
    for field in entity.fields.values():
        if time_meaning(field.name, field.schema) in {"created", "updated"} or is_unique(entity, field):
            yield field.name


def child_creations(tool: Tool, plan: Plan, domain: Domain) -> list[Consequence]:
    """Return the consequences that create the children in each list of a call.

    The result contains the children of the lists that were given.
    """
    return [partial(_with_children, one=one, make=_children_write(tool, one, domain)) for one in plan.children]


def _children_write(tool: Tool, one: Children, domain: Domain) -> WriteMany:
    """Return the batch write that creates children as if a tool were called for them alone."""
    sets = dict(one.sets) if one.link is None else {**one.sets, _PARENT: one.link}
    plan = Plan(tool.id, "create", one.entity, sets=sets, each=one.listed)
    return batch(tool, plan, creation(tool, plan, domain))


def _with_children(
    turn: Turn, invent: Invent, effect: Effect, *, one: Children, make: WriteMany
) -> Effect | Observation:
    """Add the children of one list to an effect. Fails if a child cannot be created."""
    if one.listed not in turn.call.arguments:
        return effect
    call = replace(turn.call, arguments={**turn.call.arguments, _PARENT: effect.key})
    found = make(replace(turn, view=turn.view.after(effect.changes), call=call), invent)
    if found.failed:
        return found.failed[0].why
    rows = cast("Json", [made.record for _, made in found.done])
    return replace(effect, record={**effect.record, one.listed: rows}, changes=(*effect.changes, *found.changes))
