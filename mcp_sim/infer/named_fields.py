"""Which tools are told in an argument which field they set or show: `update_task(id, field, new_value)`?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.choices import choices_of
from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.looks import Look
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties, required
from mcp_sim.types.lexicon.words import snake, vocabulary
from mcp_sim.types.plans import Plan

_FIELDS = vocabulary("field field_name property property_name attribute attribute_name column column_name")
_SURE = 0.85
_VALUES = vocabulary("value new_value field_value property_value attribute_value column_value")


def naming_fields(looks: Sequence[Look], declared: Mapping[str, Entity]) -> list[Look]:
    """The looks; an argument that names a field, and that which holds its value, are no fields themselves."""
    return [replace(look, settled=look.settled | {*_said(look, declared.get(look.entity))}) for look in looks]


def with_named_fields(draft: Draft) -> dict[str, Plan]:
    """The plans of such tools: a choice of each field that may be named."""
    found: dict[str, Plan] = {}
    for look, plan in draft.of_many():
        entity = draft.entity_of(plan)
        said = _said(look, entity)
        if entity is not None and said and plan.key is not None and plan.choice is None:
            ways = {name: _way(plan, name, said) for name in _named(entity, properties(look.input)[said[0]], plan)}
            found |= {look.tool.id: _choosing(plan, said[0], ways)} if ways else {}
    return found


def _said(look: Look, entity: Entity | None) -> tuple[str, ...]:
    """The argument that names a field and, in an update, that which holds its value; none where records have such."""
    parts = {snake(name): name for name, part in properties(look.input).items() if main_type(part) in {"string", ""}}
    every = {snake(name): name for name in properties(look.input)}
    own = {snake(name) for name in entity.fields} if entity is not None else set[str]()
    fields = [parts[name] for name in parts if name in _FIELDS - own]
    values = [every[name] for name in every if name in _VALUES - own]
    if look.verb == "get":
        return (fields[0],) if len(fields) == 1 and fields[0] in required(look.input) else ()
    return (fields[0], values[0]) if look.verb == "update" and len(fields) == len(values) == 1 else ()


def _named(entity: Entity, schema: Record, plan: Plan) -> list[str]:
    """The fields that may be named: those that the argument lists, else all; the key is shown, and never set."""
    listed = [str(one) for one in choices_of(schema)]
    shown = [name for name, field in entity.fields.items() if field.derived is None and not field.hidden]
    usual = [name for name in shown if name != entity.key or plan.verb == "get"]
    return [name for name in usual if name in listed] or usual


def _way(plan: Plan, field: str, said: Sequence[str]) -> Plan:
    if plan.verb == "get":
        return replace(plan, only=(field,))
    others = {path: name for path, name in plan.sets.items() if path not in said}
    return replace(plan, sets={**others, said[1]: field})


def _choosing(plan: Plan, argument: str, ways: Mapping[str, Plan]) -> Plan:
    told, sure = (f"'{argument}' says which field is meant",), max(plan.confidence, _SURE)
    ways = {name: replace(way, confidence=sure, reasons=told) for name, way in ways.items()}
    return Plan(plan.tool, plan.verb, plan.entity, choice=argument, choices=ways, confidence=sure, reasons=told)
