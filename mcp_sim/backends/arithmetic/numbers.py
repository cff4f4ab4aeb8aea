"""Operations on one or two numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from mcp_sim.backends.arithmetic.units import convert
from mcp_sim.backends.compute.expression import Number, evaluate, factorial, finite, power, round_to
from mcp_sim.backends.compute.operation import (
    ANY,
    NUMBER,
    TEXT,
    Arguments,
    Compute,
    ComputeContext,
    Operation,
    Role,
    phrases,
    role,
)
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.lexicon.english import vocabulary

RESULTS = ("result", "value", "output", "answer")
_FIRST = "a, x, n1, num1, number1, first, first_number, left, augend, minuend, dividend, numerator, value1, operand1"
_SECOND = "b, y, n2, num2, number2, second, second_number, right, divisor, denominator, subtrahend, value2, operand2"
_ONE = "number, num, n, x, a, value, input, angle, radians"
PRECISION = role("precision", NUMBER, "decimals, decimal_places, places, digits, ndigits", optional=True)


def _binary(name: str, known_as: str, compute: Callable[[Any, Any], Number], *places: str) -> Operation:
    roles = (role("a", NUMBER, _FIRST), role("b", NUMBER, _SECOND), PRECISION)
    return Operation(
        name, phrases(known_as), roles, computation(lambda g: compute(g["a"], g["b"])), (*RESULTS, *places)
    )


def _unary(name: str, known_as: str, compute: Callable[[Any], Number], *places: str) -> Operation:
    roles = (role("number", NUMBER, _ONE), PRECISION)
    return Operation(name, phrases(known_as), roles, computation(lambda g: compute(g["number"])), (*RESULTS, *places))


def computation(compute: Callable[[Arguments], Json]) -> Compute:
    """Wrap a computation: round the result if the call has a precision, and refuse calls without a result."""

    def held(arguments: Arguments, _context: ComputeContext) -> Json:
        try:
            found = compute(arguments)
            return _rounded(found, arguments.get("precision"))
        except OverflowError:
            raise Refused("invalid", "The result is too large") from None
        except ValueError as wrong:
            raise Refused("invalid", f"Math error: {wrong}") from None

    return held


def _rounded(found: Json, precision: Json) -> Json:
    if not isinstance(found, int | float) or isinstance(found, bool):
        return found
    number = finite(found)
    places = isinstance(precision, int | float) and isinstance(number, float)
    return round_to(number, max(int(precision), 0)) if places else number


def divide(a: Number, b: Number) -> Number:
    """Return a quotient. Raises `Refused` for division by zero."""
    if b == 0:
        raise Refused("invalid", "Cannot divide by zero")
    return a / b


def _modulo(a: Number, b: Number) -> Number:
    if b == 0:
        raise Refused("invalid", "Cannot take a modulo by zero")
    return a % b


def _root(number: float) -> float:
    if number < 0:
        raise Refused("invalid", f"Cannot take the square root of a negative number: {number}")
    return math.sqrt(number)


def logarithm(value: float, base: float | None) -> float:
    """Return a logarithm to a base, e by default. Raises `Refused` if it is undefined."""
    if value <= 0:
        raise Refused("invalid", f"Logarithm is only defined for positive numbers, got {value}")
    if base is None:
        return math.log(value)
    if base <= 0 or base == 1:
        raise Refused("invalid", f"The base of a logarithm must be positive and not 1, got {base}")
    return {2: math.log2, 10: math.log10}.get(int(base) if base == int(base) else 0, lambda v: math.log(v, base))(value)


def _percentage(arguments: Arguments) -> Number:
    if arguments["whole"] == 0:
        raise Refused("invalid", "Cannot compute a percentage of zero")
    return arguments["part"] / arguments["whole"] * 100


def _percent_change(arguments: Arguments) -> Number:
    if arguments["old"] == 0:
        raise Refused("invalid", "Cannot compute a change from zero")
    return (arguments["new"] - arguments["old"]) / abs(arguments["old"]) * 100


def _is_prime(number: float) -> bool:
    if number != int(number) or number < 2 or number > 10**12:
        if number > 10**12:
            raise Refused("invalid", "The number is too large to be tested; at most 10^12 is allowed")
        return False
    return all(number % divisor for divisor in range(2, math.isqrt(int(number)) + 1))


def _whole(number: float) -> int:
    if number != int(number):
        raise Refused("invalid", f"A whole number is required, got {number}")
    return int(number)


def _fibonacci(number: float) -> int:
    count = _whole(number)
    if not 0 <= count <= 5000:
        raise Refused("invalid", f"n must be between 0 and 5000, got {count}")
    first, second = 0, 1
    for _ in range(count):
        first, second = second, first + second
    return first


_MOST_DIGITS = 1_000
"""The largest number of digits to convert to another base, which takes quadratic time."""


def _in_base(arguments: Arguments) -> str:
    """Convert an integer from one base to another."""
    source, target = (_whole(arguments[name]) for name in ("source", "target"))
    if not (2 <= source <= 36 and 2 <= target <= 36):
        raise Refused("invalid", f"A base must be between 2 and 36, got {source} and {target}")
    written = str(arguments["value"]).strip()
    if len(written) > _MOST_DIGITS:
        raise Refused("invalid", f"The number is too long; at most {_MOST_DIGITS:,} digits are possible")
    try:
        left = int(written, source)
    except ValueError:
        raise Refused("invalid", f"{written!r} is no number in base {source}") from None
    sign, left, signs = "-" if left < 0 else "", abs(left), ""
    while left or not signs:
        left, digit = divmod(left, target)
        signs = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + signs
    return sign + signs


def _round(arguments: Arguments) -> Number:
    places = arguments.get("precision")
    return round_to(arguments["number"], int(places) if places else None)


def _plain(
    name: str,
    known_as: str,
    roles: Sequence[Role],
    compute: Callable[[Arguments], Json],
    *places: str,
    hints: str = "",
    excludes: str = "",
) -> Operation:
    shown = (*RESULTS, *places)
    return Operation(
        name, phrases(known_as), roles, computation(compute), shown, vocabulary(hints), vocabulary(excludes)
    )


OPERATIONS: tuple[Operation, ...] = (
    _binary("add", "add, addition, sum, plus, sum_of, total", lambda a, b: a + b, "sum", "total"),
    _binary("subtract", "subtract, subtraction, minus, sub, difference", lambda a, b: a - b, "difference"),
    _binary("multiply", "multiply, multiplication, times, product, mul", lambda a, b: a * b, "product"),
    _binary("divide", "divide, division, div, quotient, divided_by", divide, "quotient"),
    _binary("modulo", "modulo, modulus, mod, remainder", _modulo, "remainder"),
    _binary("gcd", "gcd, greatest_common_divisor, hcf", lambda a, b: math.gcd(_whole(a), _whole(b)), "gcd"),
    _binary("lcm", "lcm, least_common_multiple", lambda a, b: math.lcm(_whole(a), _whole(b)), "lcm"),
    _binary("hypotenuse", "hypotenuse, hypot, pythagorean", math.hypot, "hypotenuse"),
    _binary("largest_of_two", "max, maximum", max, "max"),
    _binary("smallest_of_two", "min, minimum", min, "min"),
    _plain(
        "power",
        "power, pow, exponent, exponentiate, exponentiation, raise_to_power, exp_power",
        (
            role("base", NUMBER, "a, x, number, value"),
            role("exponent", NUMBER, "b, y, exp, power, n, degree"),
            PRECISION,
        ),
        lambda g: power(g["base"], g["exponent"]),
        "power",
    ),
    _plain(
        "logarithm",
        "logarithm, log, ln, natural_log, natural_logarithm",
        (role("value", NUMBER, _ONE), role("base", NUMBER, "b", optional=True), PRECISION),
        lambda g: logarithm(g["value"], g.get("base")),
        "logarithm",
    ),
    _plain(
        "nth_root",
        "root, nth_root",
        (role("number", NUMBER, _ONE), role("degree", NUMBER, "n, root, index")),
        lambda g: power(g["number"], divide(1, g["degree"])),
        "root",
    ),
    _unary("square_root", "square_root, sqrt", _root, "square_root", "root"),
    _unary("cube_root", "cube_root, cbrt", math.cbrt, "root"),
    _unary("square", "square, squared", lambda n: power(n, 2), "square"),
    _unary("cube", "cube, cubed", lambda n: power(n, 3), "cube"),
    _unary("absolute", "absolute, absolute_value, abs", abs, "absolute_value"),
    _unary("negate", "negate, negative, opposite", lambda n: -n),
    _unary("reciprocal", "reciprocal, inverse_of", lambda n: divide(1, n)),
    _unary("floor", "floor, round_down", math.floor),
    _unary("ceiling", "ceil, ceiling, round_up", math.ceil),
    _unary("exponential", "exp, exponential", math.exp),
    _unary("log10", "log10, log_10", lambda n: logarithm(n, 10)),
    _unary("log2", "log2, log_2", lambda n: logarithm(n, 2)),
    _unary("factorial", "factorial", factorial, "factorial"),
    _unary("fibonacci", "fibonacci, fib, nth_fibonacci", _fibonacci, "fibonacci"),
    _unary("is_prime", "is_prime, prime, check_prime, prime_check", _is_prime, "is_prime", "prime"),
    _unary("sine", "sin, sine", math.sin),
    _unary("cosine", "cos, cosine", math.cos),
    _unary("tangent", "tan, tangent", math.tan),
    _unary("to_degrees", "radians_to_degrees", math.degrees, "degrees"),
    _unary("to_radians", "degrees_to_radians", math.radians, "radians"),
    _plain(
        "round",
        "round, round_off, rounded",
        (role("number", NUMBER, _ONE), PRECISION),
        _round,
        "rounded",
    ),
    _plain(
        "percentage",
        "percentage, percent, calculate_percent",
        (role("part", NUMBER, "a, value, amount, numerator"), role("whole", NUMBER, "b, total, denominator")),
        _percentage,
        "percentage",
    ),
    _plain(
        "percent_of",
        "percentage_of, percent_of",
        (role("percent", NUMBER, "percentage, rate, a"), role("number", NUMBER, "value, of, b, total, amount")),
        lambda g: g["percent"] / 100 * g["number"],
    ),
    _plain(
        "percent_change",
        "percent_change, percentage_change, percentage_difference, growth_rate",
        (
            role("old", NUMBER, "old_value, from, initial, start, a, before"),
            role("new", NUMBER, "new_value, to, final, end, b, after"),
        ),
        _percent_change,
        "change",
    ),
    _plain(
        "convert_unit",
        "convert, convert_unit, conversion, unit_conversion, unit_converter, convert_measurement, "
        "convert_length, convert_weight, convert_temperature, convert_volume, convert_mass, "
        "convert_speed, convert_distance, convert_area, convert_time_unit, convert_energy, convert_pressure",
        (
            role("value", NUMBER, "amount, quantity, number, temperature, length, weight, distance"),
            role("source", TEXT, "from_unit, unit_in, from, source_unit, input_unit, unit_from, origin_unit"),
            role("target", TEXT, "to_unit, unit_out, to, target_unit, output_unit, unit_to, desired_unit"),
            PRECISION,
        ),
        lambda g: convert(g["value"], g["source"], g["target"]),
        "converted",
        "converted_value",
        excludes="currency currencies exchange timezone encoding token",
    ),
    _plain(
        "convert_base",
        "base, convert_base, base_convert, base_conversion, number_base, convert_number_base, radix, convert_radix",
        (
            role("value", ANY, "number, input, digits", positional=False),
            role("source", NUMBER, "from, from_base, source_base, base_from, input_base", positional=False),
            role("target", NUMBER, "to, to_base, target_base, base_to, output_base", positional=False),
        ),
        _in_base,
        "converted",
    ),
    _plain(
        "evaluate",
        "calculate, calc, calculator, evaluate, evaluate_expression, calculate_expression, math, compute, "
        "eval, eval_expression, math_expression, evaluate_math, expression, arithmetic, compute_expression",
        (role("expression", TEXT, "expr, formula, equation, calculation, input, query, math"), PRECISION),
        lambda g: evaluate(g["expression"]),
        hints="math maths mathematical mathematics arithmetic calculate calculates calculation calculator numeric",
        excludes="javascript debugger gdb page frame sql xpath sympy symbolic",
    ),
)
