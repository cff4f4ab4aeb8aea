"""What becomes of the parts of a record when a call exchanges some of them for others?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from mcp_sim.backends.records.arguments import argument
from mcp_sim.backends.records.inside import found_inside
from mcp_sim.backends.records.refusals import conflict, invalid, not_found
from mcp_sim.generate.named import found_key
from mcp_sim.types import Json, Key, Observation, Record, Tool, Turn
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.plans import Plan

Swapped: TypeAlias = Callable[[Turn, Key, Record], "Record | Observation"]
"""The field as it is afterwards, by its name; {} where nothing is exchanged."""


def swapping(tool: Tool, plan: Plan, domain: Domain) -> Swapped:
    """The parts of a record after those that a call names were exchanged, compiled."""
    swap = plan.swap
    if swap is None:
        return lambda _turn, _key, _record: {}
    old, new, source = argument(swap.old), argument(swap.new), domain.entities[swap.entity]

    def swapped(turn: Turn, key: Key, record: Record) -> Record | Observation:
        olds, news = as_list(old(turn.call.arguments)), as_list(new(turn.call.arguments))
        if len(olds) != len(news):
            sentence = f"{swap.new} must have as many entries as {swap.old}: {len(olds)}, not {len(news)}"
            return invalid(tool, swap.new, news, sentence)
        parts = cast("list[Record]", list(as_list(record.get(swap.field))))
        for one, other in zip(olds, news, strict=True):
            place = next((at for at, part in enumerate(parts) if equal(part.get(swap.key), one)), None)
            if place is None:
                return conflict(tool, plan.entity or "", key, f"has no {swap.entity.rpartition('.')[2]} {one}")
            found = _found(turn, other)
            if found is None:
                return not_found(tool, source.name, other, swap.new)
            known = {name: value for name, value in found.items() if name in parts[place]}
            parts[place] = {**parts[place], **known, swap.key: other}
        return {swap.field: parts}

    def _found(turn: Turn, value: Json) -> Record | None:
        if source.inside is not None:
            return found_inside(turn.view, source, value)
        key = found_key(turn.view, source.name, value)
        return None if key is None else turn.view.get(source.name, key)

    return swapped
