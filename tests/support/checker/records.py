"""R1, R2, R5, R7, R8: a record in an answer agrees with all known facts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import cast

from support.checker.knowledge import Fact, Key, Knowledge
from support.checker.ledger import Answered, Json, Record
from support.checker.moments import grain, moment
from support.checker.specs import NOWHERE, READS, Specs, given, given_key, is_set_whole, shown, shown_record

Finding = tuple[str, str]

_CREATED = ("created_at", "createdAt", "created", "date_created", "created_on", "creation_time", "create_time")
_UPDATED = ("updated_at", "updatedAt", "updated", "date_updated", "modified_at", "modified", "last_modified")


def record_problems(plan: Record, call: Answered, specs: Specs, knowledge: Knowledge) -> Iterator[Finding]:
    """Yield the violations of the records in a result, and learn what they show."""
    entity = plan["entity"]
    name = specs.key_of(entity)
    for record in shown(plan, call):
        key = record.get(name)
        if not isinstance(key, str | int) or isinstance(key, bool):
            continue
        if knowledge.is_absent(entity, key):
            yield "R1", f"{entity} {key!r} is shown, but there is none"
            continue
        fact = knowledge.of(entity, key)
        if fact is not None:
            yield from _differing(entity, key, record, fact, knowledge.version)
        yield from _link_problems(entity, record, specs, knowledge)
        yield from _sum_problems(entity, key, record)
        yield from time_problems(entity, key, record, call.at)
        _learn(entity, key, record, specs, knowledge)
    yield from _asked_problems(plan, call, specs)


def missing_problems(plan: Record, call: Answered, specs: Specs, knowledge: Knowledge) -> Iterator[Finding]:
    """Check that existing records are found and deleted ones are not."""
    key = given_key(plan, call)
    if key is None or plan["verb"] not in {"get", "update", "delete"}:
        return
    entity = plan["entity"]
    fact = knowledge.of(entity, key)
    if not call.failed and fact is not None and not fact.exists and not call.written:
        yield "R1", f"{plan['verb']} of {entity} {key!r} succeeds, but it is gone"
    if fact is None or not fact.exists:
        return
    parents = _other_parents(plan, call, fact)
    if parents and not call.failed:
        yield "R2", f"{plan['verb']} of {entity} {key!r} succeeds, but it belongs to {parents}"
    if call.is_missing and parents == {} and _is_about(key, call, specs.key_of(entity)):
        yield ("R5" if fact.referred else "R3" if fact.made else "R2"), f"{entity} {key!r} exists, but is not found"


def _other_parents(plan: Record, call: Answered, fact: Fact) -> Record | None:
    """Return the known parents of a record that differ from those that a change names; None if some are unknown."""
    rules = plan["filters"].items() if plan["verb"] in {"update", "delete"} else ()
    asked = {rule["field"]: call.arguments[name] for name, rule in rules if name in call.arguments}
    if not fact.is_whole and not asked.keys() <= fact.fields.keys():
        return None
    return {name: held for name, wanted in asked.items() if (held := fact.fields.get(name)) not in (None, wanted)}


def time_problems(entity: str, key: Key, record: Record, now: str) -> Iterator[Finding]:
    """Check the order of creation, update and now."""
    present = moment(now)
    created, updated = _first(record, _CREATED), _first(record, _UPDATED)
    for what in (created, updated):
        when = moment(what)
        if when is not None and present is not None and when > present + timedelta(seconds=grain(what)):
            yield "R7", f"{entity} {key!r} tells of {what}, and it is {now}"
    early, late = moment(created), moment(updated)
    if early is not None and late is not None and early > late + timedelta(seconds=max(grain(created), grain(updated))):
        yield "R7", f"{entity} {key!r} was updated at {updated}, but created at {created}"


def _differing(entity: str, key: Key, record: Record, fact: Fact, version: int) -> Iterator[Finding]:
    """Yield fields that differ from what was written or shown before."""
    for name, value in record.items():
        if name in fact.written:
            if not _same(fact.written[name], value):
                yield "R3", f"{entity} {key!r}: {name} is {value!r}, but {fact.written[name]!r} was written"
        elif name in fact.answered:
            if not _same(fact.answered[name], value):
                yield "R2", f"{entity} {key!r}: {name} is {value!r}, and was {fact.answered[name]!r}"
        elif name in fact.fleeting:
            then, before = fact.fleeting[name]
            if then == version and not _same(before, value):
                yield "R2", f"{entity} {key!r}: {name} is {value!r}, and was {before!r} though nothing was written"


def _link_problems(entity: str, record: Record, specs: Specs, knowledge: Knowledge) -> Iterator[Finding]:
    for name, target in specs.links(entity):
        value = record.get(name)
        for key in cast("list[Json]", value) if isinstance(value, list) else [value]:
            if not isinstance(key, str | int) or isinstance(key, bool):
                continue
            if knowledge.is_absent(target, key):
                yield "R5", f"{entity} {record.get(specs.key_of(entity))!r}: {name} {key!r} is no {target}"
            else:
                knowledge.refer(target, key)


def _sum_problems(entity: str, key: Key, record: Record) -> Iterator[Finding]:
    """Check R6 within a record: `item_count` beside a list of items counts them."""
    for name, value in record.items():
        if isinstance(value, list) and name.endswith("s"):
            answered = record.get(f"{name[:-1]}_count", record.get(f"{name}_count"))
            count = len(cast("list[Json]", value))
            if isinstance(answered, int) and answered != count:
                yield "R6", f"{entity} {key!r} says {answered} {name}, and shows {count}"


def _asked_problems(plan: Record, call: Answered, specs: Specs) -> Iterator[Finding]:
    """Check R8: values fixed by arguments are returned as given."""
    record, key = shown_record(plan, call), given_key(plan, call)
    if record is None:
        return
    name = specs.key_of(plan["entity"])
    renamed = [given(call, argument) for argument, field in plan["sets"].items() if field == name]
    is_other = name in record and key not in record.values() and str(key) != str(record[name])
    if key is not None and is_other and record[name] not in renamed:
        yield "R8", f"{plan['entity']} {key!r} was asked for, and {record[name]!r} is shown"
    if plan["verb"] in READS:
        return
    for argument, field in plan["sets"].items():
        value = given(call, argument)
        is_set = is_set_whole(plan, field)
        if value is not NOWHERE and field in record and is_set and not _says(record[field], value):
            yield "R8", f"{field} is {record[field]!r}, but {argument} was given as {value!r}"


def _learn(entity: str, key: Key, record: Record, specs: Specs, knowledge: Knowledge) -> None:
    stored = {name: value for name, value in record.items() if specs.is_plain(entity, name)}
    other = {name: value for name, value in record.items() if name not in stored}
    knowledge.show(entity, key, stored, other)


def _is_about(key: Key, call: Answered, name: str) -> bool:
    """Whether a failure mentions this key, and not another given one."""
    return str(key) in call.text or len(call.arguments) == 1


def _first(record: Record, names: tuple[str, ...]) -> Json:
    return next((record[name] for name in names if record.get(name) is not None), None)


def _says(answered: Json, asked: Json) -> bool:
    """Whether a value is the given one, or the text of a given number."""
    is_number = isinstance(asked, int | float) and not isinstance(asked, bool)
    return _same(answered, asked) or (is_number and answered == str(asked))


def _same(left: Json, right: Json) -> bool:
    return left == right and isinstance(left, bool) == isinstance(right, bool)
