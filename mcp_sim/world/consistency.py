"""Consistency checks: whether a transition agrees with the world (rules R1 to R9), for every world model.

R1: the records that a result shows exist. R2: they show what the world holds. R3: a write sets what the arguments say.
R4: a new record has a new id. R5: links lead to records. R6: a total is not less than the rows. R7: nothing was updated
before it was created. R8: echoed arguments are returned as given. R9: what has happened did so before now.

Each finding is a sentence that names the rule, the record and the value, so that a model that is asked again knows what
to correct. Parts of a result that a tool's plan does not describe are not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import Any, Protocol, TypeAlias, cast

from mcp_sim.types import Change, Json, Key, Record, ToolResult, Transition, Turn, View
from mcp_sim.types.argument_descriptions import unwrap_call, unwrap_tool
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import types_of
from mcp_sim.types.json_values import NOWHERE, decode, value_at
from mcp_sim.types.lexicon.english import is_past_event
from mcp_sim.types.plans import Envelope, How, Plan
from mcp_sim.types.programs import PROGRAM
from mcp_sim.types.result_templates import respelled
from mcp_sim.types.switches import mode_reader
from mcp_sim.types.time_formats import parse_time, seconds_of

Inspection: TypeAlias = Callable[[Turn, Transition], list[str]]
"""Returns the findings about a transition; empty if it agrees with the world."""


def inspection(plan: Plan, domain: Domain) -> Inspection:
    """Compile the checks for one tool from its plan."""
    return _compile(plan, domain, partial(is_chosen, plan))


def firm_inspection(plan: Plan, domain: Domain) -> Inspection:
    """Compile the checks of declared and given facts only: what a plan or an entity merely infers is left out."""
    declared = {name for name, basis in plan.basis.items() if basis.source == "declared"}
    firm = replace(
        plan,
        sets=plan.sets if "sets" in declared else {},
        envelope=plan.envelope if {"envelope", "result"} & declared else Envelope(),
    )
    entities = {
        name: _firm(entity) for name, entity in domain.entities.items() if name in domain.declared | domain.given
    }
    return _compile(firm, replace(domain, entities=entities), partial(is_chosen, plan))


def _firm(entity: Entity) -> Entity:
    fields = {
        name: replace(field, link=None) if field.link_is_guessed else field for name, field in entity.fields.items()
    }
    return replace(entity, fields=fields)


def _compile(plan: Plan, domain: Domain, chosen: Callable[[Turn, Entity, Change], bool]) -> Inspection:
    entity = domain.entities.get(plan.entity or "")
    tool, wrapper = domain.tools[plan.tool], domain.wrappers.get(plan.tool)
    arguments = expanded((tool if wrapper is None else unwrap_tool(tool, wrapper)).input_schema)
    settings, mode_of = settings_of(plan, entity), mode_reader(arguments, {*plan.sets})
    appending = [replace(setting, how="append") for setting in settings]
    is_known = entity is not None and not plan.guessed
    shown_problems = _compile_shown(plan, entity or Entity(""))
    if plan.backend == PROGRAM:
        return lambda _turn, _transition: []  # its own findings are in the ledger: `program_findings`

    def inspect(asked: Turn, transition: Transition) -> list[str]:
        turn = asked if wrapper is None else replace(asked, call=unwrap_call(asked.call, wrapper))
        value = _checked_value(transition.observation.body) if is_known else None
        if not transition.changes and not transition.absorbed:
            return [] if value is None else shown_problems(value, turn, turn.view, transition.unchecked)
        is_appended = mode_of is not None and mode_of(turn.call.arguments) == "append"
        asked_for = appending if is_appended else settings
        changes = (*transition.changes, *transition.absorbed)
        after = RecordsAfter(turn.view, changes)
        problems = write_problems(turn, transition, after, domain, partial(chosen, turn))
        problems += set_problems(turn, plan, asked_for, changes, transition.unchecked)
        return problems if value is None else problems + shown_problems(value, turn, after, transition.unchecked)

    return inspect


def _checked_value(body: object) -> Json:
    """Return the value of a result that may show records; None for failures."""
    if not isinstance(body, ToolResult) or body.is_error or _says_failure(body.value):
        return None
    return body.value


def _compile_shown(plan: Plan, entity: Entity) -> Callable[[Json, Turn, _Records, Unchecked], list[str]]:
    """Compile the checks of what a result shows."""
    envelope, find = plan.envelope, _finder(entity)
    has_records = plan.verb != "delete" and (envelope.record is not None or envelope.rows is not None)
    free = frozenset(name for template in plan.result for name in respelled(template.value))

    def problems(value: Json, turn: Turn, records: _Records, unchecked: Unchecked) -> list[str]:
        wrong = _record_problems(value, plan, entity, find(records), unchecked, free) if has_records else []
        if envelope.total is not None:
            wrong += _count_problems(value, plan)
        if envelope.echoes:
            wrong += _echo_problems(value, plan, turn)
        return wrong

    return problems


def program_findings(turn: Turn, changes: tuple[Change, ...], domain: Domain) -> list[str]:
    """Return where the changes of a program contradict the world: ids used again (R4), new links to nothing (R5).

    A program may bring a removed record back, and give a record an id that its caller chose.
    """
    after = RecordsAfter(turn.view, changes)
    findings = list(id_problems(turn, changes, domain, lambda _, change: _is_restored(turn, change)))
    for change in changes:
        entity = domain.entities.get(change.entity)
        if entity is not None and change.record is not None:
            before = turn.view.get(change.entity, change.key) or {}
            new = {name: value for name, value in change.record.items() if before.get(name) != value}
            findings += link_problems(replace(change, record=new), entity, after)
    return findings


def _is_restored(turn: Turn, change: Change) -> bool:
    """Whether a removed record is written again as it was, but for times and flags, or the caller gave its key."""
    if any(key == change.key for key in _keys_in(turn.call.arguments)):
        return True
    row, after = turn.view.latest_write(change.entity, change.key), change.record
    before = None if row is None else row.removed
    if before is None or after is None:
        return False
    names = {*before, *after}
    return all(before.get(name) == after.get(name) or _may_change(before.get(name), after.get(name)) for name in names)


def _may_change(before: Json, after: Json) -> bool:
    """Whether each of two values is a flag, a time, or missing."""
    return all(value is None or isinstance(value, bool) or parse_time(value) is not None for value in (before, after))


def _keys_in(value: Json) -> Iterator[Key]:
    """Yield the texts and whole numbers in a value."""
    match value:
        case dict():
            yield from chain.from_iterable(map(_keys_in, cast("Record", value).values()))
        case list():
            yield from chain.from_iterable(map(_keys_in, cast("list[Json]", value)))
        case str() | int() if not isinstance(value, bool):
            yield value
        case _:
            pass


class _Records(Protocol):
    """The records that a result may show."""

    def get(self, entity: str, key: Key) -> Record | None: ...

    def find(self, entity: str, field: str, value: Json) -> Sequence[tuple[Key, Record]]: ...


def _finder(entity: Entity) -> Callable[[_Records], Callable[[Key], Record | None]]:
    """Return a function that finds a record among others by its key, also one that is a part of another."""
    inside, name = entity.inside, entity.name
    if inside is None:
        return lambda records: partial(records.get, name)

    def find(records: _Records, key: Key) -> Record | None:
        held = records.find(inside.entity, f"{inside.field}.*.{entity.key}", key)
        parts = (element for _, record in held for element in _elements(record[inside.field]))
        return next((row for row in parts if row.get(entity.key) == key), None)

    return lambda records: partial(find, records)


def _elements(value: Json) -> list[Record]:
    return cast("list[Record]", [*value.values()] if isinstance(value, dict) else value)


# what a result shows --------------------------------------------------------------------------------------------------


def _record_problems(
    value: Json,
    plan: Plan,
    entity: Entity,
    find: Callable[[Key], Record | None],
    unchecked: Unchecked,
    free: AbstractSet[str],
) -> list[str]:
    """Return where shown records do not exist (R1) or differ from the world's (R2).

    `free`: the fields that a result template shows in another form.
    """
    record_problems = list[str]()
    for shown in _shown(value, plan):
        key = shown.get(entity.key)
        if not isinstance(key, str | int) or (plan.each is not None and _is_failed_item(shown)):
            continue
        if unchecked and (entity.name, key, "*") in unchecked:
            continue
        stored = find(key)
        if stored is None:
            record_problems.append(f"R1: {entity.name} {key!r} does not exist")
            continue
        if shown.items() <= stored.items():  # nearly always, and ten times as fast as the loop
            continue
        for name, inner in shown.items():
            is_free = name in free or (entity.name, key, name) in unchecked
            if name in stored and stored[name] != inner and not is_free:
                record_problems.append(f"R2: {entity.name} {key!r}: {name} is {stored[name]!r}, not {inner!r}")
    return record_problems


def _is_failed_item(row: Record) -> bool:
    """Whether this row of a batch reports an item that failed."""
    return bool(row.get("error")) or _says_failure(row)


def _says_failure(value: Json) -> bool:
    """Whether a result says that the call failed: what it shows is then no record."""
    if not isinstance(value, dict):
        return False
    body = cast("Record", value)
    return False in (body.get("success"), body.get("ok"))


def _shown(value: Json, plan: Plan) -> list[Record]:
    """Return the records in a result, at the places that the plan names."""
    envelope = plan.envelope
    places = list[Any]()
    if envelope.record is not None:
        places.append(value_at(value, envelope.record))
    if envelope.rows is not None:
        rows = value_at(value, envelope.rows)
        places += cast("list[Any]", rows) if isinstance(rows, list) else ()
    return [cast("Record", place) for place in places if isinstance(place, dict)]


def _count_problems(value: Json, plan: Plan) -> Iterator[str]:
    envelope = plan.envelope
    if envelope.rows is None or envelope.total is None:
        return
    rows, total = value_at(value, envelope.rows), value_at(value, envelope.total)
    if isinstance(rows, list) and isinstance(total, int) and total < len(cast("list[Any]", rows)):
        yield f"R6: {envelope.total} is {total}, but {len(cast('list[Any]', rows))} are shown"


def _echo_problems(value: Json, plan: Plan, turn: Turn) -> Iterator[str]:
    for path, argument in plan.envelope.echoes.items():
        echo = value_at(value, path)
        if echo is not NOWHERE and argument in turn.call.arguments and echo != turn.call.arguments[argument]:
            yield f"R8: {path} is {echo!r}, but {argument} was given as {turn.call.arguments[argument]!r}"


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
    for place, change in enumerate((*transition.changes, *transition.absorbed)):
        entity, record = domain.entities.get(change.entity), change.record
        if entity is None or record is None:
            continue
        before = view.get(change.entity, change.key)
        if record.get(entity.key, change.key) != change.key:
            problems.append(f"R2: the record under {change.key!r} calls itself {record[entity.key]!r}")
        problems += link_problems(change, entity, after)
        problems += _time_problems(record, entity, turn)
        problems += _future_problems(change, before or {}, turn)
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
    items = cast("list[Any]", listed) if isinstance(listed, list) else [listed]
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


def settings_of(plan: Plan, entity: Entity | None) -> list[Setting]:
    fields: Mapping[str, Field] = entity.fields if entity is not None else {}
    key = entity.key if entity is not None else None
    others = (name for name in plan.sets.values() if name != key)
    nullable = {name for name in others if name not in fields or _may_be_null(fields[name])}
    return [
        Setting(argument, name, plan.how.get(name, "set"), name in nullable)
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
            if not skipped and not _is_set(held, given, setting, settings, arguments):
                yield f"R3: {plan.entity} {change.key!r}: {setting.field} is {held!r}, but {given!r} was given"


def _is_set(held: Json, given: Json, setting: Setting, settings: list[Setting], arguments: Record) -> bool:
    """Whether a field holds what an argument set, if it was given."""
    if given is NOWHERE or (given is None and not setting.may_be_null):
        return True
    if isinstance(given, dict):
        given = {**cast("Record", given), **_set_below(setting, settings, arguments)}
    if setting.how == "set" or not isinstance(held, list):
        return (
            setting.how != "set" or _is_same(held, given) or _is_written_as(held, given) or _is_written_as(given, held)
        )
    listed, parts = cast("list[Any]", held), cast("list[Any]", given) if isinstance(given, list) else [given]
    return setting.how != "append" or all(inner in listed for inner in parts)


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
    """Return the value of a field, or at a path into the record, or None."""
    if "." not in name or name in record:
        return record.get(name)
    held = value_at(record, name)
    return None if held is NOWHERE else held


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
        for key in cast("list[Any]", value) if isinstance(value, list) else [value]:
            if not isinstance(key, dict | list) and after.get(field.link, key) is None:
                yield f"R5: {change.entity} {change.key!r}: {name} {key!r} refers to no {field.link}"


def _time_problems(record: Record, entity: Entity, turn: Turn) -> Iterator[str]:
    """Yield a change before the creation, unless the caller gave one of the times."""
    created, updated = record.get("created_at"), record.get("updated_at")
    if not (isinstance(created, str) and isinstance(updated, str) and len(created) == len(updated)):
        return
    if created > updated and _is_later(created, updated, entity.fields.get("created_at")):
        given = {*_times_in(turn.call.arguments)}
        if parse_time(created) in given or parse_time(updated) in given:
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
