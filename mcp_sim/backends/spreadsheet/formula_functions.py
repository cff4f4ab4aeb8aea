"""Functions and operators of formulas."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from mcp_sim.backends.spreadsheet.grids import Area
from mcp_sim.types import Json

Cells: TypeAlias = Callable[[str | None, Area], list[list[Json]]]
"""Returns the values of an area; None is the sheet of the formula."""

Value: TypeAlias = Callable[[Cells], Any]
"""A compiled part of a formula."""

COMPARED: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": lambda a, b: a == b, "<>": lambda a, b: a != b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
    "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
}  # fmt: skip
LONGEST_TEXT = 32_767
"""Maximum length of a text value, as in other spreadsheets."""

EXACT = 2**53


class FormulaError(Exception):
    """An error value of a formula: `#DIV/0!`, `#VALUE!`, `#REF!`, `#NUM!`."""


def single_or_all(values: list[list[Json]], place: Area) -> Any:
    if (place.top, place.left) == (place.bottom, place.right):
        return checked(values[0][0] if values and values[0] else None)
    return values


def checked(value: Any) -> Any:
    """Return the value of a cell. Raises `FormulaError` if it is an error value."""
    if isinstance(value, str) and value.startswith("#") and value.endswith(("!", "?", "A")):
        raise FormulaError(value)
    return value


def number_of(value: Any) -> Any:
    value = next(flatten([value]), None) if isinstance(value, list) else value
    if value is None or value == "":
        return 0
    if isinstance(value, bool):
        return int(value)
    return float(value) if isinstance(value, str) or abs(value) > EXACT else value


def text_in(value: Any) -> str:
    value = next(flatten([value]), None) if isinstance(value, list) else value
    if isinstance(value, bool):
        return str(value).upper()
    is_whole = isinstance(value, float) and value.is_integer()
    return "" if value is None else str(int(value)) if is_whole else str(value)


Join: TypeAlias = Callable[[Any, Any], Any]


def chain(first: Value, rest: Sequence[tuple[Join, Value]]) -> Value:
    """Return the value of a part followed by operators and operands."""

    def value(cells: Cells) -> Any:
        found = first(cells)
        for join, other in rest:
            found = join(found, other(cells))
        return found

    return value


def operator_for(sign: str) -> Join:
    if sign == "&":
        return lambda one, other: concatenate([one, other])
    if sign in COMPARED:
        compare = COMPARED[sign]
        return lambda one, other: compare(*_comparable(one, other))
    work = _ARITHMETIC[sign]
    return lambda one, other: work(number_of(one), number_of(other))


def concatenate(values: Sequence[Any]) -> str:
    """Concatenate texts. Raises `FormulaError` if the result is too long for a cell."""
    texts = [text_in(value) for value in values]
    if sum(map(len, texts)) > LONGEST_TEXT:
        raise FormulaError("#VALUE!")
    return "".join(texts)


def _comparable(one: Any, other: Any) -> tuple[Any, Any]:
    if isinstance(one, str) or isinstance(other, str):
        return text_in(one).lower(), text_in(other).lower()
    return number_of(one), number_of(other)


def power(base: Any, exponent: Any) -> Any:
    """Return a power. Raises `FormulaError` if it is not a real number."""
    found = float(base) ** exponent
    if isinstance(found, complex):
        raise FormulaError("#NUM!")
    return found


_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b, "^": power,
}  # fmt: skip


def flatten(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from flatten(value)  # pyright: ignore[reportUnknownArgumentType] (rows of cells hold JSON)
        else:
            yield checked(value)


Function: TypeAlias = Callable[[Cells, Sequence[Value]], Any]


def _over_numbers(work: Callable[[list[Any]], Any]) -> Function:
    """Return a function of all numbers in its arguments; other values in ranges are ignored."""

    def function(cells: Cells, given: Sequence[Value]) -> Any:
        found = list(flatten([value(cells) for value in given]))
        return work([float(one) for one in found if isinstance(one, int | float) and not isinstance(one, bool)])

    return function


def _over_all(work: Callable[[list[Any]], Any]) -> Function:
    return lambda cells, given: work(list(flatten([value(cells) for value in given])))


def _if(cells: Cells, given: Sequence[Value]) -> Any:
    chosen = 1 if number_of(given[0](cells)) else 2
    return given[chosen](cells) if chosen < len(given) else False


def _if_error(cells: Cells, given: Sequence[Value]) -> Any:
    try:
        return given[0](cells)
    except (FormulaError, ArithmeticError, TypeError, ValueError):
        return given[1](cells) if len(given) > 1 else ""


def _round(cells: Cells, given: Sequence[Value]) -> Any:
    places = int(number_of(given[1](cells))) if len(given) > 1 else 0
    scale = 10.0**places
    number = number_of(given[0](cells))
    return math.copysign(math.floor(abs(number) * scale + 0.5) / scale, number)


def _unary(work: Callable[[Any], Any]) -> Function:
    return lambda cells, given: work(given[0](cells))


def _mean(numbers: list[Any]) -> Any:
    return math.fsum(numbers) / len(numbers)


def _median(numbers: list[Any]) -> Any:
    if not numbers:
        raise FormulaError("#NUM!")
    ordered, middle = sorted(numbers), len(numbers) // 2
    return ordered[middle] if len(numbers) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


FUNCTIONS: Mapping[str, Function] = {
    "SUM": _over_numbers(math.fsum), "AVERAGE": _over_numbers(_mean), "MEDIAN": _over_numbers(_median),
    "MIN": _over_numbers(lambda n: min(n, default=0)), "MAX": _over_numbers(lambda n: max(n, default=0)),
    "COUNT": _over_numbers(len), "COUNTA": _over_all(lambda all_: sum(one not in (None, "") for one in all_)),
    "PRODUCT": _over_numbers(math.prod), "ROUND": _round, "ABS": _unary(lambda v: abs(number_of(v))),
    "INT": _unary(lambda v: math.floor(number_of(v))), "SQRT": _unary(lambda v: math.sqrt(number_of(v))),
    "MOD": lambda cells, given: number_of(given[0](cells)) % number_of(given[1](cells)),
    "POWER": lambda cells, given: power(number_of(given[0](cells)), number_of(given[1](cells))),
    "IF": _if, "IFERROR": _if_error, "AND": _over_all(all), "OR": _over_all(any),
    "NOT": _unary(lambda v: not number_of(v)),
    "CONCATENATE": _over_all(concatenate),
    "CONCAT": _over_all(concatenate), "LEN": _unary(lambda v: len(text_in(v))),
    "UPPER": _unary(lambda v: text_in(v).upper()), "LOWER": _unary(lambda v: text_in(v).lower()),
    "TRIM": _unary(lambda v: " ".join(text_in(v).split())),
}  # fmt: skip
