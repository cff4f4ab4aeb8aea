"""Adjust generated fields to other fields of the same record: totals, bounds, order of times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, TypeVar, cast

from mcp_sim.generate.numbers import without_currency
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.shipped_data import load, word_list
from mcp_sim.generate.time_fields import format_time, time_meaning
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object, is_rows, items, main_type, properties
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.time_formats import parse_time

Adjustment: TypeAlias = Callable[[Record], None]
"""Adjusts generated fields of a record, in place, to its other fields."""

T = TypeVar("T")
_USUAL_TAX = 0.2  # 20 %, close to the value-added tax of most countries


def adjustments(entity: Entity) -> tuple[tuple[str, Adjustment], ...]:
    """Return the adjustments of an entity's records, each with the name of the field that it writes."""
    stored = [field for field in entity.fields.values() if field.link is None]
    fields = {without_currency(snake(field.name)): field for field in stored}
    return (
        *_pairs(fields), *line_adjustments(fields), *_products(fields), *_sums(fields), *_order(fields),
        *_stamps(fields),
    )  # fmt: skip


def _products(fields: Mapping[str, Field]) -> Iterator[tuple[str, Adjustment]]:
    price, count, total = (_first(names, fields) for names in ("prices", "counts", "totals"))
    if price is not None and count is not None and total is not None:
        yield total.name, _computed(total, lambda record: record[price.name] * record[count.name])


def _sums(fields: Mapping[str, Field]) -> Iterator[tuple[str, Adjustment]]:
    """Compute `total` from `subtotal` and what is added to it."""
    if "subtotal" in fields:
        yield from _totals(fields, fields["subtotal"].name)


def _totals(fields: Mapping[str, Field], base: str) -> Iterator[tuple[str, Adjustment]]:
    for tax in _all("taxes", fields):
        yield tax.name, _computed(tax, _taxed(base, _rate(fields)))
    total = _first("grand_totals", fields)
    if total is not None:
        added = [field.name for field in (*_all("taxes", fields), *_all("shipping", fields))]
        taken = [field.name for field in _all("discounts", fields)]
        yield total.name, _computed(total, lambda record: _sum(record, [base, *added]) - _sum(record, taken))


def _all(names: str, known: Mapping[str, T]) -> list[T]:
    """Return the known entries that a list of `amounts.json` names."""
    return [known[name] for name in word_list("amounts", names) if name in known]


def _first(names: str, known: Mapping[str, T]) -> T | None:
    return next(iter(_all(names, known)), None)


def _rate(fields: Mapping[str, Field]) -> str | None:
    return next((fields[name].name for name in word_list("amounts", "rates") if name in fields), None)


def _taxed(base: str, rate: str | None) -> Callable[[Record], Any]:
    """Return a function that computes the tax on an amount, at the record's own rate if it has one."""

    def tax(record: Record) -> Any:
        own_rate = record.get(rate) if rate is not None else None
        share = _USUAL_TAX if not isinstance(own_rate, int | float) else own_rate / 100 if own_rate > 1 else own_rate
        return record[base] * share

    return tax


def _sum(record: Record, names: list[str]) -> Any:
    return sum(record.get(name) or 0 for name in names)


def _computed(field: Field, value: Callable[[Record], Any]) -> Adjustment:
    whole, allows = main_type(field.schema) == "integer", validity_test(field.schema)

    def adjust(record: Record) -> None:
        try:
            result: Any = value(record)
        except (KeyError, TypeError):
            return
        result = round(result) if whole else round(result, 2)
        if record.get(field.name) is not None and allows(result):
            record[field.name] = result

    return adjust


def _pairs(fields: Mapping[str, Field]) -> list[tuple[str, Adjustment]]:
    """Swap pairs of bounds whose lower one is the higher."""
    pairs = [(name, f"max{name[3:]}") for name in fields if name.startswith("min")]
    pairs += [(name, f"{name[:-3]}max") for name in fields if name.endswith("_min")]
    pairs += [(f"{name}_available", name) for name in fields] + [(f"available_{name}", name) for name in fields]
    pairs = [(low, high) for low, high in (*pairs, *load("amounts")["bounds"]) if low in fields and high in fields]
    return [(fields[low].name, _ordered(fields[low], fields[high])) for low, high in pairs]


def _ordered(lower: Field, upper: Field) -> Adjustment:
    under, over = validity_test(lower.schema), validity_test(upper.schema)

    def adjust(record: Record) -> None:
        low, high = cast("Any", record.get(lower.name)), cast("Any", record.get(upper.name))
        both = isinstance(low, int | float) and isinstance(high, int | float)
        if both and low > high and under(high) and over(low):
            record[lower.name], record[upper.name] = high, low

    return adjust


def _order(fields: Mapping[str, Field]) -> list[tuple[str, Adjustment]]:
    """Give later events no earlier time."""
    steps = [fields[name] for step in word_list("times", "order") for name in _step_names(step) if name in fields]
    times = [field for field in steps if time_meaning(field.name, field.schema) is not None]
    return [(field.name, _later(field, [time.name for time in times[:at]])) for at, field in enumerate(times) if at]


def _step_names(step: str) -> tuple[str, ...]:
    return tuple(f"{step}_{ending}" for ending in ("at", "on", "date", "time"))


def _stamps(fields: Mapping[str, Field]) -> list[tuple[str, Adjustment]]:
    """Move the time of the last change to or after the last event of the record."""
    updated = [field for field in fields.values() if time_meaning(field.name, field.schema) == "updated"]
    steps = [field.name for field in fields.values() if time_meaning(field.name, field.schema) == "past"]
    return [(field.name, _later(field, steps)) for field in updated] if steps else []


def _later(field: Field, steps: list[str]) -> Adjustment:
    def adjust(record: Record) -> None:
        later = parse_time(record.get(field.name))
        moments = [moment for name in steps if (moment := parse_time(record.get(name))) is not None]
        if later is not None and moments and max(moments) > later:
            record[field.name] = format_time(max(moments), field.name, field.schema)

    return adjust


def has_price(schema: Record) -> bool:
    """Return whether a schema describes line items with prices."""
    return is_rows(schema) and any(
        without_currency(snake(name)) in word_list("amounts", "line_prices") for name in properties(items(schema))
    )


def line_adjustments(fields: Mapping[str, Field]) -> Iterator[tuple[str, Callable[[Record], None]]]:
    """Compute the amount of each line item, and the total of all: price times quantity."""
    lines = next((field for field in fields.values() if has_price(field.schema)), None)
    if lines is None:
        return
    names = {without_currency(snake(name)): name for name in properties(items(lines.schema))}
    price = _first("line_prices", names) or ""
    count = _first("counts", names)
    amount = _first("line_amounts", {name: own for name, own in names.items() if own != price})
    if amount is not None and count is not None:
        yield lines.name, _line_amounts(lines.name, price, count, amount)
    total = _first("sums", fields)
    if total is not None and main_type(total.schema) in {"number", "integer"}:
        yield total.name, _sum_of_lines(total, lines.name, price, count)


def _line_amounts(lines: str, price: str, count: str, amount: str) -> Callable[[Record], None]:
    def adjust(record: Record) -> None:
        for line in as_list(record.get(lines)):
            number = _line_amount(as_object(line), price, count)
            if number is not None and isinstance(line, dict) and amount in line:
                line[amount] = _rounded(number, whole=isinstance(line[amount], int))

    return adjust


def _sum_of_lines(total: Field, lines: str, price: str, count: str | None) -> Callable[[Record], None]:
    whole = main_type(total.schema) == "integer"

    def adjust(record: Record) -> None:
        amounts = [_line_amount(as_object(line), price, count) for line in as_list(record.get(lines))]
        known = [number for number in amounts if number is not None]
        if len(known) == len(amounts):
            record[total.name] = _rounded(sum(known), whole=whole)

    return adjust


def _line_amount(line: Record, price: str, count: str | None) -> float | None:
    each: Json = line.get(price)
    times: Any = line.get(count, 1) if count else 1
    return each * times if isinstance(each, int | float) and isinstance(times, int | float) else None


def _rounded(value: float, *, whole: bool) -> Json:
    return round(value) if whole else round(value, 2)
