"""What a transition writes: whether it agrees with the records before it and with the call (rules R2 to R5, R7, R9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, TypeAlias, cast

from mcp_sim.types import Change, Json, Key, Record, Transition, Turn, View
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import types_of
from mcp_sim.types.json_values import NOWHERE, decode, in_list, value_at
from mcp_sim.types.lexicon.english import is_past_event
from mcp_sim.types.plans import How, Plan
from mcp_sim.types.time_formats import parse_time, seconds_of

Unchecked: TypeAlias = AbstractSet[tuple[str, Key, str]]
"""Entity, key and field of values that are not checked."""

_A_DAY = timedelta(days=1)  # a value without a time zone may be a day ahead of now, without being wrong


class RecordsAfter:
    """The records after a call, without writing anything."""

    __slots__ = ("_before", "_changes", "_records")

    def __init__(self, before: View, changes: tuple[Change, ...]) -> None:
        self._before, self._changes = before, changes
        self._records = {(change.entity, change.key): change.record for change in changes if change.op != "reserve"}

    def get(self, entity: str, key: Key) -> Record | None:
        at = (entity, key)
        return self._records[at] if at in self._records else self._before.get(entity, key)

    def find(self, entity: str, field: str, value: Json) -> Sequence[tuple[Key, Record]]:
        return self._before.after(self._changes).find(entity, field, value)


def write_problems(
    turn: Turn, transition: Transition, after: RecordsAfter, domain: Domain, may_reuse: Callable[[Entity, Change], bool]
) -> list[str]:
    """Return where written records contradict their keys (R2), links (R5) or times (R7, R9), or reuse an id (R4)."""
    view, problems, reused = turn.view, list[str](), list[str]()
    absorbed = len(transition.changes)
    removed = {change.entity: change.key for change in transition.changes if change.op == "remove"}
    for place, change in enumerate((*transition.changes, *transition.absorbed)):
        entity, record = domain.entities.get(change.entity), change.record
        if entity is None or record is None:
            continue
        before = view.get(change.entity, change.key)
        if record.get(entity.key, change.key) != change.key:
            problems.append(f"R2: the record under {change.key!r} calls itself {record[entity.key]!r}")
        problems += link_problems(change, entity, after)
        renamed = view.get(entity.name, removed[entity.name]) if entity.name in removed else None
        former = before or renamed or {}
        problems += _time_problems(record, former, entity, turn)
        problems += _future_problems(change, former, turn)
        if before is None and place < absorbed and _is_reused(turn, entity, change, may_reuse):
            reused.append(f"R4: the id {change.key!r} of the new {change.entity} was used before")
    return problems + reused


def id_problems(
    turn: Turn, changes: tuple[Change, ...], domain: Domain, may_reuse: Callable[[Entity, Change], bool]
) -> Iterator[str]:
    """Yield where a record that the call creates reuses an id (R4). Absorbed records are not new."""
    for change in changes:
        entity = domain.entities.get(change.entity)
        if entity is None or change.record is None:
            continue
        if turn.view.get(change.entity, change.key) is None and _is_reused(turn, entity, change, may_reuse):
            yield f"R4: the id {change.key!r} of the new {change.entity} was used before"


def _is_reused(turn: Turn, entity: Entity, change: Change, may_reuse: Callable[[Entity, Change], bool]) -> bool:
    """Whether the key of a new record was in use before, and may not be used again."""
    if entity.natural or not turn.view.version(change.entity, change.key):
        return False
    return not may_reuse(entity, change)


def is_chosen(plan: Plan, turn: Turn, entity: Entity, change: Change) -> bool:
    """Whether the caller chose the key, by an argument that sets it."""
    chosen = [path for path, name in plan.sets.items() if name == entity.key and plan.entity == entity.name]
    arguments = _arguments_of(turn, plan, change)
    return any(value_at(arguments, path) == change.key for path in (*chosen, *([plan.key] if plan.key else ())))


def _arguments_of(turn: Turn, plan: Plan, change: Change) -> Record:
    """Return the arguments behind a change: those of the call, or of its item of a batch."""
    if not plan.each or change.part is None:
        return turn.call.arguments
    listed = value_at(turn.call.arguments, plan.each)
    items = in_list(listed)
    return _with(turn.call.arguments, plan.each.split("."), items[change.part] if change.part < len(items) else None)


def _with(arguments: Record, path: list[str], item: Json) -> Record:
    head, *rest = path
    inner = cast("Record", arguments.get(head) or {})
    return {**arguments, head: _with(inner, rest, item) if rest else item}


@frozen
class Setting:
    """An argument and the field that it sets."""

    argument: str
    field: str
    how: How
    may_be_null: bool
    link: str | None = None
    """The entity whose records the field refers to; an argument may give their names."""


def settings_of(plan: Plan, entity: Entity | None) -> list[Setting]:
    fields: Mapping[str, Field] = entity.fields if entity is not None else {}
    key = entity.key if entity is not None else None
    others = (name for name in plan.sets.values() if name != key)
    nullable = {name for name in others if name not in fields or _may_be_null(fields[name])}
    return [
        Setting(
            argument,
            name,
            plan.how.get(name, plan.how.get(name.partition(".")[0], "set")),
            name in nullable,
            fields[name].link if name in fields else None,
        )
        for argument, name in plan.sets.items()
        if name != "*"  # the call names the field
    ]


def _may_be_null(field: Field) -> bool:
    types = types_of(field.schema)
    return not types or "null" in types


def set_problems(
    turn: Turn, plan: Plan, settings: list[Setting], changes: tuple[Change, ...], unchecked: Unchecked
) -> Iterator[str]:
    """Yield where the record of a call, or of an item of a batch, differs from the arguments (R3)."""
    written = [change for change in changes if change.entity == plan.entity and change.op == "put"]
    parts = {change.part for change in written}
    if plan.verb not in ("create", "update") or len(written) != len(parts) or (plan.each is None and len(written) > 1):
        return
    for change in written:
        arguments, record = _arguments_of(turn, plan, change), change.record or {}
        for setting in settings:
            given, held = _given(arguments, setting.argument), _held(record, setting.field)
            if given is NOWHERE or (held is given and not isinstance(given, dict)):
                continue
            skipped = (change.entity, change.key, setting.field) in unchecked
            is_set = _is_set(held, given, setting, settings, arguments) or _is_name(turn.view, setting, held, given)
            if not skipped and not is_set:
                yield f"R3: {plan.entity} {change.key!r}: {setting.field} is {held!r}, but {given!r} was given"


def _is_set(held: Json, given: Json, setting: Setting, settings: list[Setting], arguments: Record) -> bool:
    """Whether a field holds what an argument set, if it was given."""
    if given is NOWHERE or (given is None and not setting.may_be_null):
        return True
    if isinstance(given, dict):
        given = {**cast("Record", given), **_set_below(setting, settings, arguments)}
    return _agrees(held, given, setting.how)


def _is_name(view: View, setting: Setting, held: Json, given: Json) -> bool:
    """Whether a field refers to records that have what was given among their values."""
    if setting.link is None:
        return False
    pairs = [*zip(in_list(held), in_list(given), strict=False)]
    named = (view.get(setting.link, key) if isinstance(key, str | int) else None for key, _ in pairs)
    rows = [row or {} for row in named]
    return bool(rows) and all(name in row.values() for row, (_, name) in zip(rows, pairs, strict=True))


def _set_below(setting: Setting, settings: list[Setting], arguments: Record) -> Record:
    """Return what other arguments set in the object that this one gives: `metadata.title` beside `metadata`."""
    begin = f"{setting.field}."
    below = {other.field: value_at(arguments, other.argument) for other in settings if other.field.startswith(begin)}
    return {name.removeprefix(begin): value for name, value in below.items() if value is not NOWHERE}


def _given(arguments: Record, name: str) -> Json:
    """Return the value of an argument, or at a path into the arguments; NOWHERE if it is missing."""
    if "." not in name or name in arguments:
        return arguments.get(name, NOWHERE)
    return value_at(arguments, name)


def _held(record: Record, name: str) -> Json:
    """Return the value of a field, or at a path into the record, or None. Of the rows of a list, return all values."""
    if "." not in name or name in record:
        return record.get(name)
    field, _, inner = name.partition(".")
    rows = record.get(field)
    held = (
        [value_at(row, inner) for row in cast("list[Any]", rows)] if isinstance(rows, list) else value_at(record, name)
    )
    return None if held is NOWHERE else held


def _agrees(value: Json, given: Json, how: How) -> bool:
    """Whether a field holds what was given, in the way that it gets there."""
    if how == "set" or not isinstance(value, list):
        return how != "set" or _is_same(value, given) or _is_written_as(value, given) or _is_written_as(given, value)
    return how != "append" or all(inner in value for inner in in_list(given))


def _is_written_as(text: Json, value: Json) -> bool:
    """Whether a text means the same: a number, a flag, or a day or time of day for a moment."""
    if not isinstance(text, str) or value is None:
        return False
    if isinstance(value, str):
        moment = text.replace(" ", "T")
        return value in {moment, f"{moment}:00", f"{moment}T00:00:00"}
    with suppress(ValueError):
        return decode(text.strip().lower()) == value
    return False


def _is_same(value: Json, given: Json) -> bool:
    """Whether a value is what was given. The server may complete it: a line by its price, a name to an object."""
    if value == given:
        return True
    if isinstance(value, list) and isinstance(given, list):
        lines = cast("list[Any]", value), cast("list[Any]", given)
        return len(lines[0]) == len(lines[1]) and all(map(_is_same, *lines))
    if isinstance(value, list):  # a single value where a list is kept
        return len(cast("list[Any]", value)) == 1 and _is_same(value[0], given)
    if not isinstance(value, dict):
        return False
    known = cast("Record", value)
    if isinstance(given, dict):
        return all(name in known and _is_same(known[name], inner) for name, inner in cast("Record", given).items())
    return given in known.values()


def link_problems(change: Change, entity: Entity, after: RecordsAfter) -> Iterator[str]:
    """Yield links to records that do not exist. Null, an empty text and an object refer to nothing."""
    for name, value in (change.record or {}).items():
        field = entity.fields.get(name)
        if field is None or field.link is None or value in (None, ""):
            continue
        for key in in_list(value):
            if not isinstance(key, dict | list) and after.get(field.link, key) is None:
                yield f"R5: {change.entity} {change.key!r}: {name} {key!r} refers to no {field.link}"


def _time_problems(record: Record, before: Record, entity: Entity, turn: Turn) -> Iterator[str]:
    """Yield a change before the creation, unless the caller gave one of the times, or the record a creation to come."""
    created, updated = record.get("created_at"), record.get("updated_at")
    if not (isinstance(created, str) and isinstance(updated, str) and len(created) == len(updated)):
        return
    if created > updated and _is_later(created, updated, entity.fields.get("created_at")):
        given, moment = {*_times_in(turn.call.arguments)}, parse_time(created)
        is_to_come = created == before.get("created_at") and moment is not None and moment > turn.now
        if moment in given or parse_time(updated) in given or is_to_come:
            return
        yield f"R7: {entity.name} {record.get(entity.key)!r} was updated at {updated}, but created at {created}"


def _future_problems(change: Change, before: Record, turn: Turn) -> Iterator[str]:
    """Yield times of past events that a call writes, and that lie more than a day in the future (R9).

    Those that the record had before, or that the arguments give, are not the world's own.
    """
    record = change.record or {}
    for name in filter(is_past_event, record):
        value = record[name]
        moment = parse_time(value) if value is not None and value != before.get(name) else None
        if moment is not None and moment - turn.now > _A_DAY and moment not in _times_in(turn.call.arguments):
            yield f"R9: {change.entity} {change.key!r}: {name} is {value!r}, later than now"


def _times_in(value: Json) -> Iterator[datetime | None]:
    """Yield the times within a value."""
    if isinstance(value, dict | list):
        parts = cast("Record", value).values() if isinstance(value, dict) else cast("list[Json]", value)
        yield from chain.from_iterable(map(_times_in, parts))
    else:
        yield parse_time(value)


def _is_later(left: str, right: str, field: Field | None) -> bool:
    """Whether a time is later than another one; their format may be one whose texts are in another order."""
    seconds = seconds_of(field.schema if field is not None else {})
    return not seconds(left) <= seconds(right)
