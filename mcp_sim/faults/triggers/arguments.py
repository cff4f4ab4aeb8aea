"""Calls with certain arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from mcp_sim.types import Tool
from mcp_sim.types.call_matchers import argument_test, may_satisfy, unknown_argument
from mcp_sim.types.conditions import matcher
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.json_values import canonical
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import MatcherSource

MOST_SHOWN = 120  # the reason is one line of the ledger, and a value may have megabytes


@triggers.register("arguments")
class Arguments(Trigger):
    """Calls whose arguments satisfy all given matchers. A filter: counters beside it see only the calls that pass.

    A dotted name selects a part of nested objects (`customer.email`) and lists (`items.0.sku`), unless the call has an
    argument of exactly that name. An omitted argument satisfies only `not` and `exists: false`. Defaults of the
    inputSchema are not filled in.
    """

    role = Role.FILTER
    takes_mapping: ClassVar[bool] = True

    arguments: dict[str, MatcherSource] = Field(
        min_length=1,
        description="Argument name -> matcher: a JSON value, or operators such as {gt: 1000}.",
        examples=[{"amount": {"gt": 1000}, "currency": "EUR"}],
    )

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        tests = [argument_test(name, matcher(value)) for name, value in self.arguments.items()]
        if len(tests) == 1:
            only = tests[0]
            return lambda turn, _: only(turn.call.arguments)
        return lambda turn, _: all(test(turn.call.arguments) for test in tests)

    def why(self) -> str:
        text = ", ".join(f"{name} {canonical(value)}" for name, value in self.arguments.items())
        return f"arguments {text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + '...'}"

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return [problem for name in self.arguments if (problem := unknown_argument(name, tools))]

    def warnings(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        declared = [properties(expanded(tool.input_schema)) for tool in tools]
        schemas = {name: [known[name] for known in declared if name in known] for name in self.arguments}
        return [
            f"{name}: no tool in reach takes {canonical(value)} by its inputSchema"
            for name, value in self.arguments.items()
            if schemas[name] and not any(may_satisfy(schema, value) for schema in schemas[name])
        ]
