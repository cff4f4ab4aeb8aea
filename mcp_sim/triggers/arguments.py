"""Calls with certain arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, cast

from pydantic import Field

from mcp_sim.conditions import ABSENT, Matcher, at_path, matcher
from mcp_sim.domain import Domain
from mcp_sim.errors import did_you_mean
from mcp_sim.extensions import Check, Role, Trigger, triggers
from mcp_sim.json_text import canonical
from mcp_sim.options import MatcherSource
from mcp_sim.types import Json, Record, Tool

MOST_SHOWN = 120


@triggers.register("arguments")
class Arguments(Trigger):
    """Calls whose arguments satisfy matchers, all of them. A filter: counters beside it see only the calls that pass.

    A dotted name reaches into nested objects (`customer.email`) and lists (`items.0.sku`), unless the tool declares an
    argument of exactly that name. An argument that was not given satisfies `not` and `exists: false` alone; defaults of
    the inputSchema are not filled in, since the call is looked at as it came.
    """

    role = Role.FILTER
    takes_mapping: ClassVar[bool] = True

    arguments: dict[str, MatcherSource] = Field(
        min_length=1,
        description="Argument name -> matcher: a JSON value, or operators such as {gt: 1000}.",
        examples=[{"amount": {"gt": 1000}, "currency": "EUR"}],
    )

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        tests = [_test(name, matcher(value), tool) for name, value in self.arguments.items()]
        if len(tests) == 1:
            only = tests[0]
            return lambda turn, _: only(turn.call.arguments)
        return lambda turn, _: all(test(turn.call.arguments) for test in tests)

    def why(self) -> str:
        text = ", ".join(f"{name} {canonical(value)}" for name, value in self.arguments.items())
        return f"arguments {text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + '...'}"

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return [problem for name in self.arguments if (problem := _unknown(name, tools))]


def _test(name: str, matches: Matcher, tool: Tool) -> Callable[[dict[str, Json]], bool]:
    if "." not in name or name in _properties(tool.input_schema):
        return lambda arguments: matches(arguments.get(name, ABSENT))
    path = name.split(".")
    return lambda arguments: matches(at_path(arguments, path))


def _unknown(name: str, tools: Sequence[Tool]) -> str | None:
    """What is wrong with an argument name that none of the tools declares."""
    known = {argument for tool in tools for argument in _properties(tool.input_schema)}
    if not tools or not known or name in known or name.split(".", 1)[0] in known:
        return None
    return f"no tool in reach has an argument {name!r}{did_you_mean(name, known)}"


def _properties(schema: Record) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return cast("Mapping[str, Any]", properties) if isinstance(properties, Mapping) else {}
