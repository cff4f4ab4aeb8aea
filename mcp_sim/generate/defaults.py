"""Values of fields that no argument gives: initial values, inherited defaults, dependent amounts."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping
from datetime import datetime
from itertools import chain
from typing import TypeAlias

from mcp_sim.generate.coherence import adjustments
from mcp_sim.generate.conformance import record_conformers
from mcp_sim.generate.links import inherited_fields
from mcp_sim.generate.time_fields import time_formatter, time_meaning
from mcp_sim.types import Json, Key, Record, Turn, View
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import constants, is_nullable, main_type
from mcp_sim.types.json_values import NOWHERE
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import ordered, terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key

Settle: TypeAlias = Callable[[Record, Container[str]], None]
"""Recomputes the dependent amounts of a record, except those that the call gave."""

_REST = ordered("fields.rest")
_HOLDING, _COUNTED = terms("fields.holding"), terms("fields.counted")
MOST_LINK_CANDIDATES = 32  # the most records that a link is chosen from, if no argument gives it


def record_maker(
    plan: Plan, entity: Entity, domain: Domain
) -> Callable[[Turn, Invent, Record, Mapping[str, Json]], Record]:
    """Return a function that completes a new record, in the order of the entity's fields."""
    rules = [rule for rule in _defaults(entity) if rule.field.name not in plan.fixed]
    lists = [field for field in entity.fields.values() if plan.how.get(field.name) == "append"]
    rests = _rests(entity)
    order, settle, inherit = tuple(entity.fields), settling(entity, domain), _inherited(entity, domain)

    def make(turn: Turn, invent: Invent, record: Record, values: Mapping[str, Json]) -> Record:
        for field in lists:
            if field.name in record and not isinstance(record[field.name], list):
                record[field.name] = [record[field.name]]
        inherit(turn.view, record)
        for name, base in rests:
            if name not in record and base in record:
                record[name] = record[base]
        for rule in rules:
            if rule.field.name not in record:
                rule.fill(turn, invent, record)
        settle(record, values.keys())
        return {name: record[name] for name in dict.fromkeys((*order, *record)) if name in record}

    return make


def _rests(entity: Entity) -> list[tuple[str, str]]:
    """Return the numbers that are at first as large as another one: `copies_available` with its `copies`."""
    names = {snake(name): name for name in entity.fields}
    forms = [(name, form) for name in names for word in _REST for form in (f"{name}_{word}", f"{word}_{name}")]
    return [(names[form], names[name]) for name, form in forms if form in names]


def _inherited(entity: Entity, domain: Domain) -> Callable[[View, Record], None]:
    """Compile what sets absent fields of a new record from the records that it references, such as a price."""
    rules = [rule for rule in inherited_fields(domain, entity) if "default" not in entity.fields[rule.name].schema]

    def inherit(view: View, record: Record) -> None:
        for rule in rules:
            if rule.name in record:
                continue
            key = find_key(view, rule.target, record.get(rule.link))
            value = None if key is None else (view.get(rule.target, key) or {}).get(rule.theirs)
            if value is not None and rule.allows(value):
                record[rule.name] = value

    return inherit


@frozen
class _Default:
    """The initial value of a field that no argument gives.

    `settled` is a value that needs no model. `stamp` returns the time of the call, for fields that hold a creation
    time.
    """

    entity: str
    field: Field
    stamp: Callable[[datetime], Json] | None
    settled: Json

    def fill(self, turn: Turn, invent: Invent, record: Record) -> None:
        field = self.field
        if self.stamp is not None:
            record[field.name] = self.stamp(turn.now)
        elif self.settled is not NOWHERE:
            record[field.name] = self.settled
        elif field.required and field.link is None:
            record[field.name] = invent(turn, self.entity, field.name, field.schema, record)
        elif field.required and (key := self._linked(turn, invent, field.link or "")) is not None:
            record[field.name] = [key] if main_type(field.schema) == "array" else key

    def _linked(self, turn: Turn, invent: Invent, target: str) -> Key | None:
        """Return the key for a link that no argument gives, None if there are no records to link to.

        The first candidate is chosen by the seed.
        """
        first = turn.draws.unit(f"link/{self.field.name}")
        count = min(turn.view.count(target), MOST_LINK_CANDIDATES)
        keys = (turn.view.sample_key(target, (first + step / count) % 1) for step in range(count))
        known = (key for key in keys if key is not None)
        nearest = next(known, None)
        if nearest is None:
            return None
        return invent.choose_reference(turn, self.entity, self.field.name, target, chain((nearest,), known))


def generated_fields(entity: Entity) -> frozenset[str]:
    """Return the fields of a new record that are generated if no argument gives them."""
    return frozenset(
        rule.field.name
        for rule in _defaults(entity)
        if rule.field.name not in dict(_rests(entity))
        and rule.stamp is None
        and rule.settled is NOWHERE
        and rule.field.required
    )


def _defaults(entity: Entity) -> Iterator[_Default]:
    for field in entity.fields.values():
        if field.name == entity.key:
            continue
        stamped = time_meaning(field.name, field.schema) in {"created", "updated"} and not is_nullable(field.schema)
        stamp = time_formatter(field.name, field.schema) if stamped else None
        yield _Default(entity.name, field, stamp, _initial_value(field))


def _initial_value(field: Field) -> Json:
    schema = field.schema
    if "default" in schema and field.link is None:
        return schema["default"]
    if is_nullable(schema):
        return None
    return first_value(snake(field.name), schema) if field.required else NOWHERE


def first_value(name: str, schema: Record) -> Json:
    """Return the value that a required field begins with, by its name and type; NOWHERE if any value is possible."""
    kind, choices, last = main_type(schema), constants(schema), name.rsplit("_", 1)[-1]
    if choices and (len(choices) == 1 or last in {"status", "state", "stage"}):
        return choices[0]
    if kind == "boolean":
        return name.removeprefix("is_") in _HOLDING
    if kind == "array" and not schema.get("minItems"):
        return []
    if kind == "integer" and name in {"version", "revision", "rev"}:
        return max(1, schema.get("minimum", 1))
    is_count = kind == "integer" and name.endswith(("count", "_total"))
    is_counted = kind in {"integer", "number"} and not _COUNTED.isdisjoint(name.split("_"))
    return 0 if (is_count or is_counted) and schema.get("minimum", 0) <= 0 else NOWHERE


def settling(entity: Entity, domain: Domain) -> Settle:
    """Compile the dependent fields of an entity."""
    conforms = record_conformers(domain, entity)
    stamps = {name for name, field in entity.fields.items() if time_meaning(name, field.schema) is not None}
    rules = [(name, mend) for name, mend in adjustments(entity) if name not in stamps]

    def settle(record: Record, given: Container[str]) -> None:
        for name, mend in rules:
            if name in given or name not in record:
                continue
            kept = {field: value for field, value in record.items() if field in given}
            mend(record)
            record.update(kept)
        for conform in conforms:
            matches = conform(record, given)
            for name in record.keys() - matches.keys():
                del record[name]
            record.update(matches)

    return settle
