"""Which values do the words of a tool allow what it writes, though its schema allows any?"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from mcp_sim.backends.records.arguments import argument
from mcp_sim.backends.records.effects import Check
from mcp_sim.backends.records.refusals import either, invalid
from mcp_sim.backends.records.said_ranges import ranges_said
from mcp_sim.backends.records.spans import is_reversed, spans_among
from mcp_sim.infer.choices import demanded
from mcp_sim.infer.docstrings import described
from mcp_sim.types import Json, Observation, Tool, Turn
from mcp_sim.types.json_schema.shapes import at, expanded
from mcp_sim.types.plans import Plan

Test: TypeAlias = "Callable[[Json], str | None]"
"""Why a value is not allowed; None where it is."""


def as_said(tool: Tool, plan: Plan) -> Check | None:
    """What forbids a write: a value that the tool's words do not allow, or two out of order; None where any may be."""
    schema = expanded(described(tool).input_schema)
    parts = {path: at(schema, path) for path in plan.sets}
    tests = {path: _among(choices) for path, part in parts.items() if (choices := demanded(part))}
    tests |= {path: _within(*ends) for path, ends in ranges_said(parts, tool.description).items()}
    spans = [(one, argument(one), end, argument(end)) for one, end in spans_among(plan.sets)]
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


def _among(choices: list[Json]) -> Test:
    known = {str(one).lower() for one in choices}

    def test(value: Json) -> str | None:
        wrong = isinstance(value, str) and value and value.lower() not in known
        return f"{value!r} is not one of {either(choices)}" if wrong else None

    return test


def _within(least: float, most: float) -> Test:
    def test(value: Json) -> str | None:
        wrong = isinstance(value, int | float) and not least <= value <= most
        return f"{value} is not between {least:g} and {most:g}" if wrong else None

    return test
