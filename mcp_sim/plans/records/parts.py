"""List and write records inside other records, such as items of an order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import TypeAlias, cast

from mcp_sim.generate.chance import Chance
from mcp_sim.generate.defaults import record_maker, settling
from mcp_sim.generate.keys import following_key, key_maker
from mcp_sim.plans.records.arguments import argument, assigned_values, assignments_of
from mcp_sim.plans.records.effects import Effect, Write
from mcp_sim.plans.records.filters import filter_argument, fixed_tests, test_maker
from mcp_sim.plans.records.record_lookup import find_inside, finder, parts_of
from mcp_sim.plans.records.selection import Page
from mcp_sim.plans.refusal import conflict, not_found
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.conditions import ABSENT
from mcp_sim.types.domain import Domain, Entity, Inside
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.kinds import Invent
from mcp_sim.types.plans import Plan

Stored: TypeAlias = Callable[[Turn, Key, Json], Change]
"""Returns the change that stores a list or mapping of parts in the record of a key."""


def part_write(tool: Tool, plan: Plan, domain: Domain) -> Write:
    """Compile a tool that writes a part into the record that holds it."""
    entity = domain.entities[plan.entity or ""]
    place = cast("Inside", entity.inside)
    if plan.verb == "create":
        return _putting_in(tool, plan, domain, entity, place)
    return _changing(tool, plan, domain, entity, place)


def part_page(tool: Tool, plan: Plan, domain: Domain) -> Callable[[Turn], Page | Observation]:
    """Compile a tool that lists the parts of one record, or of all."""
    entity = domain.entities[plan.entity or ""]
    place, find = cast("Inside", entity.inside), _holder(tool, plan, domain)
    always = fixed_tests(plan)
    asked = [(filter_argument(tool, path, entity, rule), test_maker(rule)) for path, rule in plan.filters.items()]

    def page(turn: Turn) -> Page | Observation:
        key = find(turn) if plan.holder is not None else None
        if isinstance(key, Observation):
            return key
        given = ((fetch(turn.call.arguments), maker) for fetch, maker in asked)
        tests = [maker(value) for value, maker in given if value is not ABSENT and value is not None]
        rows = [(row.get(entity.key, at), row) for at, row in enumerate(_held(turn.view, place, key))]
        rows = [row for row in rows if all(test(row[1]) for test in (*always, *tests))]
        return Page(rows, len(rows))

    return page


def _held(view: View, place: Inside, key: Key | None) -> Iterator[Record]:
    if key is not None:
        yield from parts_of((view.get(place.entity, key) or {}).get(place.field))
        return
    for _, record in view.rows(place.entity):
        yield from parts_of(record.get(place.field))


def _holder(tool: Tool, plan: Plan, domain: Domain) -> Callable[[Turn], Key | Observation]:
    """Return a function that finds the record which holds the parts."""
    place = cast("Inside", domain.entities[plan.entity or ""].inside)
    named = Plan(plan.tool, "get", place.entity, key=plan.holder)
    return finder(tool, named, domain.entities[place.entity])


def _storing(domain: Domain, place: Inside) -> Stored:
    settle, field = settling(domain.entities[place.entity], domain), place.field

    def stored(turn: Turn, key: Key, held: Json) -> Change:
        record = {**(turn.view.get(place.entity, key) or {}), field: held}
        settle(record, {field})
        return Change("put", place.entity, key, record, expected=turn.view.version(place.entity, key))

    return stored


def _putting_in(tool: Tool, plan: Plan, domain: Domain, entity: Entity, place: Inside) -> Write:
    sets, make, find = (
        assignments_of(tool, plan, domain),
        record_maker(plan, entity, domain),
        _holder(tool, plan, domain),
    )
    stored = _storing(domain, place)
    is_nameless = entity.key in entity.fields and entity.fields[entity.key].hidden

    def put_in(turn: Turn, invent: Invent) -> Effect | Observation:
        holder = find(turn)
        if isinstance(holder, Observation):
            return holder
        values = {**plan.fixed, **assigned_values(turn, sets)}
        held: Json = (turn.view.get(place.entity, holder) or {}).get(place.field)
        there = {row.get(entity.key) for row in parts_of(held)}
        if values.get(entity.key) in there - {None}:
            return conflict(tool, entity.name, values[entity.key], "already exists")
        key = values.get(entity.key) or _new_key(turn, entity, parts_of(held))
        inner = make(turn, invent, {**values, entity.key: key}, values)
        if is_nameless:
            inner = {name: value for name, value in inner.items() if name != entity.key}
        whole: Json = [*as_list(held), inner]
        if isinstance(held, dict):
            whole = {**cast("Record", held), str(key): inner}
        return Effect(key, inner, (stored(turn, holder, whole),))

    return put_in


def _new_key(turn: Turn, entity: Entity, siblings: list[Record]) -> Key:
    """Return the next id after the last part, in its form, that no other part has."""
    last = next(
        (sibling[entity.key] for sibling in reversed(siblings) if sibling.get(entity.key) is not None), entity.key_like
    )
    keys, chance = key_maker(replace(entity, key_like=last)), Chance(turn.draws.key + entity.name.encode())
    key = following_key(last)
    for index in count(len(siblings)):
        key = key if key is not None else keys(index, chance)
        if find_inside(turn.view, entity, key) is None:
            return key
        key = following_key(key)
    raise AssertionError("counting has no end")


def _changing(tool: Tool, plan: Plan, domain: Domain, entity: Entity, place: Inside) -> Write:
    sets, fetch, stored = (
        assignments_of(tool, plan, domain, defaults=False),
        argument(plan.key or ""),
        _storing(domain, place),
    )
    find = _holder(tool, plan, domain) if plan.holder is not None else None

    def change(turn: Turn, _invent: Invent) -> Effect | Observation:
        asked: Json = fetch(turn.call.arguments)
        holder = find(turn) if find is not None else _holder_of(turn.view, entity, place, asked)
        if isinstance(holder, Observation):
            return holder
        held: Json = {} if holder is None else (turn.view.get(place.entity, holder) or {}).get(place.field)
        inner = next((row for row in parts_of(held) if row.get(entity.key) == asked), None)
        if holder is None or inner is None:
            return not_found(tool, entity.name, None if asked is ABSENT else asked, plan.key)
        after = None if plan.verb == "delete" else {**inner, **plan.fixed, **assigned_values(turn, sets)}
        return Effect(cast("Key", asked), after or inner, (stored(turn, holder, _with(held, inner, after)),))

    return change


def _holder_of(view: View, entity: Entity, place: Inside, key: Json) -> Key | None:
    """Return the key of the record that holds the part of this key, or None."""
    holders = view.find(place.entity, f"{place.field}.*.{entity.key}", key)
    return next((holder for holder, _ in holders), None)


def _with(held: Json, row: Record, after: Record | None) -> Json:
    """Return the parts with one replaced, or removed if `after` is None."""
    if isinstance(held, dict):
        body = {name: after if value is row else value for name, value in cast("Record", held).items()}
        return {name: value for name, value in body.items() if value is not None}
    return [after if item is row else item for item in as_list(held) if not (item is row and after is None)]
