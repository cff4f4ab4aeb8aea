"""Exhausted budgets of calls, items or cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from math import ceil
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import BeforeValidator, Field, WithJsonSchema

from mcp_sim.types import Json, Memory, Proceed, Tool, ToolResult, Transition, Turn
from mcp_sim.types.call_matchers import QuotaScope, argument_value, quota_key, quota_problems
from mcp_sim.types.conditions import at_path
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import refusal, status_phrase
from mcp_sim.types.kinds import Apply, CountCall, Perturbation, Stage, perturbations
from mcp_sim.types.options import PositiveDuration
from mcp_sim.types.plans import Plan


def _measure(value: Any) -> Any:
    if value in ("calls", "items") or (isinstance(value, str) and value.startswith("arguments.") and value[10:]):
        return value
    raise ValueError(f"{value!r} cannot be counted; write calls, items, or arguments.NAME")


Measure: TypeAlias = Annotated[
    str,
    BeforeValidator(_measure),
    WithJsonSchema({"type": "string", "pattern": r"^(calls|items|arguments\..+)$", "examples": ["items"]}),
]


@perturbations.register("quota_exhausted")
class QuotaExhausted(Perturbation):
    """Reject calls once a budget of `limit` is used up: permanently, or until it is `renewed`.

    `of: calls` counts each call. `items` counts the records that lists and reads return; the last call that finds
    budget left is answered in full. `arguments.NAME` is the cost in an argument: a number, the characters of a text,
    the items of a list; a call that costs more than is left is rejected. Rejected calls use up nothing.

    Use it without `when`, which would keep calls from being counted.
    """

    stage = Stage.BEFORE

    limit: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] = Field(
        description="The budget; 0 means that nothing is left from the beginning.", examples=[100]
    )
    of: Measure = Field(default="calls", description="What is counted: calls, items, or arguments.NAME.")
    renewed: PositiveDuration | None = Field(
        default=None,
        description="The period after which the budget is renewed, from the world's start. Default: never.",
        examples=["1d"],
    )
    per: QuotaScope = Field(default="world", description="Which calls share a budget: world, tool or arguments.NAME.")
    status: Literal[402, 403, 429] = Field(default=429, description="The HTTP status of a rejected call.")
    message: str | None = Field(
        default=None,
        description="The error text, with the placeholders {limit}, {used} and, with `renewed`, {retry_after}. "
        "Default: the tool spec's template, else a generic one.",
    )

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        problems = [*quota_problems(self.of, tools), *quota_problems(self.per, tools)]
        plans = [domain.plans.get(tool.id) for tool in tools]
        if self.of == "items" and tools and not any(_returns_items(plan) for plan in plans):
            problems.append("no tool in reach returns records, so there are no items to count; count calls")
        return problems

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        plan = domain.plans.get(tool.id)

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            share, number, used = self._used(turn, turn.memory)
            cost = self._cost(turn)
            if used >= self.limit or used + cost > self.limit:
                return self._refusal(turn, used, number)
            transition = await proceed(turn)
            cost = items(transition, plan) if self.of == "items" else cost
            turn.memory.set(share, (number, used + cost))
            return turn.no_effect(transition)

        return apply

    def compile_count(self, tool: Tool, domain: Domain) -> CountCall | None:
        if self.of == "items":
            return None

        def count(turn: Turn, memory: Memory) -> bool:
            share, number, used = self._used(turn, memory)
            cost = self._cost(turn)
            if used >= self.limit or used + cost > self.limit:
                return False
            memory.set(share, (number, used + cost))
            return True

        return count

    def _used(self, turn: Turn, memory: Memory) -> tuple[str, int, float]:
        """Return the name of the budget of a call, the number of its period, and what is used of it."""
        number = 0 if self.renewed is None else (turn.now - turn.start) // self.renewed
        share = f"used:{quota_key(turn, self.per)}"
        seen, used = memory.get(share, (number, 0))
        return share, number, used if seen == number else 0

    def _cost(self, turn: Turn) -> float:
        """Return the cost of the call, as far as it is known beforehand."""
        if self.of in ("calls", "items"):
            return 1 if self.of == "calls" else 0
        return cost_of(argument_value(turn.call.arguments, self.of.removeprefix("arguments.")))

    def _refusal(self, turn: Turn, used: float, number: int) -> Transition:
        slots: dict[str, Json] = {"status": self.status, "limit": _plain(self.limit), "used": _plain(used)}
        again = ""
        if self.renewed is not None:
            left = turn.start + self.renewed * (number + 1) - turn.now
            slots["retry_after"] = ceil(left / timedelta(seconds=1))
            again = f"; renewed in {slots['retry_after']} s"
        what = self.of.removeprefix("arguments.")
        sentence = f"{status_phrase(self.status)}: quota exhausted ({slots['used']} of {slots['limit']} {what}){again}"
        return Transition(refusal(turn, "quota_exhausted", sentence, self.message, **slots))


def cost_of(value: Json) -> float:
    """Return a number itself (at least 0), the length of a text or a list, and 0 for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return max(value, 0)
    return len(cast("str | list[Any]", value)) if isinstance(value, str | list) else 0


def items(transition: Transition, plan: Plan | None) -> int:
    """Return the number of records in a result."""
    body = transition.observation.body
    if plan is None or not isinstance(body, ToolResult) or body.is_error:
        return 0
    if plan.envelope.rows is not None:
        rows = at_path(body.value, [name for name in plan.envelope.rows.split(".") if name])
        return len(cast("list[Any]", rows)) if isinstance(rows, list) else 0
    return int(_returns_items(plan))


def _returns_items(plan: Plan | None) -> bool:
    return plan is not None and plan.verb in ("get", "list", "search")


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else value
