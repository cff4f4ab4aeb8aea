"""Flags of lists that select records by a flag or a state: `available_only`, `include_archived`."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.infer.transitions import known_states
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.plans import Filter

_INCLUDING = frozenset({"include", "show"})


def find_flag_filters(schema: Record, entity: Entity, rows: Sequence[Record]) -> dict[str, Filter]:
    """Return the filters of the flags of a list. `rows` are given records."""
    flags = [name for name, part in properties(schema).items() if main_type(part) == "boolean"]
    return {name: one for name in flags if (one := _flag_filter(name, entity, rows)) is not None}


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
