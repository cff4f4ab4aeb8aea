"""Rename entities in plans and entities, as for the namespaces of several servers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.plans import Plan


def rename_entities_in_plan(plan: Plan, called: Callable[[str], str]) -> Plan:
    """Return the plan with every entity name replaced by `called(name)`."""

    choices = {value: rename_entities_in_plan(choice, called) for value, choice in plan.choices.items()}
    return replace(plan, entity=None if plan.entity is None else called(plan.entity), choices=choices)


def renamed(entity: Entity, called: Callable[[str], str]) -> Entity:
    """Return the entity with its name, and the entities it links to, replaced by `called(name)`."""
    fields = {name: _field(field, called) for name, field in entity.fields.items()}
    inside = entity.inside and replace(entity.inside, entity=called(entity.inside.entity))
    return replace(entity, name=called(entity.name), fields=fields, inside=inside)


def _field(field: Field, called: Callable[[str], str]) -> Field:
    return field if field.link is None else replace(field, link=called(field.link))
