"""Adjust generated fields to other fields of the same record: totals, bounds, order of times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import product
from typing import Any, TypeAlias, TypeVar, cast

from mcp_sim.generate.numbers import without_currency
from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.shipped_data import load, word_list
from mcp_sim.generate.time_fields import format_time, time_meaning
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object, is_rows, items, main_type, properties
from mcp_sim.types.json_values import multiplied, rounded
from mcp_sim.types.lexicon.english import singular, snake
from mcp_sim.types.lexicon.terms import ordered
from mcp_sim.types.time_formats import parse_time

Adjustment: TypeAlias = Callable[[Record], None]
"""Adjusts generated fields of a record, in place, to its other fields."""

T = TypeVar("T")
_USUAL_TAX = 0.2  # 20 %, close to the value-added tax of most countries


def adjustments(entity: Entity) -> tuple[tuple[str, Adjustment], ...]:
    """Return the adjustments of an entity's records, each with the name of the field that it writes."""
    stored = [field for field in entity.fields.values() if field.link is None and field.name != entity.key]
    fields = {without_currency(snake(field.name)): field for field in stored}
    rows = [field for field in fields.values() if is_rows(field.schema)]
    ordered = [(lower.name, _ordered(lower, upper)) for lower, upper in _bounds(fields)]
    amounts = (*_lines(fields), *_amounts(fields), *_owed(fields), *_counts(fields))
    return (*ordered, *map(_row_bounds, rows), *amounts, *_times(fields))


def _counts(fields: Mapping[str, Field]) -> Iterator[tuple[str, Adjustment]]:
    """Count the items of lists: `line_count` beside `lines`."""
    for name, field in fields.items():
        if main_type(field.schema) == "array":
            forms = (f"{singular(name)}_count", f"{name}_count", f"number_of_{name}", f"num_{name}", f"total_{name}")
            for count in (fields[form] for form in forms if form in fields):
                yield count.name, _computed(count, lambda record, name=field.name: len(record[name]))


def _amounts(fields: Mapping[str, Field]) -> Iterator[tuple[str, Adjustment]]:
    """Compute totals: price times quantity; the subtotal with what is added to it, less what is taken from it.

    What is available is the stock without what is set aside.
    """
    stock, aside, free = (_first(names, fields) for names in ("stocks", "set_aside", "free"))
    if stock is not None and aside is not None and free is not None:
        yield free.name, _computed(free, lambda record: max(0, record[stock.name] - record[aside.name]))
    price, count, total = (_first(names, fields) for names in ("prices", "counts", "totals"))
    if price is not None and count is not None and total is not None:
        yield total.name, _computed(total, lambda record: record[price.name] * record[count.name])
    if "subtotal" not in fields:
        return
    base, rate, taxes = fields["subtotal"].name, _first("rates", fields), _all("taxes", fields)
    for tax in taxes:
        yield tax.name, _computed(tax, lambda record: record[base] * _tax_share(record, rate))
    grand_total = _first("grand_totals", fields)
    if grand_total is not None:
        added, taken = [*taxes, *_all("shipping", fields)], _all("discounts", fields)
        yield grand_total.name, _computed(grand_total, lambda record: _sum(record, added, base) - _sum(record, taken))


def payment_fields(fields: Mapping[str, Field]) -> tuple[str, str] | None:
    """Return the fields with the total of a record and with what was paid of it, if it has both."""
    paid = next((fields[name] for name in ordered("fields.paid") if name in fields), None)
    total = _first("grand_totals", fields)
    return (total.name, paid.name) if total is not None and paid is not None else None


def _owed(fields: Mapping[str, Field]) -> Iterator[tuple[str, Adjustment]]:
    """Compute what is still owed of a total."""
    amounts, owed = payment_fields(fields), _first("owed", fields)
    if amounts is not None and owed is not None:
        total, paid = amounts
        yield owed.name, _computed(owed, lambda record: max(0, record[total] - record[paid]))


def _all(names: str, known: Mapping[str, T]) -> list[T]:
    """Return the known entries that a list of `amounts.json` names."""
    return [known[name] for name in word_list("amounts", names) if name in known]


def _first(names: str, known: Mapping[str, T]) -> T | None:
    return next(iter(_all(names, known)), None)


def _tax_share(record: Record, rate: Field | None) -> float:
    """Return the tax on an amount of 1, at the record's own rate if it has one."""
    percent: Json = record.get(rate.name) if rate is not None else None
    return _USUAL_TAX if not isinstance(percent, int | float) else percent / 100 if percent > 1 else percent


def _sum(record: Record, fields: Iterable[Field], *names: str) -> Any:
    return sum(record.get(name) or 0 for name in (*names, *(field.name for field in fields)))


def _computed(field: Field, value: Callable[[Record], Any]) -> Adjustment:
    whole, allows = main_type(field.schema) == "integer", validity_test(field.schema)

    def adjust(record: Record) -> None:
        try:
            result: Any = value(record)
        except (KeyError, TypeError, OverflowError):
            return
        result = rounded(result, None if whole else 2)
        if record.get(field.name) is not None and result is not None and allows(result):
            record[field.name] = result

    return adjust


def _bounds(fields: Mapping[str, Field]) -> list[tuple[Field, Field]]:
    """Return pairs of fields: the first value is at most the second."""
    pairs = [(name, f"max{name[3:]}") for name in fields if name.startswith("min")]
    pairs += [(name, f"{name[:-3]}max") for name in fields if name.endswith("_min")]
    pairs += [(f"{name}_available", name) for name in fields] + [(f"available_{name}", name) for name in fields]
    pairs += load("amounts")["bounds"]
    return [(fields[low], fields[high]) for low, high in pairs if low in fields and high in fields]


def _row_bounds(field: Field) -> tuple[str, Adjustment]:
    """Cap such values in the rows of a list: no more of a line is allocated than ordered."""
    bounds = _bounds({snake(name): Field(name, schema) for name, schema in properties(items(field.schema)).items()})

    def adjust(record: Record) -> None:
        rows = [dict(as_object(row)) for row in as_list(record.get(field.name))] if bounds else []
        for row, (lower, upper) in product(rows, bounds):
            low, high = row.get(lower.name), row.get(upper.name)
            if isinstance(low, int | float) and isinstance(high, int | float):
                row[lower.name] = min(low, high)
        record |= {field.name: rows} if rows else {}

    return field.name, adjust


def _ordered(lower: Field, upper: Field) -> Adjustment:
    """Swap two values if the lower one is the higher."""
    under, over = validity_test(lower.schema), validity_test(upper.schema)

    def adjust(record: Record) -> None:
        low, high = cast("Any", record.get(lower.name)), cast("Any", record.get(upper.name))
        both = isinstance(low, int | float) and isinstance(high, int | float)
        if both and low > high and under(high) and over(low):
            record[lower.name], record[upper.name] = high, low

    return adjust


def _times(fields: Mapping[str, Field]) -> list[tuple[str, Adjustment]]:
    """Give later events no earlier time. Move the time of the last change to or after the last event of the record."""
    meanings = {field.name: time_meaning(field.name, field.schema) for field in fields.values()}
    steps = (f"{step}_{ending}" for step in word_list("times", "order") for ending in ("at", "on", "date", "time"))
    times = [fields[name] for name in steps if name in fields and meanings[fields[name].name] is not None]
    events = [name for name, meaning in meanings.items() if meaning == "past"]
    later = [(field, [time.name for time in times[:at]]) for at, field in enumerate(times) if at]
    later += [(field, events) for field in fields.values() if events and meanings[field.name] == "updated"]
    return [(field.name, _later(field, earlier)) for field, earlier in later]


def _later(field: Field, steps: list[str]) -> Adjustment:
    def adjust(record: Record) -> None:
        later = parse_time(record.get(field.name))
        moments = [moment for name in steps if (moment := parse_time(record.get(name))) is not None]
        if later is not None and moments and max(moments) > later:
            with suppress(OverflowError):  # in UTC it may be after 9999-12-31
                record[field.name] = format_time(max(moments), field.name, field.schema)

    return adjust


def has_price(schema: Record) -> bool:
    """Return whether a schema describes line items with prices."""
    return is_rows(schema) and any(
        without_currency(snake(name)) in word_list("amounts", "line_prices") for name in properties(items(schema))
    )


def _lines(fields: Mapping[str, Field]) -> Iterator[tuple[str, Adjustment]]:
    """Compute the amount of each line item, and the total of all: price times quantity."""
    lines = next((field for field in fields.values() if has_price(field.schema)), None)
    if lines is None:
        return
    names = {without_currency(snake(name)): name for name in properties(items(lines.schema))}
    price, count = _first("line_prices", names), _first("counts", names)
    amount = _first("line_amounts", {name: own for name, own in names.items() if own != price})
    total = _first("sums", fields)

    def adjust_lines(record: Record) -> None:
        for line, number in _line_amounts(record, lines.name, price, count):
            if number is not None and amount in line:
                shown = rounded(number, None if isinstance(line[amount], int) else 2)
                line[amount] = line[amount] if shown is None else shown

    if amount is not None and count is not None:
        yield lines.name, adjust_lines
    if total is not None and main_type(total.schema) in {"number", "integer"}:
        whole = main_type(total.schema) == "integer"

        def adjust_total(record: Record) -> None:
            numbers = [number for _, number in _line_amounts(record, lines.name, price, count)]
            whole_sum = None if None in numbers else rounded(sum(numbers), None if whole else 2)
            if whole_sum is not None:
                record[total.name] = whole_sum

        yield total.name, adjust_total


def _line_amounts(record: Record, lines: str, price: str | None, count: str | None) -> list[tuple[Record, Any]]:
    """Return the line items of a record with their amounts, None if an amount cannot be computed."""
    amounts: list[tuple[Record, Any]] = []
    for line in map(as_object, as_list(record.get(lines))):
        each: Json = line.get(price or "")
        times: Json = line.get(count, 1) if count else 1
        is_known = isinstance(each, int | float) and isinstance(times, int | float)
        amounts.append((line, multiplied(each, times) if is_known else None))
    return amounts
