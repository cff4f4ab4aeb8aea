"""The operations of compute: what they are called, their roles, and the properties that hold their results."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeAlias

from mcp_sim.plans.compute.phrases import Called
from mcp_sim.plans.operation import Operation, compact, pick, read_names

Compute: TypeAlias = Callable[..., Any] | str
"""Computes a result from the values of the roles, in their order; a text names the function: `module:function`."""

ANSWER = "answer"
"""The name of the only fact of a result."""
PRECISION = "precision"
"""The role of the number of decimal places of a result. It is not a value of the computation."""

_WORDS = read_names(__name__)
_PLACES = ("result", "value", "output", "answer", "text")
"""Properties that may hold the result of any operation."""


def _formula(explanation: str, compute: Callable[[Any], Any] | Callable[[Any, Any], Any] | str) -> Callable[..., Any]:
    """Return a function with this docstring. A text names a function, `module:function`, imported at the first call."""
    function: Any = compute

    def formula(*values: Any) -> Any:
        return (_imported(function) if isinstance(function, str) else function)(*values)

    formula.__doc__ = explanation
    return formula


def _imported(function: str) -> Callable[..., Any]:
    module, _, name = function.partition(":")
    return getattr(import_module(module), name)


def _operation(name: str, compute: Compute, takes: str, *, hints: str = "", excludes: str = "") -> Operation:
    """Return an operation with the roles of a line.

    Other names of tools that mean it, and properties that may hold the result, are in `names.txt`. `hints` and
    `excludes` are names of lists there.
    """
    called = (*_WORDS.lists.get(f"called.{name}", ()), name)
    means = Called(
        frozenset(map(compact, called)),
        _WORDS.terms(hints) if hints else frozenset(),
        _WORDS.terms(excludes) if excludes else frozenset(),
    )
    run: Any = compute
    names = {ANSWER: (*_WORDS.facts.get(name, ()), *_PLACES, name)}
    return Operation(name, run, roles=pick(takes, _WORDS.roles), means=means, names=names)


OPERATIONS: tuple[Operation, ...] = (
    _operation("add", _formula("Add two numbers.", operator.add), "a b precision?"),
    _operation("subtract", _formula("Subtract b from a.", operator.sub), "a b precision?"),
    _operation("multiply", _formula("Multiply two numbers.", operator.mul), "a b precision?"),
    _operation("divide", _formula("Divide a by b.", lambda a, b: a / b), "a b precision?"),
    _operation("modulo", _formula("Return the remainder of a / b.", operator.mod), "a b precision?"),
    _operation("power", "arithmetic:power", "base exponent precision?"),
    _operation("logarithm", "arithmetic:logarithm", "value logarithm_base? precision?"),
    _operation("square_root", _formula("Return the square root of a number.", math.sqrt), "number precision?"),
    _operation("cube_root", _formula("Return the cube root of a number.", math.cbrt), "number precision?"),
    _operation("square", "arithmetic:square", "number precision?"),
    _operation("absolute", _formula("Return a number without its sign.", abs), "number precision?"),
    _operation("floor", _formula("Round down to an integer.", math.floor), "number precision?"),
    _operation("ceiling", _formula("Round up to an integer.", math.ceil), "number precision?"),
    _operation("factorial", "arithmetic:factorial", "number precision?"),
    _operation("sine", _formula("Return the sine of an angle in radians.", math.sin), "number precision?"),
    _operation("cosine", _formula("Return the cosine of an angle in radians.", math.cos), "number precision?"),
    _operation("tangent", _formula("Return the tangent of an angle in radians.", math.tan), "number precision?"),
    _operation("round", "arithmetic:round_to", "number places?"),
    _operation(
        "percentage",
        _formula("Return what percentage of a whole a part is.", lambda value, whole: value / whole * 100),
        "part whole precision?",
    ),
    _operation(
        "convert_unit", "units:convert_unit", "convert_unit_value source target precision?", excludes="not.convert_unit"
    ),
    _operation(
        "calculate", "expressions:calculate", "expression precision?", hints="about.calculate", excludes="not.calculate"
    ),
    _operation("sum", _formula("Return the sum of numbers.", math.fsum), "numbers precision?"),
    _operation("product", _formula("Return the product of numbers.", math.prod), "numbers precision?"),
    _operation("mean", _formula("Return the arithmetic mean.", "statistics:fmean"), "numbers precision?"),
    _operation(
        "median",
        _formula("Return the middle number, or the mean of the middle two.", "statistics:median"),
        "numbers precision?",
    ),
    _operation(
        "mode",
        _formula("Return the most frequent number, the first of several.", "statistics:mode"),
        "numbers precision?",
    ),
    _operation("minimum", _formula("Return the smallest number.", min), "numbers precision?"),
    _operation("maximum", _formula("Return the largest number.", max), "numbers precision?"),
    _operation(
        "variance",
        _formula(
            "Return the variance of a population.", lambda numbers: float(_imported("statistics:pvariance")(numbers))
        ),
        "numbers precision?",
    ),
    _operation(
        "standard_deviation",
        _formula("Return the standard deviation of a population.", "statistics:pstdev"),
        "numbers precision?",
    ),
    _operation("sort", _formula("Return numbers in ascending order.", sorted), "numbers precision?"),
    _operation("now", "dates:now", "timezone? format?"),
    _operation("convert_time", "dates:convert_time", "time convert_time_source convert_time_target"),
    _operation("echo", _formula("Return a text.", str), "text", excludes="not.echo"),
)
"""All operations. Of operations that a tool may mean equally, the first is meant."""
