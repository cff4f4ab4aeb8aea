"""Calls by their number."""

from __future__ import annotations

from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field

from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Check, Role, Trigger, triggers
from mcp_sim.types.options import Count
from mcp_sim.types.time_bounds import CallNumbers


def _listed(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return (value,)
    if not value:
        raise ValueError("an empty list of numbers never holds")
    return cast("Any", value)


Written = Count | Annotated[list[Count], Field(min_length=1)]
Chosen = Annotated[tuple[Count, ...], BeforeValidator(_listed, json_schema_input_type=Written)]


@triggers.register("nth")
class Nth(Trigger):
    """The n-th call, or each of several, counted from 1 among the calls that pass the filters beside it.

    `nth: 1` is the first call, `nth: [2, 5]` the second and the fifth. If the perturbation has no effect there (the
    call changed nothing, or another perturbation answered instead of the world), it is carried over to the next call
    that passes the filters.
    """

    role = Role.COUNTER
    carries_over = True

    n: Chosen = Field(description="The number of a call, or a list of numbers, from 1.", examples=[1, [2, 5]])

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        call_numbers = frozenset(self.n)
        return lambda _, number: number in call_numbers

    def call_numbers(self) -> CallNumbers:
        return CallNumbers(sorted(self.n))

    def why(self) -> str:
        return f"nth {', '.join(map(str, self.n))}"
