"""What of the world does a model have to be told for one call?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from mcp_sim.models.language_model.sight import Sight
from mcp_sim.models.language_model.transcript import Said
from mcp_sim.types import Json, Past, Record, Turn
from mcp_sim.types.clock import iso
from mcp_sim.types.domain import Domain
from mcp_sim.types.plans import Plan

MOST_ENTRIES = 50
"""How many earlier calls and events are told in one turn; the newest ones."""


@dataclass(frozen=True, slots=True)
class Bearing:
    """Which records bear on the calls of a tool: those that these arguments name, and how many there are in all."""

    named: tuple[tuple[str, str], ...]
    """(argument, entity)"""
    counted: str | None


def bearing(plan: Plan, domain: Domain) -> Bearing:
    """What bears on the calls of a tool, from its plan."""
    entity = domain.entities.get(plan.entity or "")
    if entity is None:
        return Bearing((), None)
    written = {**plan.sets, **{argument: narrowed.field for argument, narrowed in plan.filters.items()}}
    links = [(argument, entity.fields[name].link) for argument, name in written.items() if name in entity.fields]
    named = [(argument, link) for argument, link in links if link is not None]
    own = [(plan.key, entity.name)] if plan.key else []
    return Bearing((*own, *named), entity.name if plan.verb in ("list", "search") else None)


def facts(turn: Turn, bears: Bearing, last: Said | None, sight: Sight) -> Record:
    """What is true before the call: the time, the records in question (null: there is none), what happened since."""
    told: Record = {"now": iso(turn.now)}
    records = [
        {"entity": entity, "key": key, "record": sight.record(entity, turn.view.get(entity, key))}
        for argument, entity in bears.named
        for key in _keys(turn.call.arguments, argument)
    ]
    if records:
        told["records"] = records
    if bears.counted is not None and sight.is_counted(bears.counted):
        told["count"] = {bears.counted: turn.view.count(bears.counted)}
    happened = list(_since(turn, last, sight))
    if happened:
        told["since the last turn"] = happened[::-1]
    return told


def _keys(arguments: Record, path: str) -> list[str | int]:
    """The ids in an argument, which may be nested or a list."""
    value: Json = arguments
    for part in path.split("."):
        value = cast("Record", value).get(part) if isinstance(value, dict) else None
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [key for key in values if isinstance(key, str | int) and not isinstance(key, bool)]


def _since(turn: Turn, last: Said | None, sight: Sight) -> Iterator[Record]:
    """What was written since the last turn, newest first: by calls that others answered, by others than the agent."""
    left = MOST_ENTRIES
    for past in reversed(turn.history):
        is_last = last is not None and past.tool != "" and past.index == last.index
        if left == 0 or (last is not None and past.index < last.index):
            return
        if is_last and last is not None:
            if past.changes != last.changes:
                yield {"turn": past.index, "really written": sight.written(past.changes)}
            return
        if past.changes:
            left -= 1
            yield {**_doer(past), "written": sight.written(past.changes)}


def _doer(past: Past) -> Record:
    return {"call": past.tool, "arguments": past.arguments} if past.tool else {"by": "someone else"}
