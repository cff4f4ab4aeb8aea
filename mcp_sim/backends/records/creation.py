"""What does a create write: what arguments say, then what the world knows, then what is open; and what forbids it?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from typing import TypeAlias

from mcp_sim.backends.records.arguments import ABSENT
from mcp_sim.backends.records.bequests import bequests
from mcp_sim.backends.records.copying import copying
from mcp_sim.backends.records.effects import Effect, Write, checked, followed
from mcp_sim.backends.records.given import given, linked, links_of, sets_of
from mcp_sim.backends.records.insides import kept_among, paying
from mcp_sim.backends.records.line_items import completing
from mcp_sim.backends.records.refusals import conflict
from mcp_sim.backends.records.side_effects import side_effects
from mcp_sim.backends.records.sums import settling
from mcp_sim.backends.records.taking import taking
from mcp_sim.backends.records.updates import changing
from mcp_sim.generate.keys import Keys, is_used, keys_of, next_key, numbered_as
from mcp_sim.generate.named import found_key
from mcp_sim.generate.times import sense, time_writer
from mcp_sim.generate.uniqueness import is_name, is_unique
from mcp_sim.types import Change, Json, Key, Observation, Record, Tool, Turn, View
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import constants, fitting_type, is_nullable, main_type
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.words import snake
from mcp_sim.types.plans import Plan

MOST_OFFERED = 32
"""A link that nobody gave leads to one of so many records."""

Numbered: TypeAlias = Callable[[Turn], "tuple[Key, tuple[Change, ...]]"]


def creation(tool: Tool, plan: Plan, domain: Domain) -> Write:
    """The record that a call creates, compiled."""
    entity = domain.entities[plan.entity or ""]
    name, sets, links = entity.name, sets_of(tool, plan, domain), links_of(plan, entity, domain)
    make, copied = making(plan, entity, domain), copying(tool, plan, entity)
    complete = completing(tool, plan, domain)
    number, change = _numbering(plan, entity), changing(tool, replace(plan, requires={}), domain)
    known = _known(plan, entity)

    def create(turn: Turn, invent: Invent) -> Effect | Observation:
        said = linked(turn, tool, links, {**plan.fixed, **given(turn, sets)})
        if isinstance(said, Observation):
            return said
        said = complete(turn, said, {})
        if isinstance(said, Observation):
            return said
        taken = known(turn.view, said)
        if taken is not None and turn.view.get(name, taken) is not None:
            return _existing(turn, tool, plan, taken, change)
        base = copied(turn)
        if isinstance(base, Observation):
            return base
        key, counted = (taken, ()) if taken is not None else number(turn)
        record = make(turn, invent, {**base, **said, entity.key: key}, said)
        put = Change("put", name, key, record, expected=turn.view.version(name, key))
        return Effect(key, record, (put, *counted))

    consequences = (taking(tool, plan, domain), paying(tool, plan), side_effects(tool, plan, domain))
    return followed(checked(create, kept_among(tool, plan)), *consequences)


def _known(plan: Plan, entity: Entity) -> Callable[[View, Record], Key | None]:
    """The key that the caller chose; else, where a record may exist, that of the one with the same e-mail or name."""
    identity = _identity(plan, entity) if plan.if_exists != "refuse" else ()

    def known(view: View, said: Record) -> Key | None:
        taken: Key | None = said.get(entity.key)
        given = [name for name in identity if said.get(name) is not None]
        if taken is not None or not given:
            return taken
        alike = view.find(entity.name, given[0], said[given[0]])
        return next((key for key, row in alike if all(row.get(name) == said[name] for name in given)), None)

    return known


def _identity(plan: Plan, entity: Entity) -> tuple[str, ...]:
    """The field by whose value a record is known again; where none is its own, all that say what a number is for."""
    fields = [entity.fields[name] for name in plan.sets.values() if name in entity.fields]
    naming = min((one.name for one in fields if is_unique(entity, one)), key=is_name, default=None)
    numbers = [one.name for one in fields if main_type(one.schema) in {"integer", "number"}]
    texts = tuple(one.name for one in fields if main_type(one.schema) == "string") if numbers else ()
    return (naming,) if naming is not None else texts


def _existing(
    turn: Turn, tool: Tool, plan: Plan, key: Key, change: Callable[[Turn, Key], Effect | Observation]
) -> Effect | Observation:
    """What becomes of a record that exists already."""
    entity = plan.entity or ""
    if plan.if_exists == "refuse":
        return conflict(tool, entity, key, "already exists")
    if plan.if_exists == "update":
        return change(turn, key)
    return Effect(key, turn.view.get(entity, key) or {}, ())


# keys -----------------------------------------------------------------------------------------------------------------


def _numbering(plan: Plan, entity: Entity) -> Numbered:
    """The key of a new record: the next of its siblings, or what a counter says, which then moves on."""
    keys = keys_of(entity)
    if plan.counter is None:
        return lambda turn: (next_key(entity, keys, turn.view, turn.draws), ())
    only, _, field = plan.counter.rpartition(".")
    return lambda turn: _counted(turn, entity, keys, only, field)


def _counted(turn: Turn, entity: Entity, keys: Keys, only: str, field: str) -> tuple[Key, tuple[Change, ...]]:
    state = turn.view.get(only, only) or {}
    key: Json = state.get(field)
    if not isinstance(key, int) or isinstance(key, bool):
        return next_key(entity, keys, turn.view, turn.draws), ()
    like = turn.view.last_key(entity.name)
    while is_used(turn.view, entity.name, numbered_as(like, key)):
        key += 1
    moved = {**state, field: key + 1}
    return numbered_as(like, key), (Change("put", only, only, moved, expected=turn.view.version(only, only)),)


# what nobody gave -----------------------------------------------------------------------------------------------------


def making(plan: Plan, entity: Entity, domain: Domain) -> Callable[[Turn, Invent, Record, Mapping[str, Json]], Record]:
    """The whole record, in the order of the entity's fields."""
    rules = [rule for rule in _rules(plan, entity) if rule.field.name not in plan.fixed]
    lists = [field for field in entity.fields.values() if plan.how.get(field.name) == "append"]
    order, settle, bequeath = tuple(entity.fields), settling(entity, domain), bequests(entity, domain)

    def make(turn: Turn, invent: Invent, record: Record, said: Mapping[str, Json]) -> Record:
        for field in lists:
            if field.name in record and not isinstance(record[field.name], list):
                record[field.name] = [record[field.name]]
        bequeath(turn.view, record)
        for rule in rules:
            if rule.field.name not in record:
                rule.fill(turn, invent, record)
        settle(record, said.keys())
        return {name: record[name] for name in dict.fromkeys((*order, *record)) if name in record}

    return make


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a field that nobody gave holds from the beginning. `settled`: a value that is no question.

    `stamp` writes the time of the call, in a field that tells when the record was made.
    """

    entity: str
    field: Field
    stamp: Callable[[datetime], Json] | None
    settled: Json
    place: tuple[str, str] | None

    def fill(self, turn: Turn, invent: Invent, record: Record) -> None:
        field = self.field
        current = self._current(turn.view)
        if self.stamp is not None:
            record[field.name] = self.stamp(turn.now)
        elif current is not None and fitting_type(current, field.schema):
            record[field.name] = current
        elif self.settled is not ABSENT:
            record[field.name] = self.settled
        elif field.required:
            linked = _linked(turn, invent, self.entity, field)
            value = invent(turn, self.entity, field.name, field.schema, record) if linked is ABSENT else linked
            record[field.name] = value

    def _current(self, view: View) -> Json:
        """What an only record says, a session for instance; None where it does not."""
        if self.place is None:
            return None
        only, field = self.place
        value: Json = (view.get(only, only) or {}).get(field)
        if value is not None and self.field.link is not None:
            return found_key(view, self.field.link, value)
        return value


def _linked(turn: Turn, invent: Invent, entity: str, field: Field) -> Json:
    """What a link that nobody gave refers to: a record that the world has, or ABSENT where it has none."""
    if field.link is None:
        return ABSENT
    keys = _offered(turn, field, field.link)
    first = next(keys, None)
    if first is None:
        return ABSENT
    key = invent.refer(turn, entity, field.name, field.link, chain((first,), keys))
    return [key] if main_type(field.schema) == "array" else key


def _offered(turn: Turn, field: Field, target: str) -> Iterator[Key]:
    """Records that a link may lead to; the first is the one that chance has chosen."""
    first = turn.draws.unit(f"link/{field.name}")
    count = min(turn.view.count(target), MOST_OFFERED)
    found = (turn.view.some(target, (first + step / count) % 1) for step in range(count))
    return (key for key in found if key is not None)


def _rules(plan: Plan, entity: Entity) -> Iterator[_Rule]:
    for field in entity.fields.values():
        if field.name == entity.key or field.derived is not None:
            continue
        stamped = sense(field.name, field.schema) in {"created", "updated"} and not is_nullable(field.schema)
        only, _, name = plan.from_state.get(field.name, "").rpartition(".")
        stamp = time_writer(field.name, field.schema) if stamped else None
        yield _Rule(entity.name, field, stamp, _settled(field), (only, name) if only else None)


def _settled(field: Field) -> Json:
    schema = field.schema
    if "default" in schema and field.link is None:
        return schema["default"]
    if is_nullable(schema):
        return None
    if not field.required:
        return ABSENT
    choices = constants(schema)
    if choices and (len(choices) == 1 or snake(field.name).rsplit("_", 1)[-1] in {"status", "state", "stage"}):
        return choices[0]
    if main_type(schema) == "boolean":
        return False
    if main_type(schema) == "array" and not schema.get("minItems"):
        return []
    if main_type(schema) == "integer" and snake(field.name) in {"version", "revision", "rev"}:
        return max(1, schema.get("minimum", 1))
    counts = main_type(schema) == "integer" and snake(field.name).endswith(("count", "_total"))
    return 0 if counts and schema.get("minimum", 0) <= 0 else ABSENT
