"""The answer does not come in time, and whether the call took effect is another question."""

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
    """Keep the agent waiting: after `after` it reads of a timeout, or with `then: hang` it never gets an answer.

    `commit` says what the call did all the same: `none` (it never reached the backend), `applied` (it took effect), or
    `coin` (one or the other, drawn for each call). The agent cannot tell them apart, as with a real timeout. The ledger
    can: `truth` is null where the world was not asked. A call that hangs ends when the client gives up; that takes the
    real clock.
    """

    stage = Stage.BEFORE

    after: Duration = Field(
        default=timedelta(seconds=30), description="How long the agent waits for the answer.", examples=["30s"]
    )
    then: Literal["answer", "hang"] = Field(
        default="answer", description="What comes then: an answer that tells of a timeout, or nothing ever."
    )
    commit: Literal["none", "applied", "coin"] = Field(
        default="none", description="Whether the call takes effect; coin: drawn for each call."
    )
    message: str | None = Field(
        default=None,
        description="What the agent reads. Default: the tool spec's wording of a timeout, else a plain one.",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        unheard = sorted({"after", "message"} & self.model_fields_set)
        if self.then == "hang" and unheard:
            raise ValueError(f"{' and '.join(unheard)}: nothing comes after a call that hangs; leave it out")
        return self

    def breaks(self) -> frozenset[str]:
        return frozenset({"no_answer"}) if self.then == "hang" else frozenset()

    def ends_calls(self) -> bool:
        return self.commit == "none"

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        if not self._takes_effect(turn):
            return Transition(self._observation(turn))
        return replace(await proceed(turn), observation=self._observation(turn))

    def _takes_effect(self, turn: Turn) -> bool:
        return self.commit == "applied" or (self.commit == "coin" and turn.chance("commit") < 0.5)

    def _observation(self, turn: Turn) -> Observation:
        if self.then == "hang":
            return Observation(BrokenDelivery("no_answer"))
        waited = duration_text(self.after)
        told = refusal(turn, "timeout", f"timed out after {waited}", self.message, after=waited)
        return Observation(told.body, delay=self.after)
