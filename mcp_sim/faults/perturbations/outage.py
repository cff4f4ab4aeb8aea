"""Temporary outages of the backend, with gradual recovery."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from math import ceil
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from mcp_sim.types import Proceed, Transition, Turn
from mcp_sim.types.error_templates import failure_kind, refusal, status_phrase, usual_wait
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Duration, PositiveDuration


@perturbations.register("outage")
class Outage(Perturbation):
    """Reject every call during an outage, once or periodically (`every`). All times are world time.

    During `recovery` each call passes with a probability that rises from 0 to 1. Rejected calls commit nothing. Use it
    without `when`, which would also count the calls that pass.
    """

    stage = Stage.BEFORE
    severities: ClassVar[tuple[str, ...]] = ("lasts", "recovery")

    lasts: PositiveDuration = Field(description="Duration of the outage.", examples=["2m"])
    start: Duration = Field(
        default=timedelta(0), description="When it begins, after the world's start.", examples=["30s"]
    )
    every: PositiveDuration | None = Field(
        default=None, description="The period, from one beginning to the next. Default: only one outage."
    )
    recovery: Duration = Field(
        default=timedelta(0), description="How long a decreasing share of calls still fails.", examples=["30s"]
    )
    status: Annotated[int, Field(strict=True, ge=500, le=599)] = Field(
        default=503, description="The HTTP status of the backend."
    )
    after: Duration | None = Field(
        default=None,
        description="How long the agent waits for the error. Default: on the real clock 2s for 504, else 0s.",
    )
    announce_end: bool = Field(
        default=False, description="Whether the error says in how many seconds it ends ({retry_after} in templates)."
    )
    message: str | None = Field(
        default=None, description="The error text. Default: the tool spec's template, else the status and its name."
    )

    @model_validator(mode="after")
    def _ends(self) -> Self:
        if self.every is not None and self.lasts + self.recovery > self.every:
            raise ValueError("lasts plus recovery must not be longer than every")
        return self

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        # How long ago the latest outage began; negative before the first.
        since = turn.now - turn.start - self.start
        into = since if self.every is None or since < timedelta(0) else since % self.every
        if into < timedelta(0) or into >= self.lasts + self.recovery:
            return turn.no_effect(await proceed(turn))
        if into >= self.lasts and turn.chance("recovery") < (into - self.lasts) / self.recovery:
            return turn.no_effect(await proceed(turn))
        left = max(self.lasts - into, timedelta(0))
        slots, again = {"status": self.status}, ""
        if self.announce_end:
            slots["retry_after"] = max(1, ceil(left / timedelta(seconds=1)))
            again = f"; try again in {slots['retry_after']} s"
        sentence = f"{status_phrase(self.status)}{again}"
        refused = refusal(turn, failure_kind(self.status), sentence, self.message, **slots)
        return Transition(replace(refused, delay=turn.wait(self.after, usual_wait(self.status))))
