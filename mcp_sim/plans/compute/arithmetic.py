"""Functions of numbers. They raise `Refused` where a result is too large, and `ValueError` where it does not exist."""

from __future__ import annotations

import math
from typing import TypeAlias

from mcp_sim.plans.outcome import shown
from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.json_schema.shapes import as_list

Number: TypeAlias = int | float | bool

_MOST_BITS = 10_000  # beyond the largest float (1,024 bits), but short enough to be written in decimal at once
_MOST_PLACES = 3_000  # the digits of the longest number that is answered (10,000 bits)


def finite(number: Number) -> Number:
    """Return the number. Raises `Refused` if JSON cannot hold it."""
    if isinstance(number, int):
        if number.bit_length() > _MOST_BITS:
            raise Refused("invalid", "The result is too large")
    elif not math.isfinite(number):
        raise Refused("invalid", "The result is not a finite number")
    return number


def numbers_in(values: Json) -> list[float]:
    """Return the numbers of a list, or the only one. Raises `Refused` if it is empty or has other items."""
    if not values:
        raise Refused("invalid", "Cannot compute on an empty list: at least one number is required")
    listed = as_list(values) or [values]
    for value in listed:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise Refused("invalid", f"All elements must be numbers; got {shown(value)}")
    return listed


def power(base: Number, exponent: Number) -> Number:
    """Return a power. Raises `Refused` if it is not real, or too large."""
    bits = base.bit_length() if isinstance(base, int) and isinstance(exponent, int) and abs(base) > 1 else 0
    if bits * exponent > _MOST_BITS:
        raise Refused("invalid", f"{base} to the power of {exponent} is too large")
    try:
        result = base**exponent
    except OverflowError:
        raise Refused("invalid", f"{base} to the power of {exponent} is too large") from None
    if isinstance(result, complex):
        raise Refused("invalid", f"{base} to the power of {exponent} is not a real number")
    return result


def square(number: float) -> Number:
    """Return the square of a number."""
    return power(number, 2)


def logarithm(value: float, base: float | None = None) -> float:
    """Return a logarithm to a base, e by default."""
    if base is None:
        return math.log(value)
    return math.log2(value) if base == 2 else math.log10(value) if base == 10 else math.log(value, base)


def round_to(number: Number, places: float | None = None) -> Number:
    """Round to decimal places. A negative number of places rounds to tens, hundreds and so on."""
    return round(number) if not places else round(number, int(max(-_MOST_PLACES, min(places, _MOST_PLACES))))


def factorial(number: float) -> int:
    """Return the factorial of an integer up to 1000. Raises `Refused` for other numbers."""
    if number != int(number) or number < 0:
        raise Refused("invalid", "Factorial is only defined for non-negative integers")
    if number > 1000:
        raise Refused("invalid", f"Factorial of {number} is too large; at most 1000 is allowed")
    return math.factorial(int(number))
