"""Do changes agree with each other, with the world, and with the arguments (R2 to R5, R7)?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from mcp_sim.types import Change, Json, Record, Turn
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import types_of
from mcp_sim.types.json_values import decode
from mcp_sim.types.plans import How, Plan
from mcp_sim.world.consistency.after import After
from mcp_sim.world.consistency.places import NOWHERE, at


def change_problems(turn: Turn, plan: Plan, changes: tuple[Change, ...], after: After, domain: Domain) -> Iterator[str]:
    """Where a record that is written belies its key, its links or its times, or takes an id that was used before."""
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
class Setting:
    """An argument and the field that it sets."""

    argument: str
    field: str
    how: How
    may_be_null: bool


def settings_of(plan: Plan, entity: Entity | None) -> list[Setting]:
    """What the arguments of a tool set, by its plan."""
    fields: Mapping[str, Field] = entity.fields if entity is not None else {}
    return [
        Setting(argument, name, plan.how.get(name, "set"), name not in fields or _may_be_null(fields[name]))
        for argument, name in plan.sets.items()
    ]


def set_problems(turn: Turn, plan: Plan, sets: list[Setting], changes: tuple[Change, ...]) -> Iterator[str]:
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
            told, beside = _told(change.record or {}, rule.field), _set_within(rule, sets, arguments)
            if not _holds(told, {**given, **beside} if beside and isinstance(given, dict) else given, rule.how):
                yield f"R3: {plan.entity} {change.key!r}: {rule.field} is {told!r}, but {given!r} was given"


def _set_within(rule: Setting, sets: list[Setting], arguments: Record) -> Record:
    """What other arguments set in the object that this one gives: `metadata.title` beside `metadata`."""
    begin = f"{rule.field}."
    within = {one.field: at(arguments, one.argument) for one in sets if one.field.startswith(begin)}
    return {name.removeprefix(begin): value for name, value in within.items() if value is not NOWHERE}


def _told(record: Record, name: str) -> Json:
    """A field, or what stands at a path into it; None where there is nothing."""
    told = record[name] if name in record else at(record, name)
    return None if told is NOWHERE else told


def _holds(value: Json, given: Json, how: How) -> bool:
    """Does a field say what was given, in the way that it was to get there?"""
    if how == "set" or not isinstance(value, list):
        return how != "set" or _says(value, given) or _is_written_as(value, given) or _is_written_as(given, value)
    listed, parts = cast("list[Any]", value), cast("list[Any]", given) if isinstance(given, list) else [given]
    return how != "append" or all(part in listed for part in parts)


def _is_written_as(text: Json, value: Json) -> bool:
    """Is it a text that says the same: a number, a flag, a day or a time of a day for a moment?"""
    if not isinstance(text, str) or value is None:
        return False
    if isinstance(value, str):
        moment = text.replace(" ", "T")
        return value in {moment, f"{moment}:00", f"{moment}T00:00:00"}
    with suppress(ValueError):
        return decode(text.strip().lower()) == value
    return False


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


def _link_problems(change: Change, entity: Entity, after: After) -> Iterator[str]:
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
