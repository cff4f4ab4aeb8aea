"""Effects of a write on other records: counters, states, balances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import cast

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.effects import Check, Consequence, Effect, Step, apply_steps
from mcp_sim.backends.records.field_changes import Refused, enter_value, state_check
from mcp_sim.backends.refusal import conflict, invalid, not_found, noun, value_text
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import values_at, with_value
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import singular, snake
from mcp_sim.types.plans import Also, Among, Plan
from mcp_sim.types.views import find_key

_LEFT = ("balance", "amount", "credit")
_PAID = ("amount", "sum", "value")


def side_effects(tool: Tool, plan: Plan, domain: Domain) -> Consequence | None:
    """Compile the effects of a write on other records, or return None if it has none."""
    rules = [_Rule(tool, plan, one, domain) for one in plan.also if one.entity in domain.entities]

    def done_elsewhere(turn: Turn, _invent: Invent, effect: Effect) -> Effect | Observation:
        return apply_steps(
            turn, plan.entity or "", effect, (step for rule in rules for step in rule.steps(turn, effect))
        )

    return done_elsewhere if rules else None


class _Rule:
    """One effect on another entity, compiled."""

    def __init__(self, tool: Tool, plan: Plan, also: Also, domain: Domain) -> None:
        self.tool, self.also, self.entity = tool, also, domain.entities[also.entity]
        self.field = self.entity.fields.get(also.field) or Field(also.field, {})
        self.moves = plan.verb == "update" and plan.entity == also.entity
        self.check_state = state_check(tool, replace(plan, fixed={})) if self.moves else None

    def steps(self, turn: Turn, effect: Effect) -> Iterator[Step]:
        for asked, value in self._targets(turn, effect.record):
            yield partial(self._change, asked=asked, value=value, effect=effect)

    def _targets(self, turn: Turn, record: Record) -> Iterator[tuple[Json, Json]]:
        """Yield the records that a call names, each with the value for its field."""
        key, value = self.also.key, self.also.value
        lines, _, part = (key or "").partition(".")
        listed: Json = _named(turn, record, lines) if part else ABSENT
        if not isinstance(listed, list):
            asked = self.entity.name if key is None else _named(turn, record, key)
            yield asked, self.also.fixed if value is None else _named(turn, record, value)
            return
        for line in map(as_object, cast("list[Json]", listed)):
            count = ABSENT if value is None else argument(value.partition(".")[2])(line)
            yield argument(part)(line), self.also.fixed if count is ABSENT else count

    def _change(self, view: View, asked: Json, value: Json, effect: Effect) -> Change | Observation | None:
        """Return the change, a failure, or None if the call names no record or its field counts nothing."""
        name = self.entity.name
        if asked is ABSENT or asked is None or value is ABSENT or value is None:
            return None
        key = find_key(view, name, asked)
        if key is None:
            return not_found(self.tool, name, asked, self.also.key)
        before = view.get(name, key) or {}
        refused = self._refused(key, before, effect) or self._unmet_requirement(key, before)
        if refused is not None:
            return refused
        if self.also.how == "subtract" and before.get(self.field.name, 0) is None:
            return None
        found = enter_value(before.get(self.field.name), value, self.also.how, self.field)
        if isinstance(found, Refused):
            return conflict(self.tool, name, key, found.why, field=self.field.name)
        return Change("put", name, key, {**before, self.field.name: found}, expected=view.version(name, key))

    def _refused(self, key: Key, before: Record, effect: Effect) -> Observation | None:
        """Return the failure if the target is the written record itself, or is in the wrong state."""
        if self.moves and key == effect.key:
            return conflict(self.tool, self.entity.name, key, "cannot receive from itself")
        return None if self.check_state is None else self.check_state(key, before)

    def _unmet_requirement(self, key: Key, before: Record) -> Observation | None:
        """Return the failure if the target does not have the required value."""
        needed, field = self.also.requires, self.field.name
        if needed is None or equal(before.get(field), needed):
            return None
        wanted = (needed if isinstance(needed, str) else snake(field).removeprefix("is_")).replace("_", " ")
        return conflict(self.tool, self.entity.name, key, f"is not {wanted}", status=before.get(field))


def _named(turn: Turn, record: Record, name: str) -> Json:
    """Return an argument of the call, else the field of the written record."""
    given = argument(name)(turn.call.arguments)
    return record.get(name, ABSENT) if given is ABSENT else given


def membership_check(tool: Tool, plan: Plan) -> Check | None:
    """Compile the check that parts named by a call belong to another record, or return None if it names none."""

    def refused(turn: Turn) -> Observation | None:
        before = _record_before(turn, plan)
        found = (_refused(tool, turn, one, before) for one in plan.among)
        return next((why for why in found if why is not None), None)

    return refused if plan.among else None


def _record_before(turn: Turn, plan: Plan) -> Record:
    asked = argument(plan.key or "")(turn.call.arguments)
    key = None if asked is ABSENT else find_key(turn.view, plan.entity or "", asked)
    return {} if key is None else turn.view.get(plan.entity or "", key) or {}


def _refused(tool: Tool, turn: Turn, one: Among, before: Record) -> Observation | None:
    holder = _holder(turn, turn.view, one, before)
    if holder is None:
        return None
    key, record = holder
    for value in values_at(turn.call.arguments, one.argument.split(".")):
        if value is not None and _part(record, one, value) is None:
            whose = f" for {noun(one.entity)} {value_text(key)}"
            name = singular(one.field) if "_" not in one.field else one.field.removesuffix("s")
            return not_found(tool, name, value, one.argument.rpartition(".")[2], where=whose)
    return None


def _holder(turn: Turn, view: View, one: Among, before: Record) -> tuple[Key, Record] | None:
    asked = argument(one.by)(turn.call.arguments)
    key = find_key(view, one.entity, before.get(one.by) if asked is ABSENT else asked)
    return None if key is None else (key, view.get(one.entity, key) or {})


def _part(record: Record, one: Among, value: Json) -> Record | None:
    """Return the part with an id: by its key in a mapping, or by its own id in a list."""
    held: Json = record.get(one.field)
    if isinstance(held, dict):
        found: Json = cast("Record", held).get(value) if isinstance(value, str) else None
        return as_object(found) if found is not None else None
    ids = ("id", one.argument.rpartition(".")[2], f"{one.field.removesuffix('s')}_id")
    return next((part for part in map(as_object, as_list(held)) if any(part.get(name) == value for name in ids)), None)


# what is paid with ----------------------------------------------------------------------------------------------------


def payment_consequence(tool: Tool, plan: Plan) -> Consequence | None:
    """Compile what a new record takes from its means of payment, or return None. Fails if too little is left."""

    def paid(turn: Turn, _invent: Invent, effect: Effect) -> Effect | Observation:
        lines = ((one, line) for one in plan.among for line in _lines(turn, one))
        steps = (partial(_less, tool, turn, one=one, line=line) for one, line in lines)
        return apply_steps(turn, plan.entity or "", effect, steps)

    return paid if plan.among else None


def _lines(turn: Turn, one: Among) -> Iterator[Record]:
    if ".*." in one.argument:
        yield from map(as_object, as_list(turn.call.arguments.get(one.argument.partition(".")[0])))


def _less(tool: Tool, turn: Turn, view: View, *, one: Among, line: Record) -> Change | Observation | None:
    holder, named = _holder(turn, view, one, {}), line.get(one.argument.rpartition(".")[2])
    paid = _first_number(line, _PAID)
    if holder is None or paid is None or not isinstance(named, str):
        return None
    (key, record), amount = holder, line[paid]
    part = _part(record, one, named) or {}
    left = _first_number(part, _LEFT)
    if left is None:
        return None
    if amount < 0:
        return invalid(tool, None, amount, f"{amount} is less than nothing")
    if part[left] < amount:
        why = f"has not enough on {named}: {part[left]} left, {amount} asked for"
        return conflict(tool, one.entity, key, why, field=left)
    if not isinstance(record.get(one.field), dict):
        return None
    spent = with_value(record, (one.field, named, left), round(part[left] - amount, 10))
    return Change("put", one.entity, key, spent, expected=view.version(one.entity, key))


def _first_number(body: Record, names: Iterable[str]) -> str | None:
    """Return the first of the names under which there is a number."""
    return next((name for name in names if isinstance(body.get(name), int | float)), None)
