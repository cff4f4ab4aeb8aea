"""Which amounts of a record follow from what else it says: a total from price and quantity, or from its own lines?"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from typing import Any, TypeAlias

from mcp_sim.domain import Entity, Field
from mcp_sim.records.coherence import mends
from mcp_sim.records.times import sense
from mcp_sim.schemas import as_list, as_object, is_rows, items, main_type, properties
from mcp_sim.types import Record
from mcp_sim.words import snake

Settle: TypeAlias = Callable[[Record, Container[str]], None]
"""Brings the amounts of a record into line, except for those that a call gave itself."""

_TOTALS = ("total", "total_amount", "grand_total", "subtotal", "total_price", "amount", "total_cost")
_PRICES = ("price", "unit_price", "unit_cost", "cost")
_COUNTS = ("quantity", "qty", "count")


def settling(entity: Entity) -> Settle:
    """What follows in a record of this entity, compiled."""
    stamps = {name for name, field in entity.fields.items() if sense(name, field.schema) is not None}
    rules = [*_lines(entity), *((name, mend) for name, mend in mends(entity) if name not in stamps)]

    def settle(record: Record, given: Container[str]) -> None:
        for name, mend in rules:
            if name in given or name not in record:
                continue
            kept = {field: value for field, value in record.items() if field in given}
            mend(record)
            record.update(kept)

    return settle


def _lines(entity: Entity) -> Iterator[tuple[str, Callable[[Record], None]]]:
    """The total of a record that holds its lines: the sum of price times quantity."""
    fields = {snake(name): field for name, field in entity.fields.items() if field.derived is None}
    total = next((fields[name] for name in _TOTALS if name in fields), None)
    lines = next((field for field in fields.values() if is_rows(field.schema)), None)
    if total is None or lines is None or main_type(total.schema) not in {"number", "integer"}:
        return
    names = {snake(name): name for name in properties(items(lines.schema))}
    price = next((names[name] for name in _PRICES if name in names), None)
    count = next((names[name] for name in _COUNTS if name in names), None)
    if price is not None:
        yield total.name, _summed(total, lines.name, price, count)


def _summed(total: Field, lines: str, price: str, count: str | None) -> Callable[[Record], None]:
    whole = main_type(total.schema) == "integer"

    def mend(record: Record) -> None:
        found: Any = 0
        for line in as_list(record.get(lines)):
            each, times = as_object(line).get(price), as_object(line).get(count, 1) if count else 1
            if not isinstance(each, int | float) or not isinstance(times, int | float):
                return
            found += each * times
        record[total.name] = round(found) if whole else round(found, 2)

    return mend
