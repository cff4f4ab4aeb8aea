"""Facts of the world that the prompt of one call states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from mcp_sim.models.language_model.conversation import Transcript
from mcp_sim.models.language_model.disclosure import Disclosure
from mcp_sim.types import Json, PastCall, Record, Turn
from mcp_sim.types.clock import iso
from mcp_sim.types.domain import Domain
from mcp_sim.types.plans import Plan

MAX_EVENTS = 50
"""How many earlier calls and events one turn lists at most; the newest ones."""


@dataclass(frozen=True, slots=True)
class RelevantRecords:
    """The records that matter to the calls of a tool.

    `named` lists pairs of an argument and the entity whose record it names. `counted` is the entity whose number of
    records matters.
    """

    named: tuple[tuple[str, str], ...]
    counted: str | None


def relevant_records(plan: Plan, domain: Domain) -> RelevantRecords:
    """Return the records that matter to the calls of a tool, by its plan."""
    entity = domain.entities.get(plan.entity or "")
    if entity is None:
        return RelevantRecords((), None)
    written = {**plan.sets, **{argument: narrowed.field for argument, narrowed in plan.filters.items()}}
    links = [(argument, entity.fields[name].link) for argument, name in written.items() if name in entity.fields]
    named = [(argument, link) for argument, link in links if link is not None]
    own = [(plan.key, entity.name)] if plan.key else []
    return RelevantRecords((*own, *named), entity.name if plan.verb in ("list", "search") else None)


def collect_facts(turn: Turn, relevant: RelevantRecords, last: Transcript | None, disclosure: Disclosure) -> Record:
    """Return what is true before the call: time, relevant records (null: none), events since the last turn."""
    facts: Record = {"now": iso(turn.now)}
    records = [
        {"entity": entity, "key": key, "record": disclosure.record(entity, turn.view.get(entity, key))}
        for argument, entity in relevant.named
        for key in _keys(turn.call.arguments, argument)
    ]
    if records:
        facts["records"] = records
    if relevant.counted is not None and disclosure.is_counted(relevant.counted):
        facts["count"] = {relevant.counted: turn.view.count(relevant.counted)}
    events = list(_events_since(turn, last, disclosure))
    if events:
        facts["since the last turn"] = events[::-1]
    return facts


def _keys(arguments: Record, path: str) -> list[str | int]:
    """Return the ids in an argument, which may be nested or a list."""
    value: Json = arguments
    for part in path.split("."):
        value = cast("Record", value).get(part) if isinstance(value, dict) else None
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [key for key in values if isinstance(key, str | int) and not isinstance(key, bool)]


def _events_since(turn: Turn, last: Transcript | None, disclosure: Disclosure) -> Iterator[Record]:
    """Yield the writes since the last turn, newest first: those of other calls and of other actors."""
    left = MAX_EVENTS
    for past in reversed(turn.history):
        is_last = last is not None and past.tool != "" and past.index == last.index
        if left == 0 or (last is not None and past.index < last.index):
            return
        if is_last and last is not None:
            if past.changes != last.changes:
                yield {"turn": past.index, "really written": disclosure.written(past.changes)}
            return
        if past.changes:
            left -= 1
            yield {**_actor(past), "written": disclosure.written(past.changes)}


def _actor(past: PastCall) -> Record:
    return {"call": past.tool, "arguments": past.arguments} if past.tool else {"by": "someone else"}
