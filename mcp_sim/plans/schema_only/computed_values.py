"""Compute what a call states completely: an arithmetic expression, the sum or mean of a list, or `multiply(a, b)`."""

from __future__ import annotations

import ast
import math
import operator
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simpleeval import InvalidExpression, SimpleEval  # pyright: ignore[reportMissingTypeStubs] (it ships no types)

from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, items, main_type, properties
from mcp_sim.types.json_values import is_number
from mcp_sim.types.lexicon.english import is_id, last_word, snake, words

Compute = Callable[[Record], float | None]
"""Computes a number from the arguments of a call; None where they do not determine it."""

_EXPRESSIONS = frozenset({"expression", "expr", "formula", "equation"})
_ARITHMETIC = re.compile(r"[\d\s.+\-*/%^()×÷−]{1,500}")
"""Neither names nor texts, and short enough that no product grows long. A name would need the server's functions."""
_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-"})
_OPERATORS: Mapping[type[ast.AST], Any] = {
    **{
        kind: getattr(operator, name)
        for kind, name in {
            ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
            ast.Mod: "mod", ast.UAdd: "pos", ast.USub: "neg",
        }.items()
    },
    ast.Pow: math.pow,
}  # fmt: skip
"""Powers are floats, which overflow at once where integers would take all memory."""
_ENGINE: Any = SimpleEval(_OPERATORS, {}, {})
_AGGREGATES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": math.fsum, "mean": statistics.fmean, "average": statistics.fmean, "median": statistics.median,
}  # fmt: skip
_DUAL: Mapping[str, str] = {
    **dict.fromkeys(("add", "sum", "plus"), "add"),
    **dict.fromkeys(("subtract", "minus", "difference"), "sub"),
    **dict.fromkeys(("multiply", "times", "product"), "mul"),
    **dict.fromkeys(("divide", "quotient"), "truediv"),
}
"""Words in names of tools that compute with two numbers -> functions of `operator`."""
_TURNED = r"\b{}\b.{{0,20}}\bfrom\b.{{0,20}}\b{}\b"
"""What a description says of `subtract(a, b)` that takes the first number from the second."""
_NUMBERS = frozenset({"number", "integer"})
_DIGITS = 12
"""Binary fractions are rounded to so many significant digits: 0.1 + 0.2 is shown as 0.3."""


def computation_of(tool: Tool) -> Compute | None:
    """Return how to compute the result of a tool; None if its arguments are not known to determine a number."""
    asked = properties(expanded(tool.input_schema))
    expressions = [name for name in asked if last_word(name) in _EXPRESSIONS]
    if len(expressions) == 1:
        return lambda arguments: _evaluated(arguments.get(expressions[0]))
    aggregates = [_AGGREGATES[word] for word in words(tool.name) if word in _AGGREGATES]
    lists = [name for name, schema in asked.items() if _is_list_of_numbers(schema)]
    if len(aggregates) == len(lists) == len(asked) == 1:
        return lambda arguments: _aggregated(aggregates[0], arguments.get(lists[0]))
    duals = {_DUAL[word] for word in words(tool.name) if word in _DUAL}
    is_plain = all(main_type(schema) in _NUMBERS and not is_id(snake(name)) for name, schema in asked.items())
    if len(duals) == 1 and len(asked) == 2 and is_plain:
        first, second = asked
        if re.search(_TURNED.format(re.escape(first), re.escape(second)), tool.description, re.IGNORECASE):
            first, second = second, first
        compute = getattr(operator, duals.pop())
        return lambda arguments: _combined(compute, arguments.get(first), arguments.get(second))
    return None


def _is_list_of_numbers(schema: Record) -> bool:
    return main_type(schema) == "array" and main_type(items(schema)) in _NUMBERS


def _evaluated(expression: Json) -> float | None:
    if not isinstance(expression, str) or not _ARITHMETIC.fullmatch(expression):
        return None
    try:
        return _shown(_ENGINE.eval(expression.translate(_SIGNS).replace("^", "**").strip()))
    except (InvalidExpression, SyntaxError, ArithmeticError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _combined(compute: Callable[[float, float], float], first: Json, second: Json) -> float | None:
    try:
        return _shown(compute(first, second)) if is_number(first) and is_number(second) else None
    except ArithmeticError:
        return None


def _aggregated(compute: Callable[[Sequence[float]], float], numbers: Json) -> float | None:
    try:
        return _shown(compute([number for number in as_list(numbers) if isinstance(number, int | float)]))
    except (ArithmeticError, ValueError):  # also the mean of no numbers
        return None


def _shown(number: object) -> float | None:
    if isinstance(number, int) and not isinstance(number, bool):
        return number
    return float(f"{number:.{_DIGITS}g}") if isinstance(number, float) and math.isfinite(number) else None
