"""Does a transition agree with the world (rules R1 to R8), whoever predicted it?

Each finding is a sentence that names the rule, the record and the value, so that a model that is asked again knows what
to mend. What a tool's plan does not tell about a result is not judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TypeAlias, cast

from mcp_sim.domain import Domain, Entity, Field, How, Plan
from mcp_sim.schemas import types_of
from mcp_sim.types import Change, Json, Key, Record, ToolResult, Transition, Turn, View

Inspection: TypeAlias = Callable[[Turn, Transition], list[str]]
NOWHERE = object()


def inspection(plan: Plan, domain: Domain) -> Inspection:
    """The checks for one tool, compiled from its plan."""
    entity = domain.entities.get(plan.entity or "")

    def inspect(turn: Turn, transition: Transition) -> list[str]:
        body = transition.observation.body
        changes = (*transition.changes, *transition.pins)
        after = turn.view.after(changes) if changes else turn.view
        written = (
            (
                *_change_problems(turn, plan, changes, after, domain),
                *_set_problems(turn, plan, entity, changes),
            )
            if changes
            else ()
        )
        if entity is None or not isinstance(body, ToolResult) or body.is_error or plan.guessed:
            return list(written)
        shown = _record_problems(body.value, plan, entity, after)
        return list(chain(written, shown, _count_problems(body.value, plan), _echo_problems(body.value, plan, turn)))

    return inspect


def at(value: Json, path: str) -> Any:
    """The value at a dotted path; '' is the whole, NOWHERE where there is none."""
    for part in path.split(".") if path else ():
        if not isinstance(value, dict) or part not in value:
            return NOWHERE
        value = cast("Record", value)[part]
    return value


def _change_problems(turn: Turn, plan: Plan, changes: tuple[Change, ...], after: View, domain: Domain) -> Iterator[str]:
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


def _set_problems(turn: Turn, plan: Plan, entity: Entity | None, changes: tuple[Change, ...]) -> Iterator[str]:
    """Where the one record that a call writes, or an item of a batch, does not say what the arguments said."""
    written = [change for change in changes if change.entity == plan.entity and change.op == "put"]
    parts = {change.part for change in written}
    if plan.verb not in ("create", "update") or len(written) != len(parts) or (plan.each is None and len(written) > 1):
        return
    for change in written:
        arguments = _arguments_of(turn, plan, change)
        for argument, name in plan.sets.items():
            given = at(arguments, argument)
            if given is None and entity is not None and name in entity.fields and not _may_be_null(entity.fields[name]):
                continue
            told = _told(change.record or {}, name)
            if given is not NOWHERE and not _holds(told, given, plan.how.get(name, "set")):
                yield f"R3: {plan.entity} {change.key!r}: {name} is {told!r}, but {given!r} was given"


def _told(record: Record, name: str) -> Json:
    """A field, or what stands at a path into it; None where there is nothing."""
    told = record[name] if name in record else at(record, name)
    return None if told is NOWHERE else told


def _holds(value: Json, given: Json, how: How) -> bool:
    """Does a field say what was given, in the way that it was to get there? A text may say a number."""
    if how == "set" or not isinstance(value, list):
        return how != "set" or value == given or (isinstance(given, int | float) and value == str(given))
    listed, parts = cast("list[Any]", value), cast("list[Any]", given) if isinstance(given, list) else [given]
    return how != "append" or all(part in listed for part in parts)


def _may_be_null(field: Field) -> bool:
    types = types_of(field.schema)
    return not types or "null" in types


def _link_problems(change: Change, entity: Entity, after: View) -> Iterator[str]:
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


def _record_problems(value: Json, plan: Plan, entity: Entity, after: View) -> Iterator[str]:
    for shown in _shown(value, plan):
        key = shown.get(entity.key)
        if not isinstance(key, str | int) or (plan.each is not None and _says_failed(shown)):
            continue
        stored = _stored(after, entity, key)
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


def _stored(after: View, entity: Entity, key: Key) -> Record | None:
    """The record as the world has it, also where it stands inside another."""
    if entity.inside is None:
        return after.get(entity.name, key)
    held = after.find(entity.inside.entity, f"{entity.inside.field}.*.{entity.key}", key)
    parts = (one for _, record in held for one in _elements(record[entity.inside.field]))
    return next((one for one in parts if one.get(entity.key) == key), None)


def _elements(value: Json) -> list[Record]:
    return cast("list[Record]", [*value.values()] if isinstance(value, dict) else value)
