"""What becomes of a record's payments where a tool says that they are refunded?"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from mcp_sim.types import Record, Tool
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object, items, main_type, properties
from mcp_sim.types.lexicon.words import snake, words
from mcp_sim.types.plans import Plan

Refunded: TypeAlias = Callable[[Record], Record]
"""The field of payments as it is afterwards, by its name; {} where nothing is paid back."""

_SAID = re.compile(r"\b(?:refunded|full refund)\b", re.IGNORECASE)
_AMOUNTS = frozenset({"amount", "total", "sum", "value"})


@dataclass(frozen=True, slots=True)
class Payments:
    """A list of payments in a record: its field, the properties of an entry, and which tell the type and the amount."""

    field: str
    names: tuple[str, ...]
    kind: str
    amount: str

    def spelt(self, word: str, entries: Sequence[Record]) -> str:
        """The type of a new entry, in the case of those that there are."""
        return next((_as(word, entry[self.kind]) for entry in entries if isinstance(entry.get(self.kind), str)), word)


def payments_of(entity: Entity) -> Payments | None:
    """The list of payments that the records of an entity have; None where there is none."""
    return next((found for name, field in entity.fields.items() if (found := _payments(name, field)) is not None), None)


def refunding(tool: Tool, plan: Plan, entity: Entity) -> Refunded:
    """The payments of a record with as many refunds, where it has a list in which each has an amount and a type."""
    payments = payments_of(entity)
    if payments is None or not (plan.fixed and _SAID.search(tool.description)):
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
    """What a field holds, if it is a list of entries with a type and an amount."""
    parts = properties(items(known.schema))
    types = (name for name, part in parts.items()
             if main_type(part) in {"string", ""} and words(name)[-1:] in (("type",), ("kind",)))  # fmt: skip
    kind = next(types, None)
    amount = next((name for name in parts if snake(name) in _AMOUNTS), None)
    return None if kind is None or amount is None else Payments(field, tuple(parts), kind, amount)


def _as(word: str, other: str) -> str:
    return word.upper() if other.isupper() else word.capitalize() if other.istitle() else word
