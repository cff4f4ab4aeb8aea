"""Functions of numbers. They raise `Refused` where a result is too large, and `ValueError` where it does not exist."""

from __future__ import annotations

import math
import statistics as exact
from collections.abc import Sequence
from typing import TypeAlias

from mcp_sim.backends.outcome import shown
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.json_schema.shapes import as_list

Number: TypeAlias = int | float | bool

_MOST_BITS = 10_000  # beyond the largest float (1,024 bits), but short enough to be written in decimal at once
_MOST_PLACES = 3_000  # the digits of the longest number that is answered (10,000 bits)
_MOST_DIGITS = 1_000
"""The largest number of digits to convert to another base, which takes quadratic time."""


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


def cube(number: float) -> Number:
    """Return the third power of a number."""
    return power(number, 3)


def nth_root(number: Number, degree: Number) -> Number:
    """Return the root of a degree. Raises `Refused` if it is not real."""
    return power(number, 1 / degree)


def logarithm(value: float, base: float | None = None) -> float:
    """Return a logarithm to a base, e by default."""
    if base is None:
        return math.log(value)
    return math.log2(value) if base == 2 else math.log10(value) if base == 10 else math.log(value, base)


def round_to(number: Number, places: float | None = None) -> Number:
    """Round to decimal places. A negative number of places rounds to tens, hundreds and so on."""
    return round(number) if not places else round(number, int(max(-_MOST_PLACES, min(places, _MOST_PLACES))))


def gcd(a: float, b: float) -> int:
    """Return the greatest common divisor of two whole numbers."""
    return math.gcd(whole(a), whole(b))


def lcm(a: float, b: float) -> int:
    """Return the least common multiple of two whole numbers."""
    return math.lcm(whole(a), whole(b))


def factorial(number: float) -> int:
    """Return the factorial of an integer up to 1000. Raises `Refused` for other numbers."""
    if number != int(number) or number < 0:
        raise Refused("invalid", "Factorial is only defined for non-negative integers")
    if number > 1000:
        raise Refused("invalid", f"Factorial of {number} is too large; at most 1000 is allowed")
    return math.factorial(int(number))


def fibonacci(number: float) -> int:
    """Return a Fibonacci number; the first ones are 0 and 1. Raises `Refused` unless n is from 0 to 5000."""
    count = whole(number)
    if not 0 <= count <= 5000:
        raise Refused("invalid", f"n must be between 0 and 5000, got {count}")
    first, second = 0, 1
    for _ in range(count):
        first, second = second, first + second
    return first


def is_prime(number: float) -> bool:
    """Return whether a number is prime. Raises `Refused` for numbers above 10^12."""
    if number > 10**12:
        raise Refused("invalid", "The number is too large to be tested; at most 10^12 is allowed")
    if number != int(number) or number < 2:
        return False
    return all(number % divisor for divisor in range(2, math.isqrt(int(number)) + 1))


def whole(number: float) -> int:
    """Return a number as an integer. Raises `Refused` if it is not whole."""
    if number != int(number):
        raise Refused("invalid", f"A whole number is required, got {number}")
    return int(number)


def convert_base(value: Json, source: float, target: float) -> str:
    """Convert an integer from one base to another. Raises `Refused` if a base or the number is invalid."""
    old, new = whole(source), whole(target)
    if not (2 <= old <= 36 and 2 <= new <= 36):
        raise Refused("invalid", f"A base must be between 2 and 36, got {old} and {new}")
    written = str(value).strip()
    if len(written) > _MOST_DIGITS:
        raise Refused("invalid", f"The number is too long; at most {_MOST_DIGITS:,} digits are possible")
    try:
        left = int(written, old)
    except ValueError:
        raise Refused("invalid", f"{written!r} is no number in base {old}") from None
    sign, left, signs = "-" if left < 0 else "", abs(left), ""
    while left or not signs:
        left, digit = divmod(left, new)
        signs = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + signs
    return sign + signs


def statistics(numbers: Sequence[float]) -> Json:
    """Return the usual statistics of a population by name."""
    return {
        "count": len(numbers),
        "sum": math.fsum(numbers),
        "mean": exact.fmean(numbers),
        "median": exact.median(numbers),
        "min": min(numbers),
        "max": max(numbers),
        "std_dev": exact.pstdev(numbers),
        "variance": float(exact.pvariance(numbers)),
    }
