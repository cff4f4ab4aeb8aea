"""Functions and operators of formulas. A range is a list of rows."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from mcp_sim.backends.spreadsheet.grids import Area
from mcp_sim.types import Json

Cells: TypeAlias = Callable[[str | None, Area], list[list[Json]]]
"""Returns the values of an area; None is the sheet of the formula."""

Value: TypeAlias = Callable[[Cells], Any]
"""A compiled part of a formula."""

Join: TypeAlias = Callable[[Any, Any], Any]
Function: TypeAlias = Callable[[Cells, Sequence[Value]], Any]

COMPARED: Mapping[str, Join] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip
LONGEST_TEXT = 32_767
"""Maximum length of a text value, as in other spreadsheets."""
EXACT = 2**53
"""From this number on, not all whole numbers have a float."""


class FormulaError(Exception):
    """An error value of a formula: `#DIV/0!`, `#VALUE!`, `#REF!`, `#NUM!`."""


ERRORS = (FormulaError, ArithmeticError, LookupError, TypeError, ValueError)
"""Exceptions that are error values."""


def checked(value: Any) -> Any:
    """Return the value of a cell. Raises `FormulaError` if it is an error value."""
    if isinstance(value, str) and value.startswith("#") and value.endswith(("!", "?", "A")):
        raise FormulaError(value)
    return value


def flatten(values: Sequence[Any]) -> Iterator[Any]:
    """Yield the values of cells and ranges. Raises `FormulaError` at an error value."""
    for value in values:
        if isinstance(value, list):
            yield from flatten(value)  # pyright: ignore[reportUnknownArgumentType] (rows of cells hold JSON)
        else:
            yield checked(value)


def single(value: Any) -> Any:
    """Return the first value of a range, or the value of a cell."""
    return next(flatten([value]), None) if isinstance(value, list) else value


def number_of(value: Any) -> Any:
    value = single(value)
    if value is None or value == "":
        return 0
    if isinstance(value, bool):
        return int(value)
    return float(value) if isinstance(value, str) or abs(value) > EXACT else value


def _text_of(value: Any) -> str:
    value = single(value)
    if isinstance(value, bool):
        return str(value).upper()
    is_whole = isinstance(value, float) and value.is_integer()
    return "" if value is None else str(int(value)) if is_whole else str(value)


def chain(first: Value, rest: Sequence[tuple[Join, Value]]) -> Value:
    """Return the value of a part followed by operators and operands."""

    def value(cells: Cells) -> Any:
        total = first(cells)
        for join, other in rest:
            total = join(total, other(cells))
        return total

    return value


def operator_for(sign: str) -> Join:
    if sign == "&":
        return lambda value, other: _concatenate([value, other])
    if sign in COMPARED:
        return lambda value, other: _compare(COMPARED[sign], value, other)
    work = _ARITHMETIC[sign]
    return lambda value, other: work(number_of(value), number_of(other))


def _compare(test: Join, value: Any, other: Any) -> bool:
    if isinstance(value, str) or isinstance(other, str):
        return test(_text_of(value).lower(), _text_of(other).lower())
    return test(number_of(value), number_of(other))


def _concatenate(values: Sequence[Any]) -> str:
    """Concatenate texts. Raises `FormulaError` if the result is too long for a cell."""
    texts = [_text_of(value) for value in values]
    if sum(map(len, texts)) > LONGEST_TEXT:
        raise FormulaError("#VALUE!")
    return "".join(texts)


def _power(base: Any, exponent: Any) -> Any:
    """Return a power. Raises `FormulaError` if it is not a real number."""
    power = float(number_of(base)) ** number_of(exponent)
    if isinstance(power, complex):
        raise FormulaError("#NUM!")
    return power


_ARITHMETIC: Mapping[str, Join] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": lambda value, other: value / other, "^": _power,
}  # fmt: skip


def _of(work: Callable[..., Any]) -> Function:
    """Return a function of its arguments."""
    return lambda cells, given: work(*(value(cells) for value in given))


def _of_one(work: Callable[[Any], Any]) -> Function:
    return lambda cells, given: work(given[0](cells))


def _of_all(work: Callable[[list[Any]], Any]) -> Function:
    """Return a function of all values in its arguments."""
    return lambda cells, given: work(list(flatten([value(cells) for value in given])))


def _of_numbers(work: Callable[[list[Any]], Any]) -> Function:
    """Return a function of all numbers in its arguments; other values in ranges are ignored."""
    return _of_all(lambda values: work([float(item) for item in values if type(item) in {int, float}]))


def _if(cells: Cells, given: Sequence[Value]) -> Any:
    chosen = 1 if number_of(given[0](cells)) else 2
    return given[chosen](cells) if chosen < len(given) else False


def _if_error(cells: Cells, given: Sequence[Value]) -> Any:
    try:
        return given[0](cells)
    except ERRORS:
        return given[1](cells) if len(given) > 1 else ""


def _modulo(value: Any, by: Any) -> Any:
    return number_of(value) % number_of(by)


def _round(value: Any, places: Any = 0) -> Any:
    scale, number = 10.0 ** int(number_of(places)), number_of(value)
    return math.copysign(math.floor(abs(number) * scale + 0.5) / scale, number)


def _median(numbers: list[Any]) -> Any:
    if not numbers:
        raise FormulaError("#NUM!")
    ordered, middle = sorted(numbers), len(numbers) // 2
    return ordered[middle] if len(numbers) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


FUNCTIONS: Mapping[str, Function] = {
    "SUM": _of_numbers(math.fsum), "AVERAGE": _of_numbers(lambda values: math.fsum(values) / len(values)),
    "MEDIAN": _of_numbers(_median), "MIN": _of_numbers(lambda values: min(values, default=0)),
    "MAX": _of_numbers(lambda values: max(values, default=0)), "COUNT": _of_numbers(len),
    "COUNTA": _of_all(lambda values: sum(item not in (None, "") for item in values)), "PRODUCT": _of_numbers(math.prod),
    "ROUND": _of(_round), "MOD": _of(_modulo), "POWER": _of(_power), "IF": _if, "IFERROR": _if_error,
    "ABS": _of_one(lambda value: abs(number_of(value))), "INT": _of_one(lambda value: math.floor(number_of(value))),
    "SQRT": _of_one(lambda value: math.sqrt(number_of(value))), "NOT": _of_one(lambda value: not number_of(value)),
    "AND": _of_all(all), "OR": _of_all(any), "CONCATENATE": _of_all(_concatenate), "CONCAT": _of_all(_concatenate),
    "LEN": _of_one(lambda value: len(_text_of(value))), "UPPER": _of_one(lambda value: _text_of(value).upper()),
    "LOWER": _of_one(lambda value: _text_of(value).lower()),
    "TRIM": _of_one(lambda value: " ".join(_text_of(value).split())),
}  # fmt: skip
