"""Values of fields that no argument gives: initial values, inherited defaults, dependent amounts."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import TypeAlias, cast

from mcp_sim.generate.coherence import adjustments
from mcp_sim.generate.conformance import record_conformers
from mcp_sim.generate.item_coherence import has_price
from mcp_sim.generate.links import inherited_fields
from mcp_sim.generate.shipped_data import word_list
from mcp_sim.generate.time_fields import time_formatter, time_meaning
from mcp_sim.types import Json, Key, Record, Turn, View
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import constants, is_nullable, is_rows, items, main_type, properties
from mcp_sim.types.json_values import NOWHERE
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key

Inherit: TypeAlias = Callable[[View, Record], None]
"""Sets fields of a new record, if absent, from the records that it references."""

Settle: TypeAlias = Callable[[Record, Container[str]], None]
"""Recomputes the dependent amounts of a record, except those that the call gave."""

MOST_LINK_CANDIDATES = 32
"""The most records that a link is chosen from, if no argument gives it."""

_SHARED = ("price", "unit_price", "name", "product_name", "item_name", "title", "sku", "currency")


# initial values -------------------------------------------------------------------------------------------------------


def record_maker(
    plan: Plan, entity: Entity, domain: Domain
) -> Callable[[Turn, Invent, Record, Mapping[str, Json]], Record]:
    """Return a function that completes a new record, in the order of the entity's fields."""
    rules = [rule for rule in _defaults(entity) if rule.field.name not in plan.fixed]
    lists = [field for field in entity.fields.values() if plan.how.get(field.name) == "append"]
    order, settle, inherit = tuple(entity.fields), settling(entity, domain), inherited_defaults(entity, domain)

    def make(turn: Turn, invent: Invent, record: Record, values: Mapping[str, Json]) -> Record:
        for field in lists:
            if field.name in record and not isinstance(record[field.name], list):
                record[field.name] = [record[field.name]]
        inherit(turn.view, record)
        for rule in rules:
            if rule.field.name not in record:
                rule.fill(turn, invent, record)
        settle(record, values.keys())
        return {name: record[name] for name in dict.fromkeys((*order, *record)) if name in record}

    return make


@dataclass(frozen=True, slots=True)
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
        elif field.required:
            linked = _linked(turn, invent, self.entity, field)
            value = invent(turn, self.entity, field.name, field.schema, record) if linked is NOWHERE else linked
            record[field.name] = value


def _linked(turn: Turn, invent: Invent, entity: str, field: Field) -> Json:
    """Return the key for a link that no argument gives, or NOWHERE if there are no records to link to."""
    if field.link is None:
        return NOWHERE
    keys = _link_candidates(turn, field, field.link)
    first = next(keys, None)
    if first is None:
        return NOWHERE
    key = invent.choose_reference(turn, entity, field.name, field.link, chain((first,), keys))
    return [key] if main_type(field.schema) == "array" else key


def _link_candidates(turn: Turn, field: Field, target: str) -> Iterator[Key]:
    """Yield keys that a link may refer to. The first is chosen by the seed."""
    first = turn.draws.unit(f"link/{field.name}")
    count = min(turn.view.count(target), MOST_LINK_CANDIDATES)
    found = (turn.view.sample_key(target, (first + step / count) % 1) for step in range(count))
    return (key for key in found if key is not None)


def _defaults(entity: Entity) -> Iterator[_Default]:
    for field in entity.fields.values():
        if field.name == entity.key or field.derived is not None:
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
    return _first_value(snake(field.name), schema) if field.required else NOWHERE


def _first_value(name: str, schema: Record) -> Json:
    """Return the value that a required field begins with, by its name and type; NOWHERE if any value is possible."""
    kind, choices, last = main_type(schema), constants(schema), name.rsplit("_", 1)[-1]
    if choices and (len(choices) == 1 or last in {"status", "state", "stage"}):
        return choices[0]
    if kind == "boolean":
        return False
    if kind == "array" and not schema.get("minItems"):
        return []
    if kind == "integer" and name in {"version", "revision", "rev"}:
        return max(1, schema.get("minimum", 1))
    is_count = kind == "integer" and name.endswith(("count", "_total")) and schema.get("minimum", 0) <= 0
    return 0 if is_count else NOWHERE


def inherited_defaults(entity: Entity, domain: Domain) -> Inherit:
    """Compile what new records of an entity inherit."""
    rules = [rule for rule in inherited_fields(domain, entity) if "default" not in entity.fields[rule.name].schema]
    lines = [*_lines(entity, domain), *_totals(entity, domain)]

    def inherit(view: View, record: Record) -> None:
        for rule in rules:
            source = _source(view, rule.target, record.get(rule.link)) if rule.name not in record else None
            value = source.get(rule.theirs) if source is not None else None
            if value is not None and rule.allows(value):
                record[rule.name] = value
        for complete in lines:
            complete(view, record)

    return inherit


def _lines(entity: Entity, domain: Domain) -> Iterator[Inherit]:
    """Yield what sets the prices and names of lines that name a product."""
    for name, field in entity.fields.items():
        parts = properties(items(field.schema)) if is_rows(field.schema) and has_price(field.schema) else {}
        for part in parts:
            target = domain.entities.get(snake(part).removesuffix("_id")) if snake(part).endswith("_id") else None
            theirs = {} if target is None else _shared_parts(parts, target)
            if target is not None and theirs:
                yield _line_completer(name, part, target.name, theirs)


def _totals(entity: Entity, domain: Domain) -> Iterator[Inherit]:
    """Yield what sets the total price of a record that has a quantity but no unit price."""
    fields = _by_snake(name for name, field in entity.fields.items() if field.derived is None)
    count, total = _first(word_list("amounts", "counts"), fields), _first(word_list("amounts", "totals"), fields)
    if count is None or total is None or _first(word_list("amounts", "prices"), fields) is not None:
        return
    linked = {name: field.link for name, field in entity.fields.items() if main_type(field.schema) != "array"}
    for link, target in linked.items():
        price = _price(target, domain)
        if target is not None and price is not None:
            yield _total_setter(total, count, link, target, price)


def _price(target: str | None, domain: Domain) -> str | None:
    """Return the field with the price of a linked entity, None if there is none."""
    known = domain.entities.get(target or "")
    return None if known is None else _first(word_list("amounts", "prices"), _by_snake(known.fields))


def _by_snake(names: Iterable[str]) -> dict[str, str]:
    return {snake(name): name for name in names}


def _first(names: Iterable[str], among: Mapping[str, str]) -> str | None:
    return next((among[name] for name in names if name in among), None)


def _total_setter(total: str, count: str, link: str, target: str, price: str) -> Inherit:
    def cost(view: View, record: Record) -> None:
        each = (_source(view, target, record.get(link)) or {}).get(price)
        times = record.get(count)
        if total not in record and isinstance(each, int | float) and isinstance(times, int | float):
            record[total] = round(each * times, 2)

    return cost


def _shared_parts(parts: Mapping[str, Record], target: Entity) -> dict[str, str]:
    """Map the parts of a line to the product's fields that define them."""
    names = {snake(name): name for name in target.fields}
    found: dict[str, str] = {}
    for part, schema in parts.items():
        for theirs in (snake(part), snake(part).removeprefix("unit_"), snake(part).removeprefix(f"{target.name}_")):
            known = names.get(theirs) if snake(part) in _SHARED or theirs != snake(part) else None
            if known is not None and main_type(target.fields[known].schema) == main_type(schema):
                found[part] = known
    return found


def _line_completer(lines: str, link: str, target: str, theirs: Mapping[str, str]) -> Inherit:
    def complete(view: View, record: Record) -> None:
        listed: Json = record.get(lines)
        if not isinstance(listed, list):
            return
        record[lines] = [_completed(view, line, link, target, theirs) for line in cast("list[Json]", listed)]

    return complete


def _completed(view: View, line: Json, link: str, target: str, theirs: Mapping[str, str]) -> Json:
    if not isinstance(line, dict):
        return line
    line = cast("Record", line)
    source = _source(view, target, line.get(link)) or {}
    lacking = {part: source[name] for part, name in theirs.items() if part not in line and name in source}
    return {**line, **lacking}


def _source(view: View, target: str, asked: Json) -> Record | None:
    key = find_key(view, target, asked)
    return None if key is None else view.get(target, key)


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
            made = conform(record, record, given)
            for name in record.keys() - made.keys():
                del record[name]
            record.update(made)

    return settle
