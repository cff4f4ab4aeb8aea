"""Which records are made together with the one that a tool makes: the tasks that a new plan is given?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.looks import Look
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import line_parts, properties
from mcp_sim.types.lexicon.words import singular_phrase, snake, words
from mcp_sim.types.plans import Children, Plan

_ONE = frozenset({"get", "update", "delete"})


def with_children(draft: Draft) -> dict[str, Plan]:
    """The plans of such tools.

    Other tools name each of these records by an id of its own, so they are no mere part of what they came with.
    """
    named = {plan.entity for plan in draft.plans.values() if plan.verb in _ONE and plan.key is not None} - {*draft.held}
    apart = {name: one for name, one in draft.entities.items() if name in named and not one.inside}
    found: dict[str, Plan] = {}
    for look, plan in draft.of_all():
        if plan.verb == "create" and plan.backend == "records" and plan.each is None:
            shown = {field for one in draft.looks if one.entity == look.entity for field in properties(one.shape)}
            children = tuple(one for one in _children(look, plan, apart) if plan.sets.get(one.listed) not in shown)
            listed = {one.listed for one in children}
            sets = {path: name for path, name in plan.sets.items() if path not in listed}
            found |= {look.tool.id: replace(plan, sets=sets, children=children)} if children else {}
    return found


def without_children(entities: Mapping[str, Entity], plans: Mapping[str, Plan]) -> dict[str, Entity]:
    """The entities; what is made together with a record is not a field of it."""
    found = dict(entities)
    for plan in plans.values():
        listed = {one.listed for one in plan.children}
        if listed:
            one = found[plan.entity or ""]
            found[one.name] = replace(one, fields={n: part for n, part in one.fields.items() if n not in listed})
    return found


def _children(look: Look, plan: Plan, apart: Mapping[str, Entity]) -> Iterator[Children]:
    for name, part in properties(look.input).items():
        one = apart.get(singular_phrase(words(name)))
        lines = line_parts(part)
        if one is None or one.name == plan.entity or not lines or {snake(line) for line in lines} & _ids_of(one):
            continue
        fields = {snake(field): field for field in one.fields}
        sets = {f"{name}.{line}": fields.get(snake(line), line) for line in lines}
        if any(snake(line) in fields for line in lines):
            yield Children(one.name, name, sets, _link(one, plan.entity or ""))


def _ids_of(entity: Entity) -> set[str]:
    """By what an item would name a record that there is."""
    return {f"{entity.name}_id", "id", snake(entity.key)}


def _link(entity: Entity, parent: str) -> str | None:
    return next((name for name, field in entity.fields.items() if field.link == parent), None)
