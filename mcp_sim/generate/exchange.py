"""Make exchange rates and converted amounts agree with their currencies."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from mcp_sim.generate.schema_constraints import validity_test
from mcp_sim.generate.shipped_data import load
from mcp_sim.types import Record
from mcp_sim.types.domain import Field
from mcp_sim.types.json_schema.shapes import main_type

Adjustment: TypeAlias = Callable[[Record], None]

_FROM = re.compile(r"(from|base|source)(_(currency|code))*|currency_from")
_TO = re.compile(r"(to|target|quote|destination)(_(currency|code))*|currency_to")
_RATE = re.compile(r"(exchange_|conversion_|mid_market_)?rate")
_CONVERTED = re.compile(r"(converted_|target_)?(result|amount|value)|converted")
_DIGITS = 4


def exchange_adjustments(fields: Mapping[str, Field]) -> Iterator[tuple[str, Adjustment]]:
    """Yield what computes the rate between two currencies, and an amount that is converted at it."""
    start, end = (_named(fields, form, "string") for form in (_FROM, _TO))
    if not start or not end:
        return
    for field in _named(fields, _RATE, "number"):
        yield field.name, _set(field, lambda record: _rate(record.get(start[0].name), record.get(end[0].name)))
    for field in _named(fields, _CONVERTED, "number") if "amount" in fields else ():
        if field is not fields["amount"]:
            yield field.name, _set(field, lambda record: _converted(record, start[0].name, end[0].name))


def _named(fields: Mapping[str, Field], form: re.Pattern[str], kind: str) -> list[Field]:
    return [field for name, field in fields.items() if form.fullmatch(name) and main_type(field.schema) == kind]


def _rate(start: object, end: object) -> float | None:
    """Return what one unit of a currency is worth in another."""
    worth: dict[str, float] = load("amounts")["worth"]
    first, second = (worth.get(str(code).upper()) for code in (start, end))
    return None if first is None or second is None else first / second


def _converted(record: Record, start: str, end: str) -> float | None:
    rate, amount = _rate(record.get(start), record.get(end)), record.get("amount")
    return round(amount * rate, 2) if rate is not None and isinstance(amount, int | float) else None


def _set(field: Field, value: Callable[[Record], float | None]) -> Adjustment:
    allows = validity_test(field.schema)

    def adjust(record: Record) -> None:
        made = value(record) if record.get(field.name) is not None else None
        made = None if made is None else float(f"{made:.{_DIGITS + 2}g}")
        if made is not None and allows(made):
            record[field.name] = made

    return adjust
