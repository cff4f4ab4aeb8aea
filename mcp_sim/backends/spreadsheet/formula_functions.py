"""Which functions does a formula of a sheet know, and what do they make of their arguments?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from mcp_sim.backends.spreadsheet.formula_values import Cells, Failing, Value, flat, in_full, number_of, power, text_in

Function: TypeAlias = Callable[[Cells, Sequence[Value]], Any]


def _over_numbers(work: Callable[[list[Any]], Any]) -> Function:
    """A function of all the numbers in its arguments; what is no number in a range is passed over."""

    def function(cells: Cells, given: Sequence[Value]) -> Any:
        found = list(flat([value(cells) for value in given]))
        return work([float(one) for one in found if isinstance(one, int | float) and not isinstance(one, bool)])

    return function


def _over_all(work: Callable[[list[Any]], Any]) -> Function:
    return lambda cells, given: work(list(flat([value(cells) for value in given])))


def _if(cells: Cells, given: Sequence[Value]) -> Any:
    chosen = 1 if number_of(given[0](cells)) else 2
    return given[chosen](cells) if chosen < len(given) else False


def _if_error(cells: Cells, given: Sequence[Value]) -> Any:
    try:
        return given[0](cells)
    except (Failing, ArithmeticError, TypeError, ValueError):
        return given[1](cells) if len(given) > 1 else ""


def _round(cells: Cells, given: Sequence[Value]) -> Any:
    places = int(number_of(given[1](cells))) if len(given) > 1 else 0
    scale = 10.0**places
    number = number_of(given[0](cells))
    return math.copysign(math.floor(abs(number) * scale + 0.5) / scale, number)


def _of_one(work: Callable[[Any], Any]) -> Function:
    return lambda cells, given: work(given[0](cells))


def _mean(numbers: list[Any]) -> Any:
    return math.fsum(numbers) / len(numbers)


def _median(numbers: list[Any]) -> Any:
    if not numbers:
        raise Failing("#NUM!")
    ordered, middle = sorted(numbers), len(numbers) // 2
    return ordered[middle] if len(numbers) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


FUNCTIONS: Mapping[str, Function] = {
    "SUM": _over_numbers(math.fsum), "AVERAGE": _over_numbers(_mean), "MEDIAN": _over_numbers(_median),
    "MIN": _over_numbers(lambda n: min(n, default=0)), "MAX": _over_numbers(lambda n: max(n, default=0)),
    "COUNT": _over_numbers(len), "COUNTA": _over_all(lambda all_: sum(one not in (None, "") for one in all_)),
    "PRODUCT": _over_numbers(math.prod), "ROUND": _round, "ABS": _of_one(lambda v: abs(number_of(v))),
    "INT": _of_one(lambda v: math.floor(number_of(v))), "SQRT": _of_one(lambda v: math.sqrt(number_of(v))),
    "MOD": lambda cells, given: number_of(given[0](cells)) % number_of(given[1](cells)),
    "POWER": lambda cells, given: power(number_of(given[0](cells)), number_of(given[1](cells))),
    "IF": _if, "IFERROR": _if_error, "AND": _over_all(all), "OR": _over_all(any),
    "NOT": _of_one(lambda v: not number_of(v)),
    "CONCATENATE": _over_all(in_full),
    "CONCAT": _over_all(in_full), "LEN": _of_one(lambda v: len(text_in(v))),
    "UPPER": _of_one(lambda v: text_in(v).upper()), "LOWER": _of_one(lambda v: text_in(v).lower()),
    "TRIM": _of_one(lambda v: " ".join(text_in(v).split())),
}  # fmt: skip
