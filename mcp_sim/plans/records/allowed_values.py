"""Check the values of a write: ranges in descriptions, and time spans."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import TypeAlias

from mcp_sim.plans.records.arguments import argument
from mcp_sim.plans.records.effects import Check
from mcp_sim.plans.refusal import invalid
from mcp_sim.types import Json, Observation, Record, Tool, Turn
from mcp_sim.types.argument_descriptions import describe_arguments
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import at, main_type
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan

Test: TypeAlias = "Callable[[Json], str | None]"
"""Returns why a value is not allowed, or None if it is."""

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_RANGE = re.compile(
    rf"(?:(?<![\w.,:/'\"-]){_NUMBER}\s?(?:-|–|\.\.|to)\s?{_NUMBER}|\bbetween {_NUMBER} and {_NUMBER})"
    r"(?![\w:/'\"-]|\.\d)",
    re.IGNORECASE,
)
_LOOSE = re.compile(
    r"\b(?:e\.?g\.?|for example|such as|like|typically|usually|about|around|recommended|if|or)\b", re.IGNORECASE
)
_PAIRS = (
    ("start", "end"), ("starts", "ends"), ("begin", "end"), ("from", "to"), ("from", "until"), ("since", "until"),
    ("check_in", "check_out"), ("checkin", "checkout"), ("departure", "return"), ("pickup", "dropoff"),
    ("pickup", "return"),
)  # fmt: skip
_DAY = re.compile(r"\d{4}-\d\d-\d\d(?:$|[T ])")


def declared_values_check(tool: Tool, plan: Plan) -> Check | None:
    """Return the check of values against the ranges in descriptions, or None if they are missing.

    The check also refuses a time span that ends before it begins.
    """
    schema = expanded(describe_arguments(tool).input_schema)
    parts = {path: at(schema, path) for path in plan.sets}
    tests = {path: _within(*ends) for path, ends in declared_ranges(parts, tool.description).items()}
    spans = [(start, argument(start), end, argument(end)) for start, end in time_spans(plan.sets)]
    if not tests and not spans:
        return None
    compiled = [(path, argument(path), test) for path, test in tests.items()]

    def refused(turn: Turn) -> Observation | None:
        for path, fetch, test in compiled:
            value = fetch(turn.call.arguments)
            why = test(value)
            if why is not None:
                return invalid(tool, path, value, f"Invalid {path}: {why}")
        for begin, begun, end, ended in spans:
            last = ended(turn.call.arguments)
            if is_reversed(begun(turn.call.arguments), last):
                return invalid(tool, end, last, f"{end} must be after {begin}")
        return None

    return refused


def _within(least: float, most: float) -> Test:
    def test(value: Json) -> str | None:
        wrong = isinstance(value, int | float) and not least <= value <= most
        return f"{value} is not between {least:g} and {most:g}" if wrong else None

    return test


def declared_ranges(schemas: dict[str, Record], about: str) -> dict[str, tuple[float, float]]:
    """Return the declared minimum and maximum of numeric arguments.

    The description of the tool counts for its only numeric argument.
    """
    numbers = {name: schema for name, schema in schemas.items() if main_type(schema) in {"integer", "number"}}
    ranges = {name: _range(str(number.get("description", ""))) for name, number in numbers.items()}
    if len(ranges) == 1:
        ranges = {name: value or _range(about) for name, value in ranges.items()}
    return {name: value for name, value in ranges.items() if value is not None}


def _range(text: str) -> tuple[float, float] | None:
    """Return the only range in a text, or None if the text is ambiguous."""
    ranges: Collection[tuple[str, ...]] = _RANGE.findall(text)
    if len(ranges) != 1 or _LOOSE.search(text):
        return None
    least, most = (float(item) for item in next(iter(ranges)) if item)
    return (least, most) if least < most else None


def time_spans(paths: Iterable[str]) -> list[tuple[str, str]]:
    """Return the pairs of arguments that begin and end a time span: `check_in` and `check_out`."""
    by_name = {snake(path): path for path in paths}
    spans = [(name, _ended(name, *pair)) for name in by_name for pair in _PAIRS]
    pairs = [(by_name[name], by_name[end]) for name, end in spans if end != name and end in by_name]
    ends = [end for _, end in pairs]
    return [pair for pair in pairs if ends.count(pair[1]) == 1 and pair[0] not in ends]


def _ended(name: str, begun: str, ended: str) -> str:
    return re.sub(rf"(?<![a-z]){begun}(?![a-z])", ended, name)


def is_reversed(begun: Json, ended: Json) -> bool:
    """Return whether a span ends before it begins. Compares dates, and times in the same format."""
    if not (isinstance(begun, str) and isinstance(ended, str) and _DAY.match(begun) and _DAY.match(ended)):
        return False
    is_alike = len(begun) == len(ended) and begun[19:] == ended[19:]
    return ended < begun if is_alike else ended[:10] < begun[:10] and begun[10:] == ended[10:] == ""
