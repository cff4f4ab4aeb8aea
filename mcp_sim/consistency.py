"""Does a transition agree with the world (rules R1 to R8), whoever predicted it?

Each finding is a sentence that names the rule, the record and the value, so that a model that is asked again knows what
to mend. What a tool's plan does not tell about a result is not judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeAlias, cast

from mcp_sim.domain import Domain, Entity, Field, How, Plan
from mcp_sim.schemas import types_of
from mcp_sim.types import Change, Json, Key, Record, ToolResult, Transition, Turn, View
from mcp_sim.wrapping import inner_call

Inspection: TypeAlias = Callable[[Turn, Transition], list[str]]
NOWHERE = object()


def inspection(plan: Plan, domain: Domain) -> Inspection:
    """The checks for one tool, compiled from its plan."""
    entity = domain.entities.get(plan.entity or "")
    sets, within = _sets(plan, entity), plan.within

    def inspect(asked: Turn, transition: Transition) -> list[str]:
        turn = asked if within is None else replace(asked, call=inner_call(asked.call, within))
        body = transition.observation.body
        changes = (*transition.changes, *transition.pins)
        after = _After(turn.view, changes)
        written = (
            (
                *_change_problems(turn, plan, changes, after, domain),
                *_set_problems(turn, plan, sets, changes),
            )
            if changes
            else ()
        )
        if entity is None or not isinstance(body, ToolResult) or body.is_error or plan.guessed:
            return list(written)
        shown = _record_problems(body.value, plan, entity, after)
        return list(chain(written, shown, _count_problems(body.value, plan), _echo_problems(body.value, plan, turn)))

    return inspect


class _After:
    """The world as it is after a call, for whoever asks for records by their keys: nothing is written for that."""

    __slots__ = ("_before", "_changes", "_records")

    def __init__(self, before: View, changes: tuple[Change, ...]) -> None:
        self._before, self._changes = before, changes
        self._records = {(one.entity, one.key): one.record for one in changes if one.op != "reserve"}

    def get(self, entity: str, key: Key) -> Record | None:
        at = (entity, key)
        return self._records[at] if at in self._records else self._before.get(entity, key)

    def find(self, entity: str, field: str, value: Json) -> Sequence[tuple[Key, Record]]:
        return self._before.after(self._changes).find(entity, field, value)


def at(value: Json, path: str) -> Any:
    """The value at a dotted path; '' is the whole, NOWHERE where there is none."""
    for part in path.split(".") if path else ():
        if not isinstance(value, dict) or part not in value:
            return NOWHERE
        value = cast("Record", value)[part]
    return value


def _change_problems(
    turn: Turn, plan: Plan, changes: tuple[Change, ...], after: _After, domain: Domain
) -> Iterator[str]:
    for change in changes:
        entity = domain.entities.get(change.entity)
        if entity is None or change.record is None:
            continue
        if change.record.get(entity.key, change.key) != change.key:
            yield f"R2: the record under {change.key!r} calls itself {change.record[entity.key]!r}"
        is_new = not entity.natural and turn.view.get(change.entity, change.key) is None
        if is_new and turn.view.version(change.entity, change.key) and not _is_chosen(turn, plan, entity, change):
            yield f"R4: the id {change.key!r} of the new {change.entity} was used before"
        yield from _link_problems(change, entity, after)
        yield from _time_problems(change.record, entity)


def _is_chosen(turn: Turn, plan: Plan, entity: Entity, change: Change) -> bool:
    """Did the caller choose the key, by an argument that sets it?"""
    chosen = [path for path, name in plan.sets.items() if name == entity.key and plan.entity == entity.name]
    arguments = _arguments_of(turn, plan, change)
    return any(at(arguments, path) == change.key for path in (*chosen, *([plan.key] if plan.key else ())))


def _arguments_of(turn: Turn, plan: Plan, change: Change) -> Record:
    """The arguments that a change is made of: those of the call, or of its item of a batch."""
    if plan.each is None or change.part is None:
        return turn.call.arguments
    listed = at(turn.call.arguments, plan.each)
    items = cast("list[Any]", listed) if isinstance(listed, list) else [listed]
    return _with(turn.call.arguments, plan.each.split("."), items[change.part] if change.part < len(items) else None)


def _with(arguments: Record, path: list[str], item: Json) -> Record:
    head, *rest = path
    inner = cast("Record", arguments.get(head) or {})
    return {**arguments, head: _with(inner, rest, item) if rest else item}


@dataclass(frozen=True, slots=True)
class _Set:
    """An argument and the field that it sets."""

    argument: str
    field: str
    how: How
    may_be_null: bool


def _sets(plan: Plan, entity: Entity | None) -> list[_Set]:
    fields: Mapping[str, Field] = entity.fields if entity is not None else {}
    return [
        _Set(argument, name, plan.how.get(name, "set"), name not in fields or _may_be_null(fields[name]))
        for argument, name in plan.sets.items()
    ]


def _set_problems(turn: Turn, plan: Plan, sets: list[_Set], changes: tuple[Change, ...]) -> Iterator[str]:
    """Where the one record that a call writes, or an item of a batch, does not say what the arguments said."""
    written = [change for change in changes if change.entity == plan.entity and change.op == "put"]
    parts = {change.part for change in written}
    if plan.verb not in ("create", "update") or len(written) != len(parts) or (plan.each is None and len(written) > 1):
        return
    for change in written:
        arguments = _arguments_of(turn, plan, change)
        for rule in sets:
            given = at(arguments, rule.argument)
            if given is NOWHERE or (given is None and not rule.may_be_null):
                continue
            told = _told(change.record or {}, rule.field)
            if not _holds(told, given, rule.how):
                yield f"R3: {plan.entity} {change.key!r}: {rule.field} is {told!r}, but {given!r} was given"


def _told(record: Record, name: str) -> Json:
    """A field, or what stands at a path into it; None where there is nothing."""
    told = record[name] if name in record else at(record, name)
    return None if told is NOWHERE else told


def _holds(value: Json, given: Json, how: How) -> bool:
    """Does a field say what was given, in the way that it was to get there? A text may say a number."""
    if how == "set" or not isinstance(value, list):
        return how != "set" or _says(value, given) or (isinstance(given, int | float) and value == str(given))
    listed, parts = cast("list[Any]", value), cast("list[Any]", given) if isinstance(given, list) else [given]
    return how != "append" or all(part in listed for part in parts)


def _says(value: Json, given: Json) -> bool:
    """Is it what was given? Of a line of a list more may be known than was given: its price."""
    if value == given or not (isinstance(value, list) and isinstance(given, list)):
        return value == given
    lines = cast("list[Any]", value), cast("list[Any]", given)
    return len(lines[0]) == len(lines[1]) and all(map(_completes, *lines))


def _completes(line: Json, given: Json) -> bool:
    if not (isinstance(line, dict) and isinstance(given, dict)):
        return line == given
    known = cast("Record", line)
    return all(name in known and known[name] == said for name, said in cast("Record", given).items())


def _may_be_null(field: Field) -> bool:
    types = types_of(field.schema)
    return not types or "null" in types


def _link_problems(change: Change, entity: Entity, after: _After) -> Iterator[str]:
    for name, value in (change.record or {}).items():
        field = entity.fields.get(name)
        if field is None or field.link is None or value is None:
            continue
        for key in cast("list[Any]", value) if isinstance(value, list) else [value]:
            if after.get(field.link, key) is None:
                yield f"R5: {change.entity} {change.key!r}: {name} {key!r} refers to no {field.link}"


def _time_problems(record: Record, entity: Entity) -> Iterator[str]:
    created, updated = record.get("created_at"), record.get("updated_at")
    if isinstance(created, str) and isinstance(updated, str) and len(created) == len(updated) and created > updated:
        yield f"R7: {entity.name} {record.get(entity.key)!r} was updated at {updated}, but created at {created}"


def _record_problems(value: Json, plan: Plan, entity: Entity, after: _After) -> Iterator[str]:
    find = _finder(after, entity)
    for shown in _shown(value, plan):
        key = shown.get(entity.key)
        if not isinstance(key, str | int) or (plan.each is not None and _says_failed(shown)):
            continue
        stored = find(key)
        if stored is None:
            yield f"R1: {entity.name} {key!r} does not exist"
            continue
        for name, told in shown.items():
            if name in stored and stored[name] != told:
                yield f"R2: {entity.name} {key!r}: {name} is {stored[name]!r}, not {told!r}"


def _says_failed(row: Record) -> bool:
    """Is this a row of a batch for an item that could not be done?"""
    return bool(row.get("error")) or row.get("success") is False or row.get("ok") is False


def _shown(value: Json, plan: Plan) -> Iterator[Record]:
    """The records in a result, where the plan says they stand."""
    envelope = plan.envelope
    if envelope.record is not None and plan.verb != "delete":
        record = at(value, envelope.record)
        if isinstance(record, dict):
            yield cast("Record", record)
    if envelope.rows is not None and plan.verb != "delete":
        rows = at(value, envelope.rows)
        for row in cast("list[Any]", rows) if isinstance(rows, list) else ():
            if isinstance(row, dict):
                yield cast("Record", row)


def _count_problems(value: Json, plan: Plan) -> Iterator[str]:
    envelope = plan.envelope
    if envelope.rows is None or envelope.total is None:
        return
    rows, total = at(value, envelope.rows), at(value, envelope.total)
    if isinstance(rows, list) and isinstance(total, int) and total < len(cast("list[Any]", rows)):
        yield f"R6: {envelope.total} is {total}, but {len(cast('list[Any]', rows))} are shown"


def _echo_problems(value: Json, plan: Plan, turn: Turn) -> Iterator[str]:
    for path, argument in plan.envelope.echoes.items():
        told = at(value, path)
        if told is not NOWHERE and argument in turn.call.arguments and told != turn.call.arguments[argument]:
            yield f"R8: {path} is {told!r}, but {argument} was given as {turn.call.arguments[argument]!r}"


def _finder(after: _After, entity: Entity) -> Callable[[Key], Record | None]:
    """The records as the world has them, by key, also where they stand inside others."""
    inside, name = entity.inside, entity.name
    if inside is None:
        return lambda key: after.get(name, key)

    def find(key: Key) -> Record | None:
        held = after.find(inside.entity, f"{inside.field}.*.{entity.key}", key)
        parts = (one for _, record in held for one in _elements(record[inside.field]))
        return next((one for one in parts if one.get(entity.key) == key), None)

    return find


def _elements(value: Json) -> list[Record]:
    return cast("list[Record]", [*value.values()] if isinstance(value, dict) else value)
