"""Evaluate arithmetic expressions. They are parsed, never executed."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from mcp_sim.backends.refusal import Refused
from mcp_sim.types.lexicon.english import vocabulary

Number: TypeAlias = int | float | bool

MAX_EXPRESSION = 2000
"""The largest number of characters of an expression."""

_MOST_BITS = 10_000
_MOST_PLACES = 3_000


def finite(number: Number) -> Number:
    """Return the number. Raises `Refused` if JSON cannot hold it."""
    if isinstance(number, int):
        if number.bit_length() > _MOST_BITS:
            raise Refused("invalid", "The result is too large")
    elif not math.isfinite(number):
        raise Refused("invalid", "The result is not a finite number")
    return number


def power(base: Number, exponent: Number) -> Number:
    """Return a power. Raises `Refused` if it is not real, or too large."""
    if base == 0 and exponent < 0:
        raise Refused("invalid", "Division by zero")
    if isinstance(base, int) and isinstance(exponent, int) and _bits(base) * exponent > _MOST_BITS:
        raise Refused("invalid", f"{base} to the power of {exponent} is too large")
    try:
        found = base**exponent
    except OverflowError:
        raise Refused("invalid", f"{base} to the power of {exponent} is too large") from None
    if isinstance(found, complex):
        raise Refused("invalid", f"{base} to the power of {exponent} is not a real number")
    return found


def _bits(base: int) -> int:
    """Return an upper bound for the bits that a number gains when multiplied by the base."""
    return base.bit_length() if abs(base) > 1 else 0


def factorial(number: Number) -> int:
    """Return the factorial of an integer up to 1000. Raises `Refused` for other numbers."""
    if number != int(number) or number < 0:
        raise Refused("invalid", "Factorial is only defined for non-negative integers")
    if number > 1000:
        raise Refused("invalid", f"Factorial of {number} is too large; at most 1000 is allowed")
    return math.factorial(int(number))


def round_to(number: Number, places: int | None = None) -> Number:
    """Round to decimal places. A negative number of places rounds to tens, hundreds and so on."""
    return round(number) if places is None else round(number, max(-_MOST_PLACES, min(places, _MOST_PLACES)))


def _magnitude(number: Number) -> Number:
    return number if number >= 0 else -number


_NAMES: Mapping[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{
        name: getattr(math, name)
        for name in vocabulary(
            "sqrt cbrt exp log log2 log10 sin cos tan asin acos atan atan2 sinh cosh tanh degrees radians floor ceil "
            "trunc gcd lcm hypot fabs"
        )
    },
    "abs": _magnitude,
    "round": round_to,
    "min": min,
    "max": max,
    "ln": math.log,
    "pow": power,
    "factorial": factorial,
}
_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda dividend, divisor: dividend / divisor,
    ast.FloorDiv: lambda dividend, divisor: dividend // divisor,
    ast.Mod: operator.mod,
    ast.Pow: power,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Number], Number]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_COMPARED: Mapping[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "·": "*", "²": "^2", "³": "^3", "π": "pi"})


def evaluate(text: str, variables: Mapping[str, Number] | None = None) -> Number:
    """Evaluate an expression. Raises `Refused` with the error and its position."""
    if len(text) > MAX_EXPRESSION:
        raise Refused("invalid", f"Expression too long: {len(text)} characters, at most {MAX_EXPRESSION} are allowed")
    written = re.sub(r"(?:math|Math|np)\.(?=[A-Za-z])", "", text.translate(_SIGNS)).replace("^", "**").strip()
    try:
        tree = ast.parse(written, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as wrong:
        raise Refused("invalid", f"Invalid expression {text!r}: {_syntax(wrong)}") from None
    try:
        return _tidy(finite(_Evaluation(text, {**_NAMES, **(variables or {})}).value(tree.body)))
    except ZeroDivisionError:
        raise Refused("invalid", "Division by zero") from None
    except OverflowError:
        raise Refused("invalid", f"The result of {text!r} is too large") from None
    except RecursionError:
        raise Refused("invalid", f"Expression {text!r} nests too deeply") from None


def _tidy(number: Number) -> Number:
    """Remove the error of binary fractions: 0.1 + 0.2 is 0.3."""
    return float(f"{number:.14g}") if isinstance(number, float) else number


def _syntax(wrong: Exception) -> str:
    if isinstance(wrong, SyntaxError) and wrong.offset is not None:
        return f"{wrong.msg} at position {wrong.offset}"
    return "invalid syntax"


class _Evaluation:
    """Evaluates the nodes of one expression."""

    def __init__(self, text: str, names: Mapping[str, Number]) -> None:
        self.text, self.names = text, names

    def value(self, node: ast.expr) -> Number:
        """Return the value of a node. Raises `Refused` for syntax that expressions do not support."""
        match node:
            case ast.Constant(value=bool() | int() | float() as number):
                return number
            case ast.Name(id=name) if name in self.names or name.lower() in self.names:
                return self.names[name if name in self.names else name.lower()]
            case ast.BinOp(left, sign, right) if type(sign) in _BINARY:
                return _BINARY[type(sign)](self.value(left), self.value(right))
            case ast.UnaryOp(sign, operand) if type(sign) in _UNARY:
                return _UNARY[type(sign)](self.value(operand))
            case ast.Compare(left, [sign], [right]) if type(sign) in _COMPARED:
                return _COMPARED[type(sign)](self.value(left), self.value(right))
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name.lower() in _FUNCTIONS:
                return self._called(name.lower(), [self.value(argument) for argument in arguments])
            case _:
                raise Refused("invalid", self._not_understood(node))

    def _called(self, name: str, arguments: list[Number]) -> Number:
        try:
            return _FUNCTIONS[name](*arguments)
        except (ValueError, TypeError) as wrong:
            shown = ", ".join(str(argument) for argument in arguments)
            raise Refused("invalid", f"{name}({shown}) cannot be evaluated: {wrong}") from None

    def _not_understood(self, node: ast.expr) -> str:
        place = f"at position {node.col_offset + 1}"
        if isinstance(node, ast.Name):
            return f"Unknown name {node.id!r} {place}; known are {', '.join(sorted(self.names))}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            return f"Unknown function {node.func.id!r} {place}; known are {', '.join(sorted(_FUNCTIONS))}"
        return f"Invalid expression {self.text!r}: not arithmetic {place}"
