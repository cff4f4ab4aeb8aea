"""The backend is down for a while, and comes back by and by."""

from __future__ import annotations

from datetime import timedelta
from math import ceil
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from mcp_sim.types import Proceed, Transition, Turn
from mcp_sim.types.error_templates import failure_of, refusal, status_phrase
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Duration, PositiveDuration


@perturbations.register("outage")
class Outage(Perturbation):
    """Refuse every call for so long, from `start` on, by the world's clock: once, or again and again (`every`).

    After it the backend may recover by and by: during `recovery` each call is let through with a chance that grows
    evenly from 0 to 1, drawn for each call. What is refused is not committed. A call that is let through is a
    `no_effect` in the ledger, so it is written without `when`, which would count those too.
    """

    stage = Stage.BEFORE
    severities: ClassVar[tuple[str, ...]] = ("lasts", "recovery")

    lasts: PositiveDuration = Field(description="How long nothing is let through.", examples=["2m"])
    start: Duration = Field(
        default=timedelta(0), description="When it begins, since the world's start.", examples=["30s"]
    )
    every: PositiveDuration | None = Field(
        default=None, description="How long from the beginning of one to the beginning of the next. Default: only one."
    )
    recovery: Duration = Field(
        default=timedelta(0), description="How long after it some calls still fail, fewer and fewer.", examples=["30s"]
    )
    status: Annotated[int, Field(strict=True, ge=500, le=599)] = Field(
        default=503, description="The HTTP status the backend would have answered with."
    )
    tells: bool = Field(
        default=False, description="Whether the agent is told in how many seconds it ends ({retry_after} in a wording)."
    )
    message: str | None = Field(
        default=None, description="What the agent reads. Default: the tool spec's wording, else the status in words."
    )

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.every is not None and self.lasts + self.recovery > self.every:
            raise ValueError("it lasts, with its recovery, longer than the time from one to the next (every)")
        return self

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        into = self._into(turn)
        if into < timedelta(0) or into >= self.lasts + self.recovery:
            return turn.no_effect(await proceed(turn))
        if into >= self.lasts and turn.chance("recovery") < (into - self.lasts) / self.recovery:
            return turn.no_effect(await proceed(turn))
        return self._refusal(turn, max(self.lasts - into, timedelta(0)))

    def _into(self, turn: Turn) -> timedelta:
        """How long ago the latest outage began; negative before the first."""
        since = turn.now - turn.start - self.start
        return since if self.every is None or since < timedelta(0) else since % self.every

    def _refusal(self, turn: Turn, left: timedelta) -> Transition:
        slots, again = {"status": self.status}, ""
        if self.tells:
            slots["retry_after"] = max(1, ceil(left / timedelta(seconds=1)))
            again = f"; try again in {slots['retry_after']} s"
        sentence = f"{status_phrase(self.status)}{again}"
        return Transition(refusal(turn, failure_of(self.status), sentence, self.message, **slots))
