"""What follows from the values of new records: references that others imply, and records that are created with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import isfinite
from typing import TypeAlias

from mcp_sim.generate.defaults import MOST_LINK_CANDIDATES
from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.generate.missing_records import generate_record
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.plans.records.field_values import Assignment
from mcp_sim.types import Change, Json, Record, Turn, View
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object, is_nullable, is_rows, items, main_type, properties
from mcp_sim.types.kinds import Invent
from mcp_sim.types.lexicon.english import last_word, singular, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.views import find_key

Imply: TypeAlias = Callable[[Turn, Invent, Record], Record]
"""Returns the given values with the references that they imply."""

Complete: TypeAlias = Callable[[Turn, Invent, Record], list[Change]]
"""Adds references to a new record, and returns the records to create for them."""


_QUANTITIES, _TOTALS, _PRICES = terms("fields.quantity"), terms("fields.total"), terms("fields.price")
_OF_ALL = frozenset({"id", "name", "key", "title"})
"""Keys that records of all entities have."""
_CENTS = 2
"""Digits of amounts of money after the point."""


@frozen
class _Shared:
    """A reference that records of an entity and of the entity of one of their links have in common."""

    field: str
    link: str
    target: str
    theirs: str


def implied_links(entity: Entity, domain: Domain) -> Imply:
    """Compile the references that others imply, in both directions.

    A booking of a room has the hotel of the room. A booking in a hotel that must have a room, but names none, has a
    room of this hotel.
    """
    shared = list(_shared(entity, domain))
    chosen = [link for link in shared if entity.fields[link.link].required]

    def imply(turn: Turn, invent: Invent, values: Record) -> Record:
        implied = dict(values)
        for link in shared:
            if link.field not in implied and implied.get(link.link) is not None:
                value = (turn.view.get(link.target, implied[link.link]) or {}).get(link.theirs)
                implied |= {} if value is None else {link.field: value}
        for link in chosen:
            if link.link not in implied and implied.get(link.field) is not None:
                rows = turn.view.find(link.target, link.theirs, implied[link.field])
                keys = [key for key, _ in islice(rows, MOST_LINK_CANDIDATES)]
                if keys:
                    implied[link.link] = invent.choose_reference(turn, entity.name, link.link, link.target, keys)
        return implied

    return imply if shared else lambda _turn, _invent, values: values


def linked_records(entity: Entity, domain: Domain) -> Complete:
    """Compile the records that a new record needs and that nothing else creates: the booking of a booked flight.

    They are created while there are no records that a required link can refer to. So are those which a call names,
    where only a name suggests the link and nothing specifies the records.
    """
    plans = [plan for tool_plan in domain.plans.values() for plan in tool_plan.variants]
    created = {plan.entity for plan in plans if plan.verb == "create"} | domain.given
    links = [field for field in entity.fields.values() if field.required and field.is_single_link]
    targets = {link.name: domain.entities.get(link.link or "") for link in links if not is_nullable(link.schema)}
    free = {
        name: (target, key_maker(target))
        for name, target in targets.items()
        if target is not None and target.inside is None and target.name not in {*created, entity.name}
    }

    closed = {name: target for name, target in domain.entities.items() if name in domain.given or target.inside}
    named = [
        (field.name, target)
        for field in entity.fields.values()
        if (target := _named_by(field, domain)) is not None and target.name not in {*closed, entity.name}
    ]

    def complete(turn: Turn, invent: Invent, values: Record) -> list[Change]:
        puts = [put for name, target in named for put in _named(turn, invent, target, values.get(name))]
        for name, (target, keys) in free.items():
            if name in values or turn.view.count(target.name):
                continue
            key = next_key(target, keys, turn.view, turn.draws)
            values[name] = key
            puts.append(Change("put", target.name, key, generate_record(turn, target, key, invent), expected=0))
        return puts

    return complete if free or named else lambda _turn, _invent, _values: []


def _named_by(field: Field, domain: Domain) -> Entity | None:
    """Return the entity whose records the values of a field name: by their keys, or as objects with these."""
    if field.link is not None:
        return domain.entities.get(field.link) if field.link_is_guessed else None
    target = domain.entities.get(singular(snake(field.name)))
    return target if target is not None and target.key in properties(items(field.schema) or field.schema) else None


def _named(turn: Turn, invent: Invent, target: Entity, value: Json) -> Iterator[Change]:
    """Yield the records that a call names and that do not exist: they are known from then on.

    Deleted ones are not created again, nor those whose keys have another form.
    """
    schema = target.fields[target.key].schema if target.key in target.fields else {}
    for item in as_list(value) if isinstance(value, list) else [value]:
        known = {name: inner for name, inner in as_object(item).items() if name in target.fields}
        key: Json = known.get(target.key) if isinstance(item, dict) else item
        is_key = isinstance(key, str | int) and not isinstance(key, bool) and validity_test(schema)(key)
        if is_key and find_key(turn.view, target.name, key) is None and not turn.view.version(target.name, key):
            record = generate_record(turn, target, key, invent, known)
            yield Change("put", target.name, key, record, expected=0)


def _shared(entity: Entity, domain: Domain) -> Iterator[_Shared]:
    """Yield the references of an entity that repeat those of linked records, such as `hotel_id` of a room."""
    links = [field for field in entity.fields.values() if field.is_single_link and field.link in domain.entities]
    for link in links:
        target = domain.entities[link.link or ""]
        for theirs in target.fields.values():
            own = entity.fields.get(theirs.name)
            if own is not None and own is not link and _names_its_target(theirs) and own.link == theirs.link:
                yield _Shared(own.name, link.name, target.name, theirs.name)


def _names_its_target(field: Field) -> bool:
    """Whether a link is named after its target, not after a role: `user_id`, not `assignee_id`."""
    noun = (field.link or "").rpartition(".")[2]
    return field.is_single_link and snake(field.name) in {noun, f"{noun}_id", f"{noun}_key"}


def line_completer(entity: Entity, domain: Domain, sets: Sequence[Assignment]) -> Callable[[Turn, Record], Record]:
    """Compile what adds to the values of a new record: the rest of its lines, and their total."""
    set_by = {rule.field: rule for rule in sets}
    lines = [
        _Lines(field, _described_by(field, entity, domain), set_by[name].fetch)
        for name, field in entity.fields.items()
        if name in set_by and is_rows(field.schema)
    ]
    totals = [name for name, field in entity.fields.items() if _is_number(field.schema) and _is_total(name)]
    if not lines:
        return lambda _turn, values: values

    def completed(turn: Turn, values: Record) -> Record:
        added: Record = {}
        for line in lines:
            given, whole = as_list(line.fetch(turn.call.arguments)), as_list(values.get(line.field.name))
            if given and len(given) == len(whole):
                pairs = zip(map(as_object, given), map(as_object, whole), strict=True)
                added[line.field.name] = [line.completed(turn.view, item, rest) for item, rest in pairs]
        amounts = [amount for rows in added.values() for row in rows if (amount := _amount_of(row)) is not None]
        if amounts and len(totals) == 1 and totals[0] not in values and len(amounts) == sum(map(len, added.values())):
            added[totals[0]] = round(sum(amounts), _CENTS)
        return {**values, **added}

    return completed


@dataclass(frozen=True, slots=True)
class _Lines:
    """A field with a list of objects, and the entities that they name by a key."""

    field: Field
    named: Mapping[str, str]
    """Property -> entity."""
    fetch: Callable[[Record], Json]
    """Reads the argument that sets it."""

    def completed(self, view: View, item: Record, rest: Record) -> Record:
        """Return a line with the fields of the record that it names, those of `rest`, and with what it costs."""
        shown = properties(items(self.field.schema))
        line = dict(item)
        for name, entity in self.named.items():
            record = view.get(entity, item[name]) if isinstance(item.get(name), str | int) else None
            line |= {key: value for key, value in (record or {}).items() if key in shown and key not in line}
            line |= _price_of(record or {}, [key for key in shown if key not in line])
        total = next((name for name in shown if _is_total(name) and name not in line), None)
        line = {**rest, **line}
        amount = _amount_of({name: value for name, value in line.items() if name != total})
        return line if total is None or amount is None else {**line, total: amount}


def _price_of(record: Record, asked: Sequence[str]) -> Record:
    """Return the price of a line under its own name: `unit_price` for the only price of a record, `ticket_price`."""
    prices = {key: value for key, value in record.items() if _is_price(key) and isinstance(value, int | float)}
    names = [name for name in asked if _is_price(name) and not _is_total(name)]
    return dict.fromkeys(names, next(iter(prices.values()))) if len(names) == len(prices) == 1 else {}


def _is_price(name: str) -> bool:
    return not _PRICES.isdisjoint(words(snake(name)))


def _amount_of(line: Record) -> float | None:
    """Return the total of a line, or its quantity times its price; None if it shows neither."""
    numbers = {snake(name): value for name, value in line.items() if isinstance(value, int | float)}
    total = next((value for name, value in numbers.items() if _is_total(name)), None)
    price = next((value for name, value in numbers.items() if _is_price(name)), None)
    quantity = next((value for name, value in numbers.items() if last_word(name) in _QUANTITIES), None)
    amount = total if total is not None or price is None or quantity is None else price * quantity
    return round(amount, _CENTS) if amount is not None and isfinite(amount) else None


def _described_by(field: Field, entity: Entity, domain: Domain) -> dict[str, str]:
    """Return the properties of lines that hold keys of other entities: `sku` of an item, `product_id` of a product."""
    others = [other for other in domain.entities.values() if other.name != entity.name]
    return {
        name: other.name
        for name in properties(items(field.schema))
        for other in others
        if snake(name) == f"{other.name}_id" or (snake(name) == snake(other.key) and snake(name) not in _OF_ALL)
    }


def _is_number(schema: Record) -> bool:
    return main_type(schema) in {"number", "integer"}


def _is_total(name: str) -> bool:
    return not _TOTALS.isdisjoint(words(snake(name)))
