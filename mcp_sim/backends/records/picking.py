"""What does a record look like of which an argument picks an entry: a flight on a day, an article in a size?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias, cast

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.ordering import Row
from mcp_sim.backends.records.refusals import not_found, told
from mcp_sim.types import Json, Key, Observation, Record, Tool, Turn
from mcp_sim.types.plans import Picked, Plan

Pick: TypeAlias = Callable[[Turn, Key, Record], "Record | Observation"]


def picking(tool: Tool, plan: Plan) -> Pick:
    """The record with the entry that the call names in the place of all; the failure that it has no such entry."""
    picked = plan.picked
    if picked is None:
        return lambda _turn, _key, record: record
    fetch = argument(picked.argument)

    def pick(turn: Turn, key: Key, record: Record) -> Record | Observation:
        asked = fetch(turn.call.arguments)
        shown = record if asked is ABSENT else with_entry(record, picked, asked)
        if shown is not None:
            return shown
        return not_found(tool, plan.entity or "", key, plan.key, where=f" on {picked.argument} {told(asked)}")

    return pick


def with_entry(record: Record, picked: Picked, asked: Json) -> Record | None:
    """The record with one entry in the place of the mapping; None where it has no such entry."""
    held: Json = record.get(picked.field)
    entries = cast("Record", held) if isinstance(held, dict) else {}
    if not isinstance(asked, str) or asked not in entries:
        return None
    entry: Json = entries[asked]
    own = {name: value for name, value in record.items() if name != picked.field}
    inner = cast("Record", entry) if isinstance(entry, dict) else {picked.argument: entry}
    return {**own, **{name: value for name, value in inner.items() if name not in own}}


def picked_rows(plan: Plan) -> Callable[[Turn, Sequence[Row]], Sequence[Row]]:
    """The rows that have the entry which the call names, each with it."""
    picked = plan.picked
    fetch = argument(picked.argument if picked is not None else "")

    def rows_with(turn: Turn, rows: Sequence[Row]) -> Sequence[Row]:
        asked = fetch(turn.call.arguments)
        if picked is None or asked is ABSENT:
            return rows
        found = ((key, with_entry(record, picked, asked)) for key, record in rows)
        return [(key, record) for key, record in found if record is not None]

    return rows_with
