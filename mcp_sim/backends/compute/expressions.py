"""Evaluate arithmetic expressions. They are parsed, never executed."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from mcp_sim.backends.compute.arithmetic import Number, factorial, finite, power, round_to
from mcp_sim.backends.refusal import Refused
from mcp_sim.types.lexicon.english import vocabulary

MAX_EXPRESSION = 2000
"""The largest number of characters of an expression."""


class _Folded(dict[str, Any]):
    """A mapping that ignores the case of its keys, which are in lower case."""

    def __missing__(self, name: str) -> Any:
        if name.lower() == name:
            raise KeyError(name)
        return self[name.lower()]


_NAMES = _Folded(pi=math.pi, e=math.e, tau=math.tau)
_FUNCTIONS = _Folded(
    {
        name: getattr(math, name)
        for name in vocabulary(
            "sqrt cbrt exp log log2 log10 sin cos tan asin acos atan atan2 sinh cosh tanh degrees radians floor ceil "
            "trunc gcd lcm hypot fabs"
        )
    },
    abs=abs, round=round_to, min=min, max=max, ln=math.log, pow=power, factorial=factorial,
)  # fmt: skip
_OPERATORS: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Pow: power,
    **{
        kind: getattr(operator, name)
        for kind, name in {
            ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
            ast.Mod: "mod", ast.UAdd: "pos", ast.USub: "neg", ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt",
            ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
        }.items()
    },
}  # fmt: skip
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "–": "-", "·": "*", "²": "^2", "³": "^3", "π": "pi"})


def calculate(expression: str) -> Number:
    """Evaluate an expression such as `2 * sqrt(9) + 1`. Raises `Refused` with the error and its position."""
    if len(expression) > MAX_EXPRESSION:
        message = f"Expression too long: {len(expression)} characters, at most {MAX_EXPRESSION} are allowed"
        raise Refused("invalid", message)
    written = re.sub(r"(?:math|Math|np)\.(?=[A-Za-z])", "", expression.translate(_SIGNS)).replace("^", "**").strip()
    try:
        found = finite(_evaluator().eval(written, _parsed(written)))
    except SyntaxError as wrong:
        place = f" at position {wrong.offset}" if wrong.offset is not None else ""
        raise Refused("invalid", f"Invalid expression {expression!r}: {wrong.msg}{place}") from None
    except (RecursionError, MemoryError):
        raise Refused("invalid", f"Expression {expression!r} nests too deeply") from None
    except ZeroDivisionError:
        raise Refused("invalid", "Division by zero") from None
    except OverflowError:
        raise Refused("invalid", f"The result of {expression!r} is too large") from None
    except (TypeError, ValueError) as wrong:
        raise Refused("invalid", f"{expression!r} cannot be evaluated: {wrong}") from None
    return float(f"{found:.14g}") if isinstance(found, float) else found  # without the error of binary fractions


@cache
def _evaluator() -> Any:
    return import_module("simpleeval").SimpleEval(_OPERATORS, _FUNCTIONS, _NAMES)  # only calculators need it


def _parsed(written: str) -> ast.expr:
    """Return the syntax tree of an expression. Raises `SyntaxError`, or `Refused` if it is not arithmetic."""
    tree = ast.parse(written, mode="eval").body
    nodes = [*ast.walk(tree)]
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    for node in nodes:
        problem = _problem(node, is_called=node in called)
        if problem:
            raise Refused("invalid", f"Invalid expression {written!r} at position {_position(node)}: {problem}")
    return tree


def _position(node: ast.AST) -> int:
    return node.col_offset + 1 if isinstance(node, ast.expr) else 1


def _problem(node: ast.AST, *, is_called: bool) -> str:
    """Return what is wrong with a node, empty if nothing is."""
    match node:
        case ast.Name(id=name):
            kind, known = ("function", _FUNCTIONS) if is_called else ("name", _NAMES)
            return "" if name.lower() in known else f"Unknown {kind} {name!r}; known are {', '.join(sorted(known))}"
        case ast.Constant(value=bool() | int() | float()) | ast.Call(func=ast.Name(), keywords=[]):
            return ""
        case ast.UnaryOp() | ast.BinOp() | ast.Compare() | ast.Load():
            return ""
        case _:
            return "" if type(node) in _OPERATORS else "not arithmetic"
