"""The answer takes its time."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Self

from pydantic import Field, model_validator

from mcp_sim.extensions import Perturbation, Stage, perturbations
from mcp_sim.options import Duration, PositiveDuration
from mcp_sim.types import Proceed, Transition, Turn


@perturbations.register("latency")
class Latency(Perturbation):
    """Deliver the answer later, in world time: `latency: 2s`, or evenly drawn from `latency: {min: 200ms, max: 3s}`.

    What the call did is committed at once; only the agent waits. Under the virtual clock nobody waits: the clock moves.
    """

    stage = Stage.TRANSPORT

    duration: PositiveDuration | None = Field(default=None, description="How long, always the same.", examples=["2s"])
    min: Duration | None = Field(default=None, description="The shortest delay.", examples=["200ms"])
    max: PositiveDuration | None = Field(default=None, description="The longest delay.", examples=["3s"])

    @model_validator(mode="after")
    def _either(self) -> Self:
        if (self.duration is None) == (self.min is None and self.max is None):
            raise ValueError("say either a duration, as in latency: 2s, or {min: 200ms, max: 3s}")
        if (self.min is None) != (self.max is None):
            raise ValueError("min and max go together")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError("min is longer than max")
        return self

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        transition = await proceed(turn)
        observation = transition.observation
        return replace(transition, observation=replace(observation, delay=observation.delay + self._delay(turn)))

    def _delay(self, turn: Turn) -> timedelta:
        if self.min is None or self.max is None:
            return self.duration or timedelta(0)
        return self.min + (self.max - self.min) * turn.chance("delay")
