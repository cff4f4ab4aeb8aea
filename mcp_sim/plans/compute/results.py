"""Run computations, and make outcomes of their results."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from inspect import signature
from typing import Any, TypeAlias

from mcp_sim.plans.compute.arithmetic import finite, numbers_in, round_to
from mcp_sim.plans.compute.operations import ANSWER, PRECISION
from mcp_sim.plans.operation import NUMBER, NUMBERS, TEXT, Operation, Role, Run
from mcp_sim.plans.outcome import Outcome, as_text, shown
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.request import Binding, Request
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Domain, Example
from mcp_sim.types.json_schema.shapes import type_name

Sentence: TypeAlias = Callable[[Record, str], str]
"""Renders the arguments of a call and its result as a sentence."""


def runner(operation: Operation, compute: Callable[..., Json]) -> Run:
    """Return the function that computes the outcome of a request.

    `compute` takes the values of the roles, in their order and except the precision; None for those that are not
    given. If it has a parameter `now`, it gets the time of the request.
    """
    values = [role for role in operation.roles if role.name != PRECISION]
    rounds = len(values) < len(operation.roles)
    known = signature(compute).parameters if isinstance(operation.run, str) else ()
    context = ["now"] if "now" in known else []

    def run(request: Request) -> Outcome:
        given = [_value(request, role) for role in values]
        try:
            result = compute(*given, **{name: getattr(request, name) for name in context})
            return _outcome(request, _rounded(result, request.number(PRECISION) if rounds else None))
        except ZeroDivisionError:
            raise Refused("invalid", "Cannot divide by zero") from None
        except OverflowError:
            raise Refused("invalid", "The result is too large") from None
        except ValueError:
            message = f"{operation.name} is not defined for {', '.join(as_text(value) for value in given)}"
            raise Refused("invalid", message) from None

    run.__doc__ = compute.__doc__
    return run


def _value(request: Request, role: Role) -> Json:
    """Return the value of a role, or None. Raises `Refused` if it is required or invalid."""
    value = request.get(role.name)
    if value is None:
        if not role.optional:
            raise Refused("invalid", f"Missing required argument: {request.named(role.name)}")
        return None
    if role.types == NUMBERS:
        return numbers_in(value)
    if role.types == TEXT:
        return as_text(value)
    number = _number(value) if role.types == NUMBER else value
    if role.types and type_name(number) not in role.types:
        raise Refused(
            "invalid", f"{request.named(role.name)} must be {' or '.join(sorted(role.types))}, not {shown(value)}"
        )
    return number


def _number(value: Json) -> Json:
    """Return the number that a text is, any other value as it is."""
    try:
        number = float(value) if isinstance(value, str) else None
    except ValueError:
        return value
    return value if number is None else int(number) if number.is_integer() else number


def _rounded(value: Json, precision: int | None) -> Json:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    number = finite(value)
    return number if precision is None or isinstance(number, int) else round_to(number, max(precision, 0))


def _outcome(request: Request, value: Json) -> Outcome:
    """Return the outcome of a result, in the sentence of an example if the tool has one."""
    sentence, target = request.binding.shared, request.binding.fixed.get("target")
    facts = {ANSWER: value, **({target: value} if isinstance(target, str) else {})}
    if sentence is not None and request.turn is not None:
        return Outcome(sentence(request.turn.call.arguments, as_text(value)), facts, ANSWER)
    return Outcome(as_text(value), facts, ANSWER, is_json=isinstance(value, dict | list))


def sentence_of_example(binding: Binding, domain: Domain, run: Run) -> Sentence | None:
    """Return a function that renders a result in the sentence of an example; None if no example has its result."""
    tool = binding.tool
    if tool is None or tool.output_schema is not None:
        return None
    texts = (
        example
        for example in domain.examples
        if example.tool in {tool.id, tool.name} and isinstance(example.result, str)
    )
    return next((sentence for text in texts if (sentence := _sentence(binding, text, domain.now, run))), None)


def _sentence(binding: Binding, example: Example, now: datetime, run: Run) -> Sentence | None:
    given = {role: example.arguments[name] for role, name in binding.arguments.items() if name in example.arguments}
    no_view: Any = None
    try:
        value = run(Request(binding, no_view, now, {**binding.fixed, **given})).text
    except Refused:
        return None
    if not value or value not in example.result:
        return None
    head, _, tail = str(example.result).rpartition(value)
    texts = {name: as_text(shown) for name, shown in example.arguments.items() if as_text(shown)}
    ordered = sorted(texts.items(), key=lambda item: -len(item[1]))

    def fill(called: Record, result: str) -> str:
        before, after = head, tail
        for name, text in ordered:
            if name in called:
                shown = as_text(called[name])
                before, after = before.replace(text, shown), after.replace(text, shown)
        return before + result + after

    return fill
