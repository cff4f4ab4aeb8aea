"""So many calls in a window of time, and no more."""

from __future__ import annotations

from datetime import timedelta
from math import ceil

from pydantic import Field

from mcp_sim.extensions import Perturbation, Stage, perturbations
from mcp_sim.options import Count, PositiveDuration, duration_text
from mcp_sim.types import Observation, Proceed, ToolResult, Transition, Turn


@perturbations.register("rate_limit")
class RateLimit(Perturbation):
    """Let `limit` calls through in each window, refuse the rest, and say in how many seconds the next window begins.

    Windows follow one another from the world's start; all tools in reach share one quota, per world. It counts the
    calls that it is decided for, so it is written without `when`; a call that it lets through is a `no_effect` in the
    ledger. `retry_after` is in whole seconds, rounded up: an agent that waits that long is let through.
    """

    stage = Stage.BEFORE

    limit: Count = Field(default=10, description="How many calls each window lets through.", examples=[10])
    window: PositiveDuration = Field(default=timedelta(minutes=1), description="How long a window is.", examples=["1m"])
    message: str | None = Field(
        default=None,
        description="What the agent reads. Default: the tool spec's wording of rate_limited, else a plain one.",
    )

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        number, into = divmod(turn.now - turn.start, self.window)
        seen, used = turn.memory.get("window", (number, 0))
        used = used if seen == number else 0
        if used >= self.limit:
            return Transition(self._refusal(turn, ceil((self.window - into).total_seconds())))
        turn.memory.set("window", (number, used + 1))
        return turn.no_effect(await proceed(turn))

    def _refusal(self, turn: Turn, retry_after: int) -> Observation:
        if self.message is not None:
            return Observation(
                ToolResult(self.message.replace("{retry_after}", str(retry_after)), form="text", is_error=True)
            )
        quota = f"{self.limit} calls per {duration_text(self.window)}"
        message = f"429 Too Many Requests: at most {quota}; try again in {retry_after} s"
        slots = {**turn.call.arguments, "status": 429, "retry_after": retry_after, "limit": self.limit}
        return turn.tool.failure("rate_limited", message, **slots)
