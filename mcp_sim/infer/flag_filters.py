"""Which arguments of lists say yes or no to one kind of records: `available_only`, `only_open`, `include_archived`?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.told_states import known_states
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.lexicon.words import snake, words
from mcp_sim.types.plans import Filter, Plan

_MANY = frozenset({"list", "search"})
_LETS_IN = frozenset({"include", "show"})


def with_flags(draft: Draft) -> dict[str, Plan]:
    """The plans of such tools."""
    found: dict[str, Plan] = {}
    for look, plan in draft.of_all():
        entity = draft.entity_of(plan)
        if entity is None or plan.verb not in _MANY or plan.choice is not None:
            continue
        rows = draft.held.get(entity.name, ())
        flags = [name for name, part in properties(look.input).items() if main_type(part) == "boolean"]
        filters = {name: one for name in flags if (one := _narrowed(name, entity, rows)) is not None}
        if filters:
            found[look.tool.id] = replace(plan, filters={**plan.filters, **filters})
    return found


def _narrowed(argument: str, entity: Entity, rows: Sequence[Record]) -> Filter | None:
    """The field and the value that a yes asks for, or lets in: a flag of that name, or a state of records."""
    parts = words(argument)
    lets_in = parts[0] in _LETS_IN
    if len(parts) < 2 or not (lets_in or "only" in {parts[0], parts[-1]}):
        return None
    asked = "_".join(parts[1:]) if lets_in else "_".join(part for part in parts if part != "only")
    found = _flag(asked, entity) or _state(asked, entity, rows)
    return Filter(found.field, "not", unless=found.only) if found is not None and lets_in else found


def _flag(asked: str, entity: Entity) -> Filter | None:
    for name, field in entity.fields.items():
        plain = snake(name).removeprefix("is_").removeprefix("has_")
        if main_type(field.schema) == "boolean" and asked in {plain, f"is_{plain}", f"un{plain}", f"not_{plain}"}:
            return Filter(name, only=asked in {plain, f"is_{plain}"})
    return None


def _state(asked: str, entity: Entity, rows: Sequence[Record]) -> Filter | None:
    for name, field in entity.fields.items():
        states = known_states(name, entity, rows) if main_type(field.schema) == "string" else {}
        state = next((one for one in states if snake(one) == asked), None)
        if state is not None:
            return Filter(name, only=state)
    return None
