"""Timeouts of calls that may or may not have taken effect."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Literal, Self

from pydantic import Field, model_validator

from mcp_sim.types import BrokenDelivery, Observation, Proceed, Transition, Turn
from mcp_sim.types.error_templates import refusal
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Duration, duration_text


@perturbations.register("timeout")
class Timeout(Perturbation):
    """Return a timeout error after a wait, or never answer (`then: hang`).

    The agent cannot know whether the call took effect. A call that hangs ends when the client gives up; this requires
    the real clock.
    """

    stage = Stage.BEFORE

    after: Duration = Field(
        default=timedelta(seconds=30), description="How long the agent waits for the answer.", examples=["30s"]
    )
    then: Literal["answer", "hang"] = Field(default="answer", description="What follows the wait.")
    commit: Literal["none", "applied", "coin"] = Field(
        default="none", description="Whether the call takes effect; coin: at random for each call."
    )
    message: str | None = Field(
        default=None, description="The error text. Default: the tool spec's template for timeout, else a generic one."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        unheard = sorted({"after", "message"} & self.model_fields_set)
        if self.then == "hang" and unheard:
            raise ValueError(f"{' and '.join(unheard)}: not valid with then: hang, which never answers")
        return self

    def breaks(self) -> frozenset[str]:
        return frozenset({"no_answer"}) if self.then == "hang" else frozenset()

    def ends_calls(self) -> bool:
        return self.commit == "none"

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        takes_effect = self.commit == "applied" or (self.commit == "coin" and turn.chance("commit") < 0.5)
        if not takes_effect:
            return Transition(self._observation(turn))
        return replace(await proceed(turn), observation=self._observation(turn))

    def _observation(self, turn: Turn) -> Observation:
        if self.then == "hang":
            return Observation(BrokenDelivery("no_answer"))
        waited = duration_text(self.after)
        error = refusal(turn, "timeout", f"timed out after {waited}", self.message, after=waited)
        return Observation(error.body, delay=self.after)
