"""Consistency checks: whether a transition agrees with the world (rules R1 to R9), for every world model.

R1: the records that a result shows exist. R2: they show what the world holds. R3: a write sets what the arguments say.
R4: a new record has a new id. R5: links lead to records. R6: a total is not less than the rows. R7: nothing was updated
before it was created. R8: echoed arguments are returned as given. R9: what has happened did so before now.

Each finding is a sentence that names the rule, the record and the value, so that a model that is asked again knows what
to correct. Parts of a result that a tool's plan does not describe are not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Protocol, TypeAlias, cast

from mcp_sim.types import Change, Json, Key, Record, ToolResult, Transition, Turn
from mcp_sim.types.argument_descriptions import mode_reader, unwrap_call, unwrap_tool
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_values import NOWHERE, value_at
from mcp_sim.types.plans import Envelope, Plan
from mcp_sim.types.programs import PROGRAM
from mcp_sim.types.result_templates import respelled
from mcp_sim.types.time_formats import parse_time
from mcp_sim.world.written_checks import (
    RecordsAfter,
    Unchecked,
    id_problems,
    is_chosen,
    link_problems,
    set_problems,
    settings_of,
    write_problems,
)

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
        name: _firm(entity, is_declared=name in domain.declared)
        for name, entity in domain.entities.items()
        if name in domain.declared | domain.given
    }
    return _compile(firm, replace(domain, entities=entities), partial(is_chosen, plan))


def _firm(entity: Entity, *, is_declared: bool) -> Entity:
    """Return the entity without links that are guessed. So is that of a key which a create may have to generate."""
    fields = {
        name: replace(field, link=None) if field.link_is_guessed or (name == entity.key and not is_declared) else field
        for name, field in entity.fields.items()
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
        parts = (element for _, record in held for element in _elements(value_at(record, inside.field)))
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
        has_failed = plan.each is not None and (shown.get("error") or _says_failure(shown))  # this item of a batch
        if not isinstance(key, str | int) or has_failed:
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
