"""What do the numbers of the rows come to that a result shows: their total amount, their average price?"""

from __future__ import annotations

from mcp_sim.backends.records.facts import Fill
from mcp_sim.backends.records.summing import Seen, amount
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.lexicon.words import snake

_PRICES = ("price", "unit_price", "price_each", "cost", "unit_cost")
_COUNTS = ("quantity", "qty")
_LINES = ("line_total", "subtotal", "total", "total_price", "amount")
_TOTALS = frozenset({"total", "total_price", "total_amount", "total_cost", "subtotal", "grand_total", "total_value"})


def row_sum(name: str, schema: Record, entity: Entity) -> Fill | None:
    """What fills a number beside rows; None where no number of theirs is meant."""
    if main_type(schema) not in {"integer", "number"}:
        return None
    numbers = {snake(known): known for known, one in entity.fields.items() if main_type(one.schema) in _NUMBERS}
    line = next((numbers[one] for one in _LINES if one in numbers), None)
    price, count = (next((numbers[one] for one in names if one in numbers), None) for names in (_PRICES, _COUNTS))
    if name in _TOTALS and (line or price) is not None:
        return lambda facts: _sum([_cost(record, line, price, count) for _, record in facts.page.rows])
    measure = amount(name, entity, schema)
    if measure is None:
        return None
    rows = entity.name
    return lambda facts: measure(Seen({rows: [record for _, record in facts.page.rows]}, facts.turn.now))


_NUMBERS = frozenset({"integer", "number"})


def _cost(record: Record, line: str | None, price: str | None, count: str | None) -> Json:
    """What one row comes to: what it says itself, else its price, as often as it says."""
    if line is not None:
        return record.get(line)
    each, times = record.get(price or ""), record.get(count or "", 1)
    return each * times if isinstance(each, int | float) and isinstance(times, int | float) else None


def _sum(values: list[Json]) -> Json:
    total = sum(value for value in values if isinstance(value, int | float))
    return total if isinstance(total, int) else round(total, 2)
