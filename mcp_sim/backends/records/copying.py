"""What does a record have from the one that it is a copy of?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.refusals import neighbours, not_found
from mcp_sim.generate.named import found_key
from mcp_sim.generate.times import sense
from mcp_sim.generate.uniqueness import is_unique
from mcp_sim.types import Observation, Record, Tool, Turn
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.words import snake
from mcp_sim.types.plans import Plan

Copied: TypeAlias = Callable[[Turn], "Record | Observation"]


def copying(tool: Tool, plan: Plan, entity: Entity) -> Copied:
    """The fields that a new record has from the one that it is a copy of, compiled."""
    if plan.copies is None:
        return lambda _turn: {}
    fetch, left_out = argument(plan.copies), {*_left_out(entity)}
    named = next((name for name, field in entity.fields.items() if _is_name(field) and name != entity.key), None)

    def copied(turn: Turn) -> Record | Observation:
        asked = fetch(turn.call.arguments)
        key = found_key(turn.view, entity.name, asked)
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
    """What a copy has of its own: its key, its times, what only one record may have."""
    yield entity.key
    for field in entity.fields.values():
        if sense(field.name, field.schema) in {"created", "updated"} or is_unique(entity, field):
            yield field.name
