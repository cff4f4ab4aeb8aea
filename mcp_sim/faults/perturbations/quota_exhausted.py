"""A budget of calls, items or cost, and it is used up."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from math import ceil
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import BeforeValidator, Field, WithJsonSchema

from mcp_sim.types import Json, Proceed, Tool, ToolResult, Transition, Turn
from mcp_sim.types.call_matchers import Shared, argument_value, share_of, share_problems
from mcp_sim.types.conditions import at_path
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import refusal, status_phrase
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
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
    """Refuse calls once a budget of `limit` is used up: for good, or until it is `renewed`.

    What is counted: `calls`; `items`, the records that lists and reads have returned (a call that finds the budget not
    yet empty is answered in full); or the cost that an argument names (`arguments.amount`): a number counts itself, a
    text its characters, a list its items, and a call that costs more than is left is refused, a cheaper one still goes
    through. A refused call uses nothing up and commits nothing.

    All calls in reach share one budget, unless each tool or each value of an argument has its own (`per`). It counts
    the calls that it is decided for, so it is written without `when`; a call that it lets through is a `no_effect` in
    the ledger.
    """

    stage = Stage.BEFORE

    limit: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] = Field(
        description="How much there is; 0: nothing is left from the beginning.", examples=[100]
    )
    of: Measure = Field(
        default="calls", description="What is counted: calls, items, or the cost that an argument names."
    )
    renewed: PositiveDuration | None = Field(
        default=None,
        description="The budget begins anew so often, from the world's start. Default: never.",
        examples=["1d"],
    )
    per: Shared = Field(
        default="world", description="Who shares a budget: all calls of the world, of one tool, or of one argument."
    )
    status: Literal[402, 403, 429] = Field(default=429, description="The status that the backend gives it.")
    message: str | None = Field(
        default=None,
        description="What the agent reads; {limit}, {used} and, where it is renewed, {retry_after} are filled. "
        "Default: the vendor's wording, or a plain one.",
    )

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        problems = [*share_problems(self.of, tools), *share_problems(self.per, tools)]
        plans = [domain.plans.get(tool.id) for tool in tools]
        if self.of == "items" and tools and not any(_returns_items(plan) for plan in plans):
            problems.append("no tool in reach returns records, so there are no items to count; count calls")
        return problems

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        plan = domain.plans.get(tool.id)

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            number = 0 if self.renewed is None else (turn.now - turn.start) // self.renewed
            share = f"used:{share_of(turn, self.per)}"
            seen, used = turn.memory.get(share, (number, 0))
            used = used if seen == number else 0
            cost = self._cost(turn)
            if used >= self.limit or used + cost > self.limit:
                return self._refusal(turn, used, number)
            transition = await proceed(turn)
            cost = items(transition, plan) if self.of == "items" else cost
            turn.memory.set(share, (number, used + cost))
            return turn.no_effect(transition)

        return apply

    def _cost(self, turn: Turn) -> float:
        """What the call uses up, as far as that is known before it is made."""
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
    """A number counts itself (not below 0), a text its characters, a list its items; anything else costs nothing."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return max(value, 0)
    return len(cast("str | list[Any]", value)) if isinstance(value, str | list) else 0


def items(transition: Transition, plan: Plan | None) -> int:
    """How many records an answer returns."""
    body = transition.observation.body
    if plan is None or not isinstance(body, ToolResult) or body.is_error:
        return 0
    if plan.envelope.rows is not None:
        rows = at_path(body.value, [part for part in plan.envelope.rows.split(".") if part])
        return len(cast("list[Any]", rows)) if isinstance(rows, list) else 0
    return int(_returns_items(plan))


def _returns_items(plan: Plan | None) -> bool:
    return plan is not None and plan.verb in ("get", "list", "search")


def _plain(value: float) -> float:
    return int(value) if float(value).is_integer() else value
