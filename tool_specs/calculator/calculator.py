"""A simulated calculator: expressions in the syntax of Python, with the names of its math module."""

import ast
import math
import operator

from mcp_sim.programs import Refused, invalid_arguments, tool
from mcp_sim.programs.helpers import pydantic_refusal

tables = {}

OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
NAMES = {name: getattr(math, name) for name in dir(math) if not name.startswith("__")}
GROWING = {math.factorial, math.comb, math.perm}
SPELLINGS = {"^": "**", "×": "*", "÷": "/"}
LONGEST = 100_000
"""Characters of an expression. Parsing a million of them keeps all worlds waiting for half a second."""
MOST = 300_000
"""Numbers with more bits take seconds, and could not be shown: Python converts no more than 4300 digits to text."""
TOO_LARGE = (
    "Exceeds the limit (4300 digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the "
    "limit"
)


def value_of(node):
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            if name not in NAMES:
                raise ValueError(f"Unknown identifier: {name}")
            return NAMES[name]
        case ast.BinOp(left=left, op=op, right=right):
            values = value_of(left), value_of(right)
            if type(op) in OPERATORS:
                check_size(op, *values)
                return OPERATORS[type(op)](*values)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value_of(operand)
        case ast.Call(func=function, args=arguments):
            called = value_of(function)
            values = [value_of(argument) for argument in arguments]
            if called in GROWING and values and isinstance(values[-1], int) and values[-1] > MOST // 10:
                raise ValueError(TOO_LARGE)
            return called(*values)
    raise ValueError(f"Unsupported operation: {ast.dump(node)}")


def check_size(op, left, right):
    """Raise `ValueError` where a number would become too long to compute, or a repeated text too long."""
    if isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length(), right.bit_length()
        size = {ast.Pow: bits[0] * right, ast.Mult: sum(bits)}.get(type(op), 0)
    else:
        texts = isinstance(left, str | bytes), isinstance(right, str | bytes)
        size = 0 if not any(texts) else right if texts[0] else left
    if isinstance(size, int) and size > MOST:
        raise ValueError(TOO_LARGE)


@tool(verb="compute")
def calculate(_world, expression):
    for spelling, meaning in SPELLINGS.items():
        expression = expression.replace(spelling, meaning)
    try:
        if len(expression) > LONGEST:
            raise RecursionError("maximum recursion depth exceeded")  # noqa: TRY301 (what Python says of a long sum)
        return str(value_of(ast.parse(expression, mode="eval").body))
    except Exception as error:  # noqa: BLE001 (whatever Python says about an expression is the answer)
        raise Refused(f"Error executing tool calculate: {error}") from None


@invalid_arguments
def refuse(world, tool, arguments, problems):
    return pydantic_refusal(world, tool, arguments, problems)
