"""Evaluate arithmetic expressions. They are parsed, never executed."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from simpleeval import InvalidExpression, SimpleEval  # pyright: ignore[reportMissingTypeStubs] (it ships no types)

from mcp_sim.plans.compute.arithmetic import Number, factorial, finite, power, round_to
from mcp_sim.plans.operation import read_names
from mcp_sim.plans.refusal import Refused

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
        for name in read_names(__name__).ordered("function")
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
    known = expression.translate(_SIGNS).encode(errors="replace").decode()
    written = re.sub(r"(?:math|Math|np)\.(?=[A-Za-z])", "", known).replace("^", "**").strip()
    try:
        number = finite(_ENGINE.eval(written, ast.parse(written, mode="eval").body))
    except SyntaxError as wrong:
        raise Refused("invalid", f"Invalid expression {expression!r}: {_unexpected(written, wrong.offset)}") from None
    except (RecursionError, MemoryError):
        raise Refused("invalid", f"Expression {expression!r} nests too deeply") from None
    except ZeroDivisionError:
        raise Refused("invalid", "Division by zero") from None
    except OverflowError:
        raise Refused("invalid", f"The result of {expression!r} is too large") from None
    except (InvalidExpression, KeyError, TypeError, ValueError) as wrong:
        is_undefined = isinstance(wrong, ValueError)
        otherwise = "the result is not defined" if is_undefined else "wrong number or kind of arguments"
        problem = _problem(ast.parse(written, mode="eval")) or otherwise
        raise Refused("invalid", f"Invalid expression {expression!r}: {problem}") from None
    return float(f"{number:.14g}") if isinstance(number, float) else number  # without the error of binary fractions


def _unexpected(written: str, position: int | None) -> str:
    """Return what is wrong at a position of an expression, which counts from 1."""
    at = (position or 1) - 1
    return f"unexpected {written[at]!r} at position {at + 1}" if 0 <= at < len(written) else "unexpected end"


def _number(node: ast.Constant) -> Number:
    if not isinstance(node.value, bool | int | float):
        raise TypeError("only numbers are possible")
    return node.value


_ENGINE: Any = SimpleEval(_OPERATORS, _FUNCTIONS, _NAMES)
_SYNTAX: tuple[type[ast.expr], ...] = (ast.Name, ast.UnaryOp, ast.BinOp, ast.Compare, ast.Call)
_ENGINE.nodes = {**{kind: _ENGINE.nodes[kind] for kind in _SYNTAX}, ast.Constant: _number}


def _problem(tree: ast.Expression) -> str:
    """Return the first unknown name or unsupported part of an expression, with its position; empty if it is missing."""
    nodes = [*ast.walk(tree.body)]
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    for node in nodes:
        if isinstance(node, ast.Name):
            kind, known = ("function", _FUNCTIONS) if node in called else ("name", _NAMES)
            if node.id.lower() not in known:
                listed = ", ".join(sorted(known))
                return f"Unknown {kind} {node.id!r} at position {node.col_offset + 1}; known are {listed}"
        elif isinstance(node, ast.expr | ast.keyword) and not _is_arithmetic(node):
            return f"not arithmetic at position {node.col_offset + 1}"
    return ""


def _is_arithmetic(node: ast.expr | ast.keyword) -> bool:
    signs = (sign for sign in ast.iter_child_nodes(node) if isinstance(sign, ast.operator | ast.unaryop | ast.cmpop))
    return type(node) in _ENGINE.nodes and all(type(sign) in _OPERATORS for sign in signs)
