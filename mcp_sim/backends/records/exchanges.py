"""Exchange parts of a record, and update its payments: refunds and price differences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from mcp_sim.backends.records.arguments import argument
from mcp_sim.backends.records.record_lookup import find_inside
from mcp_sim.backends.refusal import conflict, invalid, not_found
from mcp_sim.types import Json, Key, Observation, Record, Tool, Turn
from mcp_sim.types.conditions import equal
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.plans import Plan
from mcp_sim.types.views import find_key

Refunded: TypeAlias = Callable[[Record], Record]
"""Returns the field of payments after refunds, or {} without refunds."""

Settled: TypeAlias = Callable[[Turn, Record, Record], Record]
"""Returns the field of payments after an exchange of parts, or {} if nothing is due."""

Swapped: TypeAlias = Callable[[Turn, Key, Record], "Record | Observation"]
"""Returns the field of parts after an exchange, {} without one, or a failure."""

_REFUNDS = re.compile(r"\b(?:refunded|full refund)\b", re.IGNORECASE)
_AMOUNTS = frozenset({"amount", "total", "sum", "value"})
_PRICES = ("price", "unit_price", "cost", "amount")


@dataclass(frozen=True, slots=True)
class Payments:
    """A list of payments in a record: its field, the properties of an entry, and those of type and amount."""

    field: str
    names: tuple[str, ...]
    kind: str
    amount: str

    def spelt(self, word: str, entries: Sequence[Record]) -> str:
        """Return the type of a new entry, in the letter case of the existing entries."""
        return next((_as(word, entry[self.kind]) for entry in entries if isinstance(entry.get(self.kind), str)), word)


def payments_of(entity: Entity) -> Payments | None:
    """Return the list of payments that records of an entity have, or None."""
    return next((found for name, field in entity.fields.items() if (found := _payments(name, field)) is not None), None)


def refunding(tool: Tool, plan: Plan, entity: Entity) -> Refunded:
    """Compile the refunds of a tool that refunds all payments of a record.

    Each payment gets a refund entry with the same amount.
    """
    payments = payments_of(entity)
    if payments is None or not (plan.fixed and _REFUNDS.search(tool.description)):
        return lambda _record: {}
    name, kind = payments.field, payments.kind

    def refunded(record: Record) -> Record:
        entries = [as_object(entry) for entry in as_list(record.get(name))]
        paid = [entry for entry in entries if isinstance(entry.get(kind), str)]
        if not paid or any("refund" in str(entry[kind]).lower() for entry in paid):
            return {}
        return {name: [*entries, *({**entry, kind: payments.spelt("refund", paid)} for entry in paid)]}

    return refunded


def _payments(field: str, known: Field) -> Payments | None:
    """Return the description of a field that lists entries with a type and an amount, or None."""
    parts = properties(items(known.schema))
    types = (name for name, part in parts.items()
             if main_type(part) in {"string", ""} and words(name)[-1:] in (("type",), ("kind",)))  # fmt: skip
    kind = next(types, None)
    amount = next((name for name in parts if snake(name) in _AMOUNTS), None)
    return None if kind is None or amount is None else Payments(field, tuple(parts), kind, amount)


def _as(word: str, other: str) -> str:
    return word.upper() if other.isupper() else word.capitalize() if other.istitle() else word


def settling_difference(tool: Tool, plan: Plan, entity: Entity) -> Settled:
    """Compile the payment or refund of a price difference, if the tool mentions the difference."""
    payments, swap = payments_of(entity), plan.swap
    if payments is None or swap is None or not _mentions_difference(tool):
        return lambda _turn, _before, _exchanged: {}

    def settled(turn: Turn, before: Record, exchanged: Record) -> Record:
        more = _cost(exchanged.get(swap.field)) - _cost(before.get(swap.field))
        owed = round(more, 2)
        if not owed:
            return {}
        entries = [as_object(entry) for entry in as_list(before.get(payments.field))]
        kind = payments.spelt("payment" if owed > 0 else "refund", entries)
        known = {payments.kind: kind, payments.amount: abs(owed)}
        entry = {name: known.get(name, turn.call.arguments.get(name)) for name in payments.names}
        return {payments.field: [*entries, entry]}

    return settled


def _mentions_difference(tool: Tool) -> bool:
    descriptions = (str(part.get("description", "")) for part in properties(tool.input_schema).values())
    return any("difference" in text.lower() for text in (tool.description, *descriptions))


def _cost(parts: Json) -> float:
    prices = (next((part[name] for name in _PRICES if name in part), 0) for part in map(as_object, as_list(parts)))
    return sum(price for price in prices if isinstance(price, int | float))


def swapping(tool: Tool, plan: Plan, domain: Domain) -> Swapped:
    """Compile the exchange of the parts that a call names."""
    swap = plan.swap
    if swap is None:
        return lambda _turn, _key, _record: {}
    old, new, source = argument(swap.old), argument(swap.new), domain.entities[swap.entity]

    def swapped(turn: Turn, key: Key, record: Record) -> Record | Observation:
        olds, news = as_list(old(turn.call.arguments)), as_list(new(turn.call.arguments))
        if len(olds) != len(news):
            sentence = f"{swap.new} must have as many entries as {swap.old}: {len(olds)}, not {len(news)}"
            return invalid(tool, swap.new, news, sentence)
        parts = cast("list[Record]", list(as_list(record.get(swap.field))))
        for one, other in zip(olds, news, strict=True):
            place = next((at for at, part in enumerate(parts) if equal(part.get(swap.key), one)), None)
            if place is None:
                return conflict(tool, plan.entity or "", key, f"has no {swap.entity.rpartition('.')[2]} {one}")
            found = _found(turn, other)
            if found is None:
                return not_found(tool, source.name, other, swap.new)
            known = {name: value for name, value in found.items() if name in parts[place]}
            parts[place] = {**parts[place], **known, swap.key: other}
        return {swap.field: parts}

    def _found(turn: Turn, value: Json) -> Record | None:
        if source.inside is not None:
            return find_inside(turn.view, source, value)
        key = find_key(turn.view, source.name, value)
        return None if key is None else turn.view.get(source.name, key)

    return swapped
