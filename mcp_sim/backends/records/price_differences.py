"""What is paid, or paid back, where a call exchanges parts of a record for dearer or cheaper ones?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from mcp_sim.backends.records.refunds import payments_of
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties
from mcp_sim.types.plans import Plan

Settled: TypeAlias = Callable[[Turn, Record, Record], Record]
"""The field of payments after a record got other parts, by its name; {} where nothing is to be paid."""

_PRICES = ("price", "unit_price", "cost", "amount")


def settling_difference(tool: Tool, plan: Plan, entity: Entity) -> Settled:
    """One more payment, or refund, of what the parts cost more or less, where the tool speaks of the difference."""
    payments, swap = payments_of(entity), plan.swap
    if payments is None or swap is None or not _speaks_of_it(tool):
        return lambda _turn, _before, _exchanged: {}

    def settled(turn: Turn, before: Record, exchanged: Record) -> Record:
        more = _cost(exchanged.get(swap.field)) - _cost(before.get(swap.field))
        owed = round(more, 2)
        if not owed:
            return {}
        entries = [as_object(entry) for entry in as_list(before.get(payments.field))]
        kind = payments.spelt("payment" if owed > 0 else "refund", entries)
        known = {payments.kind: kind, payments.amount: abs(owed)}
        told = {name: known.get(name, turn.call.arguments.get(name)) for name in payments.names}
        return {payments.field: [*entries, told]}

    return settled


def _speaks_of_it(tool: Tool) -> bool:
    told = (str(part.get("description", "")) for part in properties(tool.input_schema).values())
    return any("difference" in text.lower() for text in (tool.description, *told))


def _cost(parts: Json) -> float:
    prices = (next((part[name] for name in _PRICES if name in part), 0) for part in map(as_object, as_list(parts)))
    return sum(price for price in prices if isinstance(price, int | float))
