"""Complete the lines of a new record, such as the items of an order: what they name, what they cost, and the total."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mcp_sim.plans.records.arguments import Assignment, converter
from mcp_sim.plans.records.figures import NUMBERS, as_number, total_of
from mcp_sim.types import Json, Record, Turn, View
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.initial_values import first_value
from mcp_sim.types.json_schema.shapes import as_list, as_object, is_rows, items, main_type, properties
from mcp_sim.types.json_values import NOWHERE, multiplied, rounded
from mcp_sim.types.lexicon.english import is_plural, last_word, snake, words
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key

_QUANTITIES, _TOTALS, _PRICES = terms("fields.quantity"), terms("fields.total"), terms("fields.price")
_OF_ALL = frozenset({"id", "name", "key", "title"})
"""Keys that records of all entities have."""
_CENTS = 2
"""Digits of amounts of money after the point."""


def line_completer(
    entity: Entity, domain: Domain, sets: Sequence[Assignment]
) -> Callable[[Turn, Record], Record] | None:
    """Compile what adds to the values of a new record: the rest of its lines, and their total. None without lines."""
    set_by = {rule.field: rule for rule in sets}
    lines = [
        _Lines(field, entities_named(properties(items(field.schema)), entity, domain), set_by[name].fetch)
        for name, field in entity.fields.items()
        if name in set_by and is_rows(field.schema)
    ]
    totals = _totals(entity)
    if not lines:
        return None

    def completed(turn: Turn, values: Record) -> Record:
        added: Record = {}
        for line in lines:
            given, whole = as_list(line.fetch(turn.call.arguments)), as_list(values.get(line.field.name))
            if given and len(given) == len(whole):
                pairs = zip(map(as_object, given), map(as_object, whole), strict=True)
                added[line.field.name] = [line.completed(turn.view, item, rest) for item, rest in pairs]
        amount = _amount_of_all([row for rows in added.values() for row in rows])
        is_summed = added and amount is not None and len(totals) == 1 and totals[0] not in values
        return {**values, **added, **({totals[0]: amount} if is_summed else {})}

    return completed


def line_entering(
    plan: Plan, entity: Entity, domain: Domain
) -> Callable[[Turn, Record], tuple[Record, frozenset[str]]] | None:
    """Compile what completes the lines that a call adds to those of a record, as it does for new records.

    It also returns the fields in which something is a guess: what nothing determines, or a line of an unknown product.
    None if the tool adds no lines.
    """
    fields = [entity.fields[name] for name, how in plan.how.items() if how == "append" and name in entity.fields]
    entered = [
        (
            _Lines(field, entities_named(properties(items(field.schema)), entity, domain), lambda _: None),
            converter(plan, domain, entity, field.name),
        )
        for field in fields
        if is_rows(field.schema)
    ]

    def completed(turn: Turn, values: Record) -> tuple[Record, frozenset[str]]:
        added, generated = Record(), set[str]()
        for line, convert in entered:
            if item := as_object(values.get(line.field.name)):
                known = line.completed(turn.view, item, {})
                row = line.completed(turn.view, item, as_object(convert(item, turn)))
                is_guess = any(row[name] for name in row.keys() - known) or line.names_unknown(turn.view, item)
                generated |= {line.field.name} if is_guess else set()
                added[line.field.name] = row
        return {**values, **added}, frozenset(generated)

    return completed if entered else None


def line_total(entity: Entity) -> Callable[[Record, Record], Record]:
    """Compile what keeps the total of a record the sum of its lines when a change writes these.

    A total that was another number before stays as it is: it may have taxes or discounts.
    """
    lists, totals = [name for name, field in entity.fields.items() if is_rows(field.schema)], _totals(entity)

    def changed_total(before: Record, after: Record) -> Record:
        changed = [name for name in lists if name in after]
        if len(changed) != 1 or len(totals) != 1 or totals[0] in after:
            return {}
        held, amount = (_amount_of_all(as_list(record.get(changed[0]))) for record in (before, after))
        is_sum = held is not None and equal(as_number(before.get(totals[0])) or 0, held)
        return {totals[0]: amount} if is_sum and amount is not None else {}

    return changed_total


def priced_total(entity: Entity, domain: Domain) -> Callable[[View, Record], Record] | None:
    """Compile the total of a new record of so many of another one: an order of 2 of a product that has a `price`.

    None if the record has no such total, or a price of its own.
    """
    totals, whole = _totals(entity), [name for name, field in entity.fields.items() if _is_count(entity, field)]
    counts = [name for name in whole if last_word(name) in _QUANTITIES]
    counts = counts or [name for name in whole if is_plural(last_word(name))]  # the `seats` of a ticket
    prices = [
        (link, of, name)
        for link, of in entities_named(entity.fields, entity, domain).items()
        for name, field in domain.entities[of].fields.items()
        if _is_price(name) and not _is_total(name) and main_type(field.schema) in NUMBERS
    ]
    has_price = any(_is_price(name) and not _is_total(name) for name in entity.fields)
    if has_price or not len(totals) == len(counts) == len(prices) == 1:
        return None
    link, of, price = prices[0]

    def total(view: View, values: Record) -> Record:
        if totals[0] in values:
            return {}
        key = find_key(view, of, values.get(link))
        priced = {} if key is None else view.get(of, key) or {}
        amount = _amount_of({price: priced.get(price), "quantity": values.get(counts[0])})
        return {} if amount is None else {totals[0]: amount}

    return total


def _is_count(entity: Entity, field: Field) -> bool:
    is_number = main_type(field.schema) in (NUMBERS if last_word(field.name) in _QUANTITIES else {"integer"})
    return is_number and field.link is None and field.name != entity.key and not _is_total(field.name)


def _totals(entity: Entity) -> list[str]:
    return [name for name, field in entity.fields.items() if main_type(field.schema) in NUMBERS and _is_total(name)]


def _amount_of_all(rows: Sequence[Json]) -> float | None:
    """Return the sum of the amounts of lines, or None if the amount of a line is unknown."""
    amounts = [_amount_of(as_object(row)) for row in rows]
    return None if None in amounts else total_of(amounts)


def line_merger(
    entity: Entity, domain: Domain, sets: Sequence[Assignment], *, keeps: bool
) -> Callable[[Turn, Record, Record], Record]:
    """Compile what keeps in changed lines what they had before and a call leaves out: the price, beside a quantity.

    A line is the same if it names the same record. `keeps`: lines that a call does not mention stay.
    """
    lines = [
        (
            rule.field,
            ["id", *entities_named(properties(items(entity.fields[rule.field].schema)), entity, domain)],
            rule.fetch,
        )
        for rule in sets
        if rule.field in entity.fields and is_rows(entity.fields[rule.field].schema)
    ]

    def merged(turn: Turn, before: Record, values: Record) -> Record:
        changed: Record = {}
        for name, keys, fetch in lines:
            given, whole = as_list(fetch(turn.call.arguments)), as_list(values.get(name))
            earlier = [*map(as_object, as_list(before.get(name)))]
            if not earlier or not given or len(given) != len(whole):
                continue
            same = _same_lines(map(as_object, given), earlier, keys)
            rows = [
                {**as_object(rest), **({} if at is None else earlier[at]), **as_object(item)}
                for item, rest, at in zip(given, whole, same, strict=True)
            ]
            mentioned = {*same}
            changed[name] = [*rows, *(row for at, row in enumerate(earlier) if keeps and at not in mentioned)]
        return {**values, **changed}

    return merged


def _same_lines(items: Iterable[Record], earlier: Sequence[Record], keys: Sequence[str]) -> list[int | None]:
    """Return for each item the place of the first earlier line with the same values of those keys that it has."""
    places = dict[tuple[str, ...], dict[str, int]]()
    same = list[int | None]()
    for item in items:
        names = tuple(key for key in keys if key in item)
        if names not in places:
            places[names] = {_identity(row, names): at for at, row in reversed([*enumerate(earlier)])}
        same.append(places[names].get(_identity(item, names)) if names else None)
    return same


def _identity(line: Record, names: Sequence[str]) -> str:
    return repr([line.get(name) for name in names])


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
            prices = [held for key, held in (record or {}).items() if _is_price(key) and isinstance(held, int | float)]
            lacking = [key for key in shown if key not in line and _is_price(key) and not _is_total(key)]
            line |= dict.fromkeys(lacking, prices[0]) if len(lacking) == len(prices) == 1 else {}  # `unit_price`
        total = next((name for name in shown if _is_total(name) and name not in line), None)
        first = {name: first_value(snake(name), shown[name]) for name in rest if name in shown}
        begun = {name: value for name, value in first.items() if value is not NOWHERE}  # nothing is received yet
        line = {**rest, **begun, **line}
        amount = _amount_of({name: value for name, value in line.items() if name != total})
        return line if total is None or amount is None else {**line, total: amount}

    def names_unknown(self, view: View, item: Record) -> bool:
        """Whether a line names a record that does not exist. A real server may refuse it."""
        return any(name in item and find_key(view, of, item[name]) is None for name, of in self.named.items())


def _is_price(name: str) -> bool:
    return not _PRICES.isdisjoint(words(snake(name)))


def _amount_of(line: Record) -> float | None:
    """Return the total of a line, or its quantity times its price; None if it shows neither."""
    numbers = {snake(name): value for name, value in line.items() if isinstance(value, int | float)}
    total = next((value for name, value in numbers.items() if _is_total(name)), None)
    price = next((value for name, value in numbers.items() if _is_price(name)), None)
    quantity = next((value for name, value in numbers.items() if last_word(name) in _QUANTITIES), None)
    amount = total if total is not None or price is None or quantity is None else multiplied(price, quantity)
    return None if amount is None else rounded(amount, _CENTS)


def entities_named(names: Iterable[str], entity: Entity, domain: Domain) -> dict[str, str]:
    """Return those names that hold keys of other entities, with these: `sku` of an item, `product_id` of a product."""
    others = [other for other in domain.entities.values() if other.name != entity.name]
    return {
        name: other.name
        for name in names
        for other in others
        if snake(name) == f"{other.name}_id" or (snake(name) == snake(other.key) and snake(name) not in _OF_ALL)
    }


def _is_total(name: str) -> bool:
    return not _TOTALS.isdisjoint(words(snake(name)))
