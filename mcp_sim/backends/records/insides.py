"""Is an id among those that another record has, and is there enough of what it names: a card of the customer's?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import cast

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.effects import Check, Consequence, Effect, stepped
from mcp_sim.backends.records.refusals import conflict, invalid, not_found, noun, told
from mcp_sim.generate.named import found_key
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.words import singular
from mcp_sim.types.paths import values_at, with_value
from mcp_sim.types.plans import Among, Plan

_LEFT = ("balance", "amount", "credit")
_PAID = ("amount", "sum", "value")


def kept_among(tool: Tool, plan: Plan) -> Check | None:
    """What forbids a write that names parts of another record: that has none such. None where it names none."""

    def refused(turn: Turn) -> Observation | None:
        before = _record_before(turn, plan)
        found = (_refused(tool, turn, one, before) for one in plan.among)
        return next((why for why in found if why is not None), None)

    return refused if plan.among else None


def _record_before(turn: Turn, plan: Plan) -> Record:
    asked = argument(plan.key or "")(turn.call.arguments)
    key = None if asked is ABSENT else found_key(turn.view, plan.entity or "", asked)
    return {} if key is None else turn.view.get(plan.entity or "", key) or {}


def _refused(tool: Tool, turn: Turn, one: Among, before: Record) -> Observation | None:
    holder = _holder(turn, turn.view, one, before)
    if holder is None:
        return None
    key, record = holder
    for value in values_at(turn.call.arguments, one.argument.split(".")):
        if value is not None and _part(record, one, value) is None:
            whose = f" for {noun(one.entity)} {told(key)}"
            name = singular(one.field) if "_" not in one.field else one.field.removesuffix("s")
            return not_found(tool, name, value, one.argument.rpartition(".")[2], where=whose)
    return None


def _holder(turn: Turn, view: View, one: Among, before: Record) -> tuple[Key, Record] | None:
    asked = argument(one.by)(turn.call.arguments)
    key = found_key(view, one.entity, before.get(one.by) if asked is ABSENT else asked)
    return None if key is None else (key, view.get(one.entity, key) or {})


def _part(record: Record, one: Among, value: Json) -> Record | None:
    """The part that an id names: by its key in a mapping, or by an id of its own in a list."""
    held: Json = record.get(one.field)
    if isinstance(held, dict):
        found: Json = cast("Record", held).get(value) if isinstance(value, str) else None
        return as_object(found) if found is not None else None
    ids = ("id", one.argument.rpartition(".")[2], f"{one.field.removesuffix('s')}_id")
    return next((part for part in map(as_object, as_list(held)) if any(part.get(name) == value for name in ids)), None)


# what is paid with ----------------------------------------------------------------------------------------------------


def paying(tool: Tool, plan: Plan) -> Consequence | None:
    """What is left of what a new record is paid with; refused where that is not enough. None where nothing says it."""

    def paid(turn: Turn, _invent: Invent, effect: Effect) -> Effect | Observation:
        lines = ((one, line) for one in plan.among for line in _lines(turn, one))
        steps = (partial(_less, tool, turn, one=one, line=line) for one, line in lines)
        return stepped(turn, plan.entity or "", effect, steps)

    return paid if plan.among else None


def _lines(turn: Turn, one: Among) -> Iterator[Record]:
    if ".*." in one.argument:
        yield from map(as_object, as_list(turn.call.arguments.get(one.argument.partition(".")[0])))


def _less(tool: Tool, turn: Turn, view: View, *, one: Among, line: Record) -> Change | Observation | None:
    holder, named = _holder(turn, view, one, {}), line.get(one.argument.rpartition(".")[2])
    part = None if holder is None else _part(holder[1], one, named)
    left = next((name for name in _LEFT if part is not None and isinstance(part.get(name), int | float)), None)
    amount = next((line[name] for name in _PAID if isinstance(line.get(name), int | float)), None)
    if holder is None or part is None or left is None or amount is None or not isinstance(named, str):
        return None
    key, record = holder
    if amount < 0:
        return invalid(tool, None, amount, f"{amount} is less than nothing")
    if part[left] < amount:
        why = f"has not enough on {named}: {part[left]} left, {amount} asked for"
        return conflict(tool, one.entity, key, why, field=left)
    if not isinstance(record.get(one.field), dict):
        return None
    spent = with_value(record, (one.field, named, left), round(part[left] - amount, 10))
    return Change("put", one.entity, key, spent, expected=view.version(one.entity, key))
