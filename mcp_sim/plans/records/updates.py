"""Update records: the given fields, the time of the change, versions and changed keys."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import cast

from mcp_sim.generate.coherence import payment_fields
from mcp_sim.generate.defaults import settling
from mcp_sim.generate.edits import VERSION
from mcp_sim.generate.periods import find_period, shifted
from mcp_sim.generate.time_fields import event_of, time_formatter, time_meaning
from mcp_sim.generate.uniqueness import is_name
from mcp_sim.plans.infer.verbs import STRONG
from mcp_sim.plans.records.arguments import (
    assigned_values,
    assignments_of,
    fixed_values,
    links_of,
    lost_fields,
    resolve_links,
)
from mcp_sim.plans.records.effects import Effect, Write, effect_without_record, state_check
from mcp_sim.plans.records.figures import as_number
from mcp_sim.plans.records.line_items import line_entering, line_merger, line_total
from mcp_sim.plans.records.record_lookup import finder
from mcp_sim.plans.records.removal import referring, renamed
from mcp_sim.plans.refusal import choices_text, conflict, quoted
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn
from mcp_sim.types.argument_descriptions import mode_reader
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, constants, items, main_type
from mcp_sim.types.json_values import in_list, is_key, is_number, nest_paths
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import participle, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import How, Plan

_NAMING = ("id", "key", "name", "title")
_STOCK, _HELD = terms("fields.stock"), terms("fields.held")
_MOST = 10**300  # near the largest float: a sum beyond it would be infinite, and that is not JSON


def updating(tool: Tool, plan: Plan, domain: Domain) -> Write:
    """Compile a tool that updates a record."""
    entity = domain.entities[plan.entity or ""]
    find, change = finder(tool, plan, entity), RecordUpdate(tool, plan, domain)
    missing = effect_without_record(tool, plan, domain)

    def update(turn: Turn, _invent: Invent) -> Effect | Observation:
        key = find(turn)
        return missing(turn, key) if isinstance(key, Observation) else change(turn, key)

    return update


class RecordUpdate:
    """What an update does to an existing record, and a create to one that exists already."""

    def __init__(self, tool: Tool, plan: Plan, domain: Domain) -> None:
        entity = domain.entities[plan.entity or ""]
        self.tool, self.plan, self.entity = tool, plan, entity
        self.sets, self.links = assignments_of(tool, plan, domain, defaults=False), links_of(plan, entity, domain)
        self.fixed, self.check_state = fixed_values(plan, entity), state_check(tool, plan)
        self.dotted: Record = dict.fromkeys(field for field in entity.fields if "." in field)
        self.merge_lines = line_merger(entity, domain, self.sets, keeps=bool(plan.fixed))
        self.enter_lines, self.total = line_entering(plan, entity, domain), line_total(entity)
        self.mode_of = mode_reader(expanded(tool.input_schema), {*plan.sets})
        self.appending: Mapping[str, How] = {**_appendable(entity), **plan.how}
        self.moves, self.rename = _automatic_fields(entity, tool), _key_changer(tool, entity, domain)
        self.settle, self.pay, self.period = settling(entity, domain), _payment(plan, entity), find_period(entity)
        self.is_plain = STRONG.get(next(iter(words(tool.name)), "")) == "update"  # it changes only what it takes

    def __call__(self, turn: Turn, key: Key) -> Effect | Observation:
        given = {**self.fixed(turn), **assigned_values(turn, self.sets)}
        values = resolve_links(turn, self.tool, self.links, given)
        if isinstance(values, Observation):
            return values
        before = turn.view.get(self.entity.name, key) or {}
        refused = self.check_state(key, before)
        if refused is not None:
            return refused
        nested = nest_paths(values, {**self.dotted, **before} if self.dotted else before)
        values = self.merge_lines(turn, before, nested)
        doubts = lost_fields(turn, self.sets, given)
        if self.enter_lines is not None:
            values, generated = self.enter_lines(turn, values)
            doubts |= generated
        return self._changed(turn, key, before, values, doubts)

    def _changed(
        self, turn: Turn, key: Key, before: Record, values: Record, doubts: frozenset[str]
    ) -> Effect | Observation:
        """Return the record with these values, and with what follows from them."""
        name, new_key = self.entity.name, values.pop(self.entity.key, key)
        if not is_key(new_key):  # only a guess takes a list or an object for the new key
            new_key, doubts = key, doubts | {self.entity.key}
        is_appended = self.mode_of is not None and self.mode_of(turn.call.arguments) == "append"
        how = self.appending if is_appended else self.plan.how
        after = _changed_fields(self.tool, how, self.entity, key, before, values)
        if isinstance(after, Observation):
            return after
        is_same = not values or (how and all(equal(before.get(field), value) for field, value in after.items()))
        if is_same and new_key == key:
            return Effect(key, before, (), doubts)
        record = {**before, **after, **self.total(before, after), **self.moves(before, after, turn.now)}
        if self.pay is not None:
            self.pay(before, record, values)
        if self.period is not None and self.period.settle(record, after.keys(), before, follows=not self.is_plain):
            doubts |= {self.period.end.name}
        if self.settle is not None:
            self.settle(record, values.keys())
        if not equal(new_key, key):
            return self.rename(turn, key, new_key, record)
        put = Change("put", name, key, record, expected=turn.view.version(name, key))
        return Effect(key, record, (put,), doubts)


def _changed_fields(
    tool: Tool, how: Mapping[str, How], entity: Entity, key: Key, before: Record, values: Mapping[str, Json]
) -> Record | Observation:
    """Return the given fields as they are after the change, or a failure."""
    if not how:
        return dict(values)
    after = Record()
    for name, value in values.items():
        field = entity.fields.get(name) or Field(name, {})
        changed_fields = enter_value(before.get(name), value, how.get(name, "set"), field)
        if isinstance(changed_fields, Refused):
            return conflict(tool, entity.name, key, changed_fields.why, field=name)
        after[name] = changed_fields
        left = _left_in_stock(before, name) if snake(name) in _HELD else None
        if left is not None and is_number(value) and how.get(name) == "add" and value > max(left, 0):
            return conflict(tool, entity.name, key, f"has insufficient stock: {left} available, {value} requested")
    return after


def _left_in_stock(before: Record, held: str) -> int | float | None:
    """Return the amount in stock of a record without what is held of it; None if it has no stock."""
    there: Json = next((before[name] for name in before if snake(name) in _STOCK), None)
    return _sum(there, -(as_number(before.get(held)) or 0)) if is_number(there) else None


def _appendable(entity: Entity) -> dict[str, How]:
    """Return the lists and the free texts of records, which `append: true` appends to. Names are replaced."""
    fields = [field for field in entity.fields.values() if field.link is None and not constants(field.schema)]
    texts = [field for field in fields if main_type(field.schema) == "string" and "format" not in field.schema]
    lists = [field for field in entity.fields.values() if main_type(field.schema) == "array"]
    names = [field.name for field in (*texts, *lists) if field.name != entity.key and not is_name(field.name)]
    return dict.fromkeys(names, "append")


# how values enter fields ----------------------------------------------------------------------------------------------


@frozen
class Refused:
    """Why a value cannot enter a field, as the rest of a sentence about the record."""

    why: str


def enter_value(before: Json, value: Json, how: How, field: Field) -> Json | Refused:
    """Return the field's value after the change, or why it is refused."""
    if how == "set":
        return value
    if how == "toggle":
        return before is not True
    if how not in {"append", "remove"}:
        return _calculated(before, value, how, field)
    if main_type(field.schema) == "string" or isinstance(before, str):
        text = str(before or "")
        if how == "append":
            return f"{text}\n{value}" if text else str(value)
        is_there = str(value) in text
        return text.replace(str(value), "").strip() if is_there else Refused(f"has no {quoted(value)} in {field.name}")
    listed, values = as_list(before), in_list(value)
    return _appended(listed, values, field) if how == "append" else _removed(listed, values, field)


def _appended(listed: list[Json], values: list[Json], field: Field) -> list[Json]:
    """Return the list with values added. Names and references occur once; numbers and objects may repeat."""
    once = field.link is not None or field.schema.get("uniqueItems") or main_type(items(field.schema)) == "string"
    changed = list(listed)
    for value in values:
        if not ((once or isinstance(value, str)) and any(equal(value, item) for item in changed)):
            changed.append(value)
    return changed


def _removed(listed: list[Json], values: list[Json], field: Field) -> list[Json] | Refused:
    changed = list(listed)
    for value in values:
        place = next((at for at, item in enumerate(changed) if _is_meant(item, value)), None)
        if place is None:
            there = f"; {field.name}: {choices_text(_naming(item)[0] for item in changed)}" if changed else ""
            wanted = next(iter(as_object(value).values()), value)
            return Refused(f"has no {quoted(wanted)} in {field.name}{there}")
        del changed[place]
    return changed


def _is_meant(item: Json, wanted: Json) -> bool:
    """Whether an entry of a list is wanted: by its id or name, or by all values of an object."""
    values = as_object(wanted)
    if values:
        return all(equal(as_object(item).get(name), value) for name, value in values.items())
    return any(equal(name, wanted) for name in (item, *_naming(item)))


def _naming(item: Json) -> list[Json]:
    """Return what names an entry of a list: its ids and names, else the entry itself."""
    if not isinstance(item, dict):
        return [item]
    body = cast("Record", item)
    names = (*_NAMING, *(name for name in body if name.endswith("_id")))
    return [body[name] for name in names if name in body] or [body]


def _calculated(before: Json, value: Json, how: How, field: Field) -> Json | Refused:
    name = field.name.replace("_", " ")
    if not is_number(value):
        return Refused(f"cannot change {field.name} by {quoted(value)}, which is not a number")
    if main_type(field.schema) == "string":
        moved = shifted(field, before, value if how == "add" else -value)
        return before if moved is None else moved
    there, change = before if is_number(before) else 0, value if how == "add" else -value
    total = _sum(there, change)
    least, most = field.schema.get("minimum", 0), field.schema.get("maximum")
    if total is None or (most is not None and total > most):
        return Refused(f"cannot change {name} by {change}: that is too much")
    if change < 0 and total < least:
        return Refused(f"has insufficient {name}: {there} available, {-change} requested")
    if main_type(field.schema) == "integer" and not float(total).is_integer():
        return Refused(f"cannot have {total} of {name}")
    return int(total) if main_type(field.schema) == "integer" else total


def _sum(value: float, other: float) -> float | None:
    """Return the sum without the noise of binary fractions, or None if it is too large."""
    try:
        total = round(value + other, 6)
    except OverflowError:
        return None
    return total if abs(total) < _MOST else None


# what moves by itself -------------------------------------------------------------------------------------------------


def _automatic_fields(entity: Entity, tool: Tool) -> Callable[[Record, Mapping[str, Json], datetime], Record]:
    """Return a function that sets the times of the last change and of events, and increments versions.

    An event is what the tool does, or a state that the record gets: `cancelled_at` with the status `cancelled`.
    """
    stored = [field for field in entity.fields.values() if field.name != entity.key]
    stamps = {f.name: time_formatter(f.name, f.schema) for f in stored if time_meaning(f.name, f.schema) == "updated"}
    timed = [f for f in stored if time_meaning(f.name, f.schema) is not None]
    events = {event: f for f in timed if (event := event_of(f.name)) is not None}
    act = "|".join(participle(word) for word in words(tool.name)[:1])
    of_act = re.compile(rf"(?:date_)?{act}(?:_(?:at|on|date|time))?")
    stamps |= {f.name: time_formatter(f.name, f.schema) for f in timed if act and of_act.fullmatch(snake(f.name))}
    written = {event: (f.name, time_formatter(f.name, f.schema)) for event, f in events.items()}
    versions = [
        field for field in stored if VERSION.fullmatch(snake(field.name)) and main_type(field.schema) == "integer"
    ]

    def moved(before: Record, given: Mapping[str, Json], now: datetime) -> Record:
        moments = {name: write(now) for name, write in stamps.items()}
        for name, value in given.items() if written else ():
            state = snake(value) if isinstance(value, str) else snake(name) if value is True else ""
            stamp, write = written.get(state, (name, None))
            if write is not None and stamp not in given and before.get(name) != value:
                moments[stamp] = write(now)
        for field in versions:
            number: Json = before.get(field.name)
            if isinstance(number, int) and field.name not in given:
                moments[field.name] = number + 1
        return moments

    return moved


def _payment(plan: Plan, entity: Entity) -> Callable[[Record, Record, Mapping[str, Json]], None] | None:
    """Compile what a payment changes: all is paid if no amount is given, and a record with a rest is not paid."""
    states = [name for name, value in plan.fixed.items() if value == "paid" and name in entity.fields]
    amounts = payment_fields({snake(name): field for name, field in entity.fields.items()})
    if not states or amounts is None:
        return None
    total, paid = amounts
    choices = {name: constants(entity.fields[name].schema) for name in states}
    partial = {name: [value for value in choices[name] if snake(str(value)).startswith("partial")] for name in states}

    def pay(before: Record, record: Record, given: Mapping[str, Json]) -> None:
        whole: Json = record.get(total)
        there: Json = record.get(paid)
        if paid not in given and whole is not None:
            record[paid] = whole
        elif is_number(whole) and is_number(there) and there < whole:
            record |= {name: next(iter(partial[name]), before.get(name)) for name in states}

    return pay


# other names ----------------------------------------------------------------------------------------------------------


def _key_changer(
    tool: Tool, entity: Entity, domain: Domain
) -> Callable[[Turn, Key, Key, Record], Effect | Observation]:
    """Return a function that stores the record under another key. Links follow."""
    others, name = referring(domain, entity.name), entity.name

    def rename(turn: Turn, key: Key, new_key: Key, record: Record) -> Effect | Observation:
        if turn.view.get(name, new_key) is not None:
            return conflict(tool, name, new_key, "already exists")
        record = {**record, entity.key: new_key}
        put = Change("put", name, new_key, record, expected=turn.view.version(name, new_key))
        gone = Change("remove", name, key, expected=turn.view.version(name, key))
        follow = renamed(turn.view, others, key, new_key)
        own = [change for change in follow if (change.entity, change.key) == (name, key)]
        links = [link for link, field in entity.fields.items() if field.link == name]
        to_itself = {link: (change.record or {}).get(link, record.get(link)) for change in own for link in links}
        put = replace(put, record={**record, **to_itself})
        return Effect(new_key, put.record or {}, (put, gone, *(change for change in follow if change not in own)))

    return rename
