"""Find the record that a call names: by key, fields, rank, or inside another record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isnan, nan
from typing import TypeAlias, cast

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.ordering import Row
from mcp_sim.backends.refusal import invalid, neighbours, not_found
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.generate.timeline import is_over
from mcp_sim.types import Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan
from mcp_sim.types.time_formats import seconds_of
from mcp_sim.types.views import find_key

Choose: TypeAlias = Callable[[Turn, Sequence[Row]], "Row | None"]
Find: TypeAlias = Callable[[Turn], "Key | Observation"]

_URGENCY = {
    name: rank
    for rank, names in enumerate(("critical blocker", "urgent highest", "high", "medium normal", "low", "lowest"))
    for name in names.split()
}


def finder(tool: Tool, plan: Plan, entity: Entity) -> Find:
    """Compile the lookup of the record that a call names. It returns the key or a failure.

    A singleton needs no key.
    """
    name, only = entity.name, entity.singleton and plan.key is None
    fetch = argument(plan.key or "")

    if plan.key is None and plan.filters and not entity.singleton:
        return _finder_by_fields(tool, plan, entity)
    others = _other_names(plan, entity)

    def find(turn: Turn) -> Key | Observation:
        asked: Json = name if only else fetch(turn.call.arguments)
        key = find_key(turn.view, name, asked)
        if key is None and others:
            named = (one for field in others for one, _ in turn.view.find(name, field, asked))
            key = next(named, None)
        if key is not None:
            return key
        if asked is ABSENT and plan.key is not None:
            return invalid(tool, plan.key, None, f"{plan.key} is required")
        return not_found(tool, name, None if asked is ABSENT else asked, plan.key, neighbours(turn.view, entity))

    return find


def _other_names(plan: Plan, entity: Entity) -> list[str]:
    """Return the fields that an argument may name a record by, besides the key: `name` for `id_or_name`."""
    either = snake(plan.key or "").split("_or_")
    return [name for name in entity.fields if name != entity.key and snake(name) in either[1:] + either[:-1]]


def _finder_by_fields(tool: Tool, plan: Plan, entity: Entity) -> Find:
    """Compile the lookup of the first record that has all given values."""
    asked = [(path, argument(path), rule.field) for path, rule in plan.filters.items()]

    def find(turn: Turn) -> Key | Observation:
        arguments = turn.call.arguments
        given = [(path, field, value) for path, fetch, field in asked if (value := fetch(arguments)) is not ABSENT]
        if not given:
            return invalid(tool, asked[0][0], None, f"{asked[0][0]} is required")
        (path, field, first), *others = given
        for key, record in turn.view.find(entity.name, field, first):
            if all(record.get(name) == value for _, name, value in others):
                return key
        named = (path, first) if not others else (others[-1][0], others[-1][2])
        return not_found(tool, entity.name, named[1], named[0])

    return find


def find_inside(view: View, entity: Entity, value: Json) -> Record | None:
    """Return the record that a value names inside a record of another entity, or None."""
    place = entity.inside
    if place is None or not isinstance(value, str | int) or isinstance(value, bool):
        return None
    holders = view.find(place.entity, f"{place.field}.*.{entity.key}", value)
    parts = (one for _, holder in holders for one in parts_of(holder.get(place.field)))
    return next((one for one in parts if one.get(entity.key) == value), None)


def parts_of(held: Json) -> list[Record]:
    """Return the records that a field holds, as a list or by their keys."""
    return cast("list[Record]", [*held.values()] if isinstance(held, dict) else as_list(held))


def row_chooser(ranking: str, entity: Entity) -> Choose:
    """Compile the choice of one row: random, next, newest or oldest, else the first."""
    if ranking == "random":
        return lambda turn, rows: turn.draws.choice("any", rows) if rows else None
    if ranking == "next":
        urgency = _urgency(entity)
        return lambda _turn, rows: min((row for row in rows if not is_over(row[1])), key=urgency, default=None)
    if ranking in {"newest", "oldest"}:
        made = _time_field(entity)
        seconds = seconds_of({} if made is None else entity.fields[made].schema)
        return lambda _turn, rows: _by_time(rows, made, seconds, newest=ranking == "newest")
    return lambda _turn, rows: rows[0] if rows else None


def _by_time(rows: Sequence[Row], made: str | None, seconds: Callable[[Json], float], *, newest: bool) -> Row | None:
    """Return the newest or oldest row. Without times, or for equal times, the one written last is the newest."""
    times = [seconds(row[1].get(made)) for row in rows] if made is not None else []
    if not times or any(map(isnan, times)):
        return None if not rows else rows[-1 if newest else 0]
    dated = [(time, at) for at, time in enumerate(times)]
    return rows[(max(dated) if newest else min(dated))[1]]


def _time_field(entity: Entity) -> str | None:
    """Return the field with the time of creation, or of the event that a record describes."""
    senses = {name: time_meaning(name, field.schema) for name, field in entity.fields.items()}
    return next((name for wanted in ("created", "occurred") for name, one in senses.items() if one == wanted), None)


def _urgency(entity: Entity) -> Callable[[Row], tuple[int, float]]:
    """Return a sort key: by priority, then by due date. Records without a due date come last."""
    priority = next((name for name in entity.fields if snake(name) in {"priority", "urgency"}), None)
    due = next((f for f in entity.fields.values() if time_meaning(f.name, f.schema) == "future"), None)
    seconds = seconds_of({} if due is None else due.schema)

    def urgency(row: Row) -> tuple[int, float]:
        until = nan if due is None else seconds(row[1].get(due.name))
        return _rank(row[1], priority), inf if isnan(until) else until

    return urgency


def _rank(record: Record, priority: str | None) -> int:
    value = record.get(priority) if priority is not None else None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return _URGENCY.get(snake(str(value)), len(_URGENCY))
