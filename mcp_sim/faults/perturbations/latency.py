"""Slow answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from math import log1p
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from mcp_sim.types import Proceed, Record, Transition, Turn
from mcp_sim.types.delays import LONGEST, USUAL_SIGMA, log_normal, scaled
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import CountFromZero, Duration, PositiveDuration

MOST_PROGRESS = 100  # each is a message that the client must read; a mistyped number would flood it


@perturbations.register("latency")
class Latency(Perturbation):
    """Delay the answer, in world time: by a constant (`latency: 2s`), or by a random delay for each call.

    Uniform: `{min: 200ms, max: 3s}`. Log-normal around a median: `{median: 400ms, sigma: 0.8}`. Pareto, with a heavy
    tail: `{min: 200ms, alpha: 1.5}`. `max` limits the delay; its default is one day. The effect is committed at once.
    """

    stage = Stage.TRANSPORT
    severities: ClassVar[tuple[str, ...]] = ("duration", "min", "max", "median")

    duration: PositiveDuration | None = Field(default=None, description="A constant delay.", examples=["2s"])
    min: Duration | None = Field(default=None, description="The shortest delay.", examples=["200ms"])
    max: PositiveDuration | None = Field(default=None, description="The longest delay.", examples=["3s"])
    median: PositiveDuration | None = Field(default=None, description="Log-normal: the median of the delays.")
    sigma: Annotated[float, Field(strict=True, gt=0, le=5)] | None = Field(
        default=None, description="Log-normal: the standard deviation of the logarithm. Default: 0.5."
    )
    alpha: Annotated[float, Field(strict=True, gt=0, le=100)] | None = Field(
        default=None, description="Pareto: the shape. Smaller values have a heavier tail; 1 or less has no mean."
    )
    progress: Annotated[CountFromZero, Field(le=MOST_PROGRESS)] = Field(
        default=0, description="Number of evenly spaced progress notifications before the answer."
    )

    @model_validator(mode="after")
    def _one_distribution(self) -> Self:
        self._check_distribution()
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is longer than max")
        if self.median is not None and self.max is not None and self.median > self.max:
            raise ValueError("the median is longer than max")
        return self

    def _check_distribution(self) -> None:
        given = self.model_fields_set - {"progress"}
        if given == {"duration"} or given in ({"median"}, {"median", "sigma"}):
            return
        if given in ({"min", "max"}, {"median", "max"}, {"median", "sigma", "max"}, {"min", "alpha", "max"}):
            return
        if given == {"min", "alpha"} and self.min:
            return
        raise ValueError(
            "expected one of: a duration (latency: 2s), {min, max}, {median, sigma}, {min, alpha} with a min above 0s"
        )

    def notifies(self) -> bool:
        return self.progress > 0

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        transition = await proceed(turn)
        delay = self._delay(turn.chance("delay"))
        observation, before = transition.observation, transition.observation.delay
        notices = tuple(self._notices(before, delay))
        return replace(
            transition,
            observation=replace(
                observation, delay=before + delay, notifications=(*observation.notifications, *notices)
            ),
        )

    def _delay(self, chance: float) -> timedelta:
        """Return the quantile `chance` of the delays."""
        longest = LONGEST if self.max is None else self.max
        if self.median is not None:
            return log_normal(self.median, USUAL_SIGMA if self.sigma is None else self.sigma, chance, longest)
        if self.min is None:
            return self.duration or timedelta(0)
        if self.alpha is not None:
            return scaled(self.min, -log1p(-chance) / self.alpha, longest)
        return self.min + ((self.max or self.min) - self.min) * chance

    def _notices(self, begin: timedelta, delay: timedelta) -> Iterator[Record]:
        for step in range(1, self.progress + 1):
            at = begin + delay * step / (self.progress + 1)
            params = {"progress": step, "total": self.progress + 1}
            yield {
                "method": "notifications/progress",
                "params": params,
                "at_ms": round(at / timedelta(milliseconds=1), 3),
            }
