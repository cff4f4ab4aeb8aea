"""What becomes of a record's payments where a tool says that they are refunded?"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from mcp_sim.domain import Entity, Plan
from mcp_sim.schemas import as_list, as_object, items, main_type, properties
from mcp_sim.types import Record, Tool
from mcp_sim.words import snake, words

Refunded: TypeAlias = Callable[[Record], Record]
"""The field of payments as it is afterwards, by its name; {} where nothing is paid back."""

_SAID = re.compile(r"\b(?:refunded|full refund)\b", re.IGNORECASE)
_AMOUNTS = frozenset({"amount", "total", "sum", "value"})


def refunding(tool: Tool, plan: Plan, entity: Entity) -> Refunded:
    """The payments of a record with as many refunds, where it has a list in which each has an amount and a type."""
    kinds = {name: _kind(items(field.schema)) for name, field in entity.fields.items()}
    name = next((name for name, kind in kinds.items() if kind), "")
    if not (plan.fixed and name and _SAID.search(tool.description)):
        return lambda _record: {}
    kind = kinds[name] or ""

    def refunded(record: Record) -> Record:
        entries = [as_object(entry) for entry in as_list(record.get(name))]
        paid = [entry for entry in entries if isinstance(entry.get(kind), str)]
        if not paid or any("refund" in str(entry[kind]).lower() for entry in paid):
            return {}
        return {name: [*entries, *({**entry, kind: _as("refund", str(entry[kind]))} for entry in paid)]}

    return refunded


def _kind(entry: Record) -> str | None:
    """The property that tells of which type an entry of a list of payments is; None where it is no such list."""
    named = {name: snake(name) for name, part in properties(entry).items() if main_type(part) in {"string", ""}}
    kind = next((name for name, plain in named.items() if words(plain)[-1:] in (("type",), ("kind",))), None)
    return kind if any(snake(name) in _AMOUNTS for name in properties(entry)) else None


def _as(word: str, other: str) -> str:
    return word.upper() if other.isupper() else word.capitalize() if other.istitle() else word
