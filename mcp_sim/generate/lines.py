"""What do the lines of a record come to: of an order its items, of an invoice its positions?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Field
from mcp_sim.types.json_schema.shapes import as_list, as_object, is_rows, items, main_type, properties
from mcp_sim.types.lexicon.words import snake

_SUMS = ("subtotal", "total", "total_amount", "grand_total", "total_price", "amount", "total_cost")
_PRICES = ("price", "unit_price", "unit_cost", "cost")
_COUNTS = ("quantity", "qty", "count")
_AMOUNTS = ("amount", "subtotal", "total", "line_total", "total_price")


def has_price(schema: Record) -> bool:
    """Are these the lines of something that is paid for?"""
    return is_rows(schema) and any(snake(name) in _PRICES for name in properties(items(schema)))


def line_mends(fields: Mapping[str, Field]) -> Iterator[tuple[str, Callable[[Record], None]]]:
    """What each line comes to, and all of them: the sum of price times quantity."""
    lines = next((field for field in fields.values() if has_price(field.schema)), None)
    if lines is None:
        return
    names = {snake(name): name for name in properties(items(lines.schema))}
    price = next(names[name] for name in _PRICES if name in names)
    count = next((names[name] for name in _COUNTS if name in names), None)
    amount = next((names[name] for name in _AMOUNTS if name in names and names[name] != price), None)
    if amount is not None and count is not None:
        yield lines.name, _each(lines.name, price, count, amount)
    total = next((fields[name] for name in _SUMS if name in fields), None)
    if total is not None and main_type(total.schema) in {"number", "integer"}:
        yield total.name, _summed(total, lines.name, price, count)


def _each(lines: str, price: str, count: str, amount: str) -> Callable[[Record], None]:
    def mend(record: Record) -> None:
        for line in as_list(record.get(lines)):
            made = _times(as_object(line), price, count)
            if made is not None and isinstance(line, dict) and amount in line:
                line[amount] = _rounded(made, whole=isinstance(line[amount], int))

    return mend


def _summed(total: Field, lines: str, price: str, count: str | None) -> Callable[[Record], None]:
    whole = main_type(total.schema) == "integer"

    def mend(record: Record) -> None:
        made = [_times(as_object(line), price, count) for line in as_list(record.get(lines))]
        known = [one for one in made if one is not None]
        if len(known) == len(made):
            record[total.name] = _rounded(sum(known), whole=whole)

    return mend


def _times(line: Record, price: str, count: str | None) -> float | None:
    each: Json = line.get(price)
    times: Any = line.get(count, 1) if count else 1
    return each * times if isinstance(each, int | float) and isinstance(times, int | float) else None


def _rounded(value: float, *, whole: bool) -> Json:
    return round(value) if whole else round(value, 2)
