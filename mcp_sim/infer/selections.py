"""Arguments that select by a flag, an entry of a mapping, or the name of a field."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

from mcp_sim.infer.descriptions import choices_of
from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.transitions import known_states
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties, property_of, required, required_among
from mcp_sim.types.lexicon.english import plural, snake, vocabulary, words
from mcp_sim.types.plans import Filter, Picked, Plan

_MANY = frozenset({"list", "search"})
_INCLUDING = frozenset({"include", "show"})
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SAMPLE_SIZE = 20
_READS = frozenset({"get", "list", "search"})
_FIELD_NAMES = vocabulary("field field_name property property_name attribute attribute_name column column_name")
_CONFIDENCE = 0.85
_VALUE_NAMES = vocabulary("value new_value field_value property_value attribute_value column_value")


def plan_flag_filters(draft: Draft) -> dict[str, Plan]:
    """Return new plans for lists with flags like `available_only`, `only_open`, `include_archived`."""
    found: dict[str, Plan] = {}
    for features, plan in draft.items():
        entity = draft.entity_of(plan)
        if entity is None or plan.verb not in _MANY or plan.choice is not None:
            continue
        rows = draft.held.get(entity.name, ())
        flags = [name for name, part in properties(features.input).items() if main_type(part) == "boolean"]
        filters = {name: one for name in flags if (one := _flag_filter(name, entity, rows)) is not None}
        if filters:
            found[features.tool.id] = replace(plan, filters={**plan.filters, **filters})
    return found


def _flag_filter(argument: str, entity: Entity, rows: Sequence[Record]) -> Filter | None:
    """Return the filter of a flag: by a flag of that name, or by a state."""
    parts = words(argument)
    lets_in = parts[0] in _INCLUDING
    if len(parts) < 2 or not (lets_in or "only" in {parts[0], parts[-1]}):
        return None
    asked = "_".join(parts[1:]) if lets_in else "_".join(part for part in parts if part != "only")
    found = _filter_by_flag(asked, entity) or _filter_by_state(asked, entity, rows)
    return Filter(found.field, "not", unless=found.only) if found is not None and lets_in else found


def _filter_by_flag(asked: str, entity: Entity) -> Filter | None:
    for name, field in entity.fields.items():
        plain = snake(name).removeprefix("is_").removeprefix("has_")
        if main_type(field.schema) == "boolean" and asked in {plain, f"is_{plain}", f"un{plain}", f"not_{plain}"}:
            return Filter(name, only=asked in {plain, f"is_{plain}"})
    return None


def _filter_by_state(asked: str, entity: Entity, rows: Sequence[Record]) -> Filter | None:
    for name, field in entity.fields.items():
        states = known_states(name, entity, rows) if main_type(field.schema) == "string" else {}
        state = next((one for one in states if snake(one) == asked), None)
        if state is not None:
            return Filter(name, only=state)
    return None


def plan_entry_selection(draft: Draft) -> dict[str, Plan]:
    """Return new plans for tools that show one entry of a mapping: a `date` of `dates`."""
    known = draft.entities
    mappings = {name: [*_mapping_fields(known[name], rows)] for name, rows in draft.held.items() if name in known}
    found: dict[str, Plan] = {}
    for features, plan in draft.items():
        fields = mappings.get(plan.entity or "", [])
        if fields and plan.verb in _READS and plan.backend == "records":
            picked = next(_entry_arguments(features, plan, fields), None)
            found |= {features.tool.id: _select_entry(plan, picked)} if picked is not None else {}
    return found


def _mapping_fields(entity: Entity, rows: Sequence[Record]) -> Iterator[tuple[str, bool]]:
    """Yield the fields that hold entries under keys, and whether the keys are days."""
    for name in entity.fields:
        values = [row.get(name) for row in rows[:_SAMPLE_SIZE]]
        inner = [cast("Record", value) for value in values if isinstance(value, dict) and value]
        keys = {key for value in inner for key in value}
        if inner and all(any(letter.isdigit() for letter in key) for key in keys):
            yield name, all(_DAY.fullmatch(key) for key in keys)


def _entry_arguments(features: ToolFeatures, plan: Plan, fields: Sequence[tuple[str, bool]]) -> Iterator[Picked]:
    taken = {plan.key, *(path for path in plan.filters)}
    for name in required_among(properties(features.input), features.input):
        if name in taken or main_type(property_of(features.input, name)) not in {"string", ""}:
            continue
        for field, is_daily in fields:
            if snake(field) in {plural(snake(name)), f"by_{snake(name)}"} or (is_daily and "date" in words(name)):
                yield Picked(name, field)


def _select_entry(plan: Plan, picked: Picked) -> Plan:
    query = None if plan.query == picked.argument else plan.query
    filters = {path: rule for path, rule in plan.filters.items() if path != picked.argument}
    return replace(plan, picked=picked, query=query, searched=plan.searched if query else (), filters=filters)


def entry_fields(entity: Entity, field: str, rows: Sequence[Record]) -> dict[str, Json]:
    """Return the fields of entries of a mapping, each with an example."""
    known: Record = {}
    for row in rows[:_SAMPLE_SIZE]:
        value: Json = row.get(field)
        for entry in cast("Record", value).values() if isinstance(value, dict) else ():
            known = {**(cast("Record", entry) if isinstance(entry, dict) else {}), **known}
    return {name: value for name, value in known.items() if name not in entity.fields}


def settle_field_arguments(feature_list: Sequence[ToolFeatures], declared: Mapping[str, Entity]) -> list[ToolFeatures]:
    """Return the features. An argument that names a field, or holds its value, is not a field."""
    return [
        replace(
            features,
            settled_arguments=features.settled_arguments | {*_field_arguments(features, declared.get(features.entity))},
        )
        for features in feature_list
    ]


def plan_field_choices(draft: Draft) -> dict[str, Plan]:
    """Return new plans for tools with an argument that names a field: `update_task(id, field, new_value)`."""
    found: dict[str, Plan] = {}
    for features, plan in draft.record_items():
        entity = draft.entity_of(plan)
        arguments = _field_arguments(features, entity)
        if entity is not None and arguments and plan.key is not None and plan.choice is None:
            choices = {
                name: _choice(plan, name, arguments)
                for name in _selectable_fields(entity, property_of(features.input, arguments[0]), plan)
            }
            found |= {features.tool.id: _with_choices(plan, arguments[0], choices)} if choices else {}
    return found


def _field_arguments(features: ToolFeatures, entity: Entity | None) -> tuple[str, ...]:
    """Return the argument that names a field and, in an update, the one with its value.

    Empty if records have such fields.
    """
    parts = {
        snake(name): name for name, part in properties(features.input).items() if main_type(part) in {"string", ""}
    }
    every = {snake(name): name for name in properties(features.input)}
    own = {snake(name) for name in entity.fields} if entity is not None else set[str]()
    fields = [parts[name] for name in parts if name in _FIELD_NAMES - own]
    values = [every[name] for name in every if name in _VALUE_NAMES - own]
    if features.verb == "get":
        return (fields[0],) if len(fields) == 1 and fields[0] in required(features.input) else ()
    return (fields[0], values[0]) if features.verb == "update" and len(fields) == len(values) == 1 else ()


def _selectable_fields(entity: Entity, schema: Record, plan: Plan) -> list[str]:
    """Return the fields that the argument lists, else all. The key is shown and never set."""
    listed = [str(one) for one in choices_of(schema)]
    shown = [name for name, field in entity.fields.items() if field.derived is None and not field.hidden]
    usual = [name for name in shown if name != entity.key or plan.verb == "get"]
    return [name for name in usual if name in listed] or usual


def _choice(plan: Plan, field: str, arguments: Sequence[str]) -> Plan:
    if plan.verb == "get":
        return replace(plan, only=(field,))
    others = {path: name for path, name in plan.sets.items() if path not in arguments}
    return replace(plan, sets={**others, arguments[1]: field})


def _with_choices(plan: Plan, argument: str, choices: Mapping[str, Plan]) -> Plan:
    reasons, confidence = (f"'{argument}' names the field",), max(plan.confidence, _CONFIDENCE)
    choices = {name: replace(choice, confidence=confidence, reasons=reasons) for name, choice in choices.items()}
    return Plan(
        plan.tool, plan.verb, plan.entity, choice=argument, choices=choices, confidence=confidence, reasons=reasons
    )
