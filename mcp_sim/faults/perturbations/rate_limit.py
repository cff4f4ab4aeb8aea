"""Rate limits: a maximum number of calls per time window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Any, Literal, Self, TypeAlias

from pydantic import Field, model_validator

from mcp_sim.types import Memory, Proceed, Tool, Transition, Turn
from mcp_sim.types.call_matchers import QuotaScope, quota_key, quota_problems
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import refusal
from mcp_sim.types.kinds import CountCall, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count, PositiveDuration, duration_text

MOST_SLIDING = 10_000
"""The largest quota of a sliding window, which remembers each call in it."""

MICROSECOND = timedelta(microseconds=1)  # counters are integers, so that the same calls give the same ledger
SECOND = 1_000_000

Admit: TypeAlias = Callable[[Any, int], tuple[Any, int]]
"""Maps the memory (None: empty) and the time to the new memory and the time to wait (0: the call passes).

Times are integer microseconds since the world's start.
"""


@perturbations.register("rate_limit")
class RateLimit(Perturbation):
    """Reject calls beyond `limit` per window with a 429 that says how many seconds to wait.

    `counting: fixed` has consecutive windows from the world's start. `sliding` allows `limit` calls within any interval
    of this length. `bucket` is a token bucket that holds `burst` tokens and is refilled evenly. Rejected calls do not
    count.

    Use it without `when`, which would keep calls from being counted.
    """

    stage = Stage.BEFORE

    limit: Count = Field(default=10, description="Maximum number of calls per window.", examples=[10])
    window: PositiveDuration = Field(default=timedelta(minutes=1), description="Length of a window.", examples=["1m"])
    counting: Literal["fixed", "sliding", "bucket"] = Field(default="fixed", description="How calls are counted.")
    burst: Count | None = Field(
        default=None, description="Capacity of the bucket, which is full at first. Default: limit."
    )
    per: QuotaScope = Field(default="world", description="Which calls share a quota: world, tool or arguments.NAME.")
    message: str | None = Field(
        default=None,
        description="What the agent reads; {retry_after} and {limit} are filled. "
        "Default: the vendor's wording, or a plain one.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.burst is not None and self.counting != "bucket":
            raise ValueError("burst goes with counting: bucket")
        if self.counting == "sliding" and self.limit > MOST_SLIDING:
            raise ValueError(f"a sliding window remembers each call in it: limit is at most {MOST_SLIDING}")
        return self

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return quota_problems(self.per, tools)

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        wait = self._wait(turn, turn.memory)
        return turn.no_effect(await proceed(turn)) if wait == 0 else self._refusal(turn, -(-wait // SECOND))

    def compile_count(self, tool: Tool, domain: Domain) -> CountCall:
        return lambda turn, memory: self._wait(turn, memory) == 0

    def _wait(self, turn: Turn, memory: Memory) -> int:
        """Return how long a call has to wait, in microseconds. One that need not wait is counted."""
        share = f"used:{quota_key(turn, self.per)}"
        kept, wait = self._admit(memory.get(share), (turn.now - turn.start) // MICROSECOND)
        if wait <= 0:
            memory.set(share, kept)
        return max(0, wait)

    @cached_property
    def _admit(self) -> Admit:
        window = self.window // MICROSECOND
        match self.counting:
            case "fixed":
                return fixed(self.limit, window)
            case "sliding":
                return sliding(self.limit, window)
            case "bucket":
                return bucket(self.limit, window, self.burst or self.limit)

    def _refusal(self, turn: Turn, retry_after: int) -> Transition:
        quota = f"{self.limit} calls per {duration_text(self.window)}"
        sentence = f"429 Too Many Requests: at most {quota}; try again in {retry_after} s"
        slots = {"status": 429, "retry_after": retry_after, "limit": self.limit}
        return Transition(refusal(turn, "rate_limited", sentence, self.message, **slots))


def fixed(limit: int, window: int) -> Admit:
    """Count in consecutive windows. Remembers the number of the window and how many calls passed in it."""

    def admit(kept: tuple[int, int] | None, now: int) -> tuple[tuple[int, int], int]:
        number, into = divmod(now, window)
        used = kept[1] if kept is not None and kept[0] == number else 0
        return (number, used + 1), window - into if used >= limit else 0

    return admit


def sliding(limit: int, window: int) -> Admit:
    """Count in a window that ends now. Remembers the times of the calls in it that passed."""

    def admit(kept: tuple[int, ...] | None, now: int) -> tuple[tuple[int, ...], int]:
        recent = tuple(time for time in kept or () if time > now - window)
        return (*recent, now), recent[0] + window - now if len(recent) >= limit else 0

    return admit


def bucket(limit: int, window: int, burst: int) -> Admit:
    """Use a token bucket. Remembers when it will be full again, in units of 1/limit microseconds to avoid rounding.

    A token takes `window` such units to be added; a call passes if the bucket holds a whole one.
    """

    def admit(full: int | None, now: int) -> tuple[int, int]:
        units = now * limit
        full = units if full is None else max(full, units)
        return full + window, -(-(full - units - (burst - 1) * window) // limit)

    return admit
