"""Broken connections."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Literal, Self

from pydantic import Field, model_validator

from mcp_sim.faults.results import message_prefix
from mcp_sim.types import BrokenDelivery, Observation, Proceed, Transition, Turn
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Duration

USUAL_WAIT = timedelta(seconds=1)
"""How long a caller on a real clock waits until the connection of a call that takes effect ends."""


@perturbations.register("disconnect")
class Disconnect(Perturbation):
    """Break the connection before the call, in the middle of the answer, or after the call.

    `at: before`: nothing is committed. `middle`: the call takes effect, and its answer is cut. `after`: the call takes
    effect, and no answer is delivered. The agent cannot distinguish the first from the last.

    `session: lost` also ends the session of an older client (up to 2025-11-25): it gets 404 until it opens another one,
    which has a new world unless the URL names one. Over stdio the server's output and process end. `then: stall`
    requires the real clock.
    """

    stage = Stage.TRANSPORT

    at: Literal["before", "middle", "after"] = Field(default="after", description="When the connection breaks.")
    then: Literal["close", "stall"] = Field(
        default="close", description="Whether the connection is closed, or stays silent."
    )
    after: Duration | None = Field(
        default=None,
        description="How long the agent waits. Default: on the real clock 1s for middle and after, else 0s.",
    )
    session: Literal["kept", "lost"] = Field(
        default="kept", description="Whether an older client's HTTP session ends with the connection."
    )

    def hides_success(self) -> bool:
        return self.at != "before"

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.then == "stall" and self.at == "middle":
            raise ValueError("stall is only valid with before or after; an answer cut in the middle is closed")
        if self.then == "stall" and self.after is not None:
            raise ValueError("after is only valid with then: close")
        if self.then == "stall" and self.session == "lost":
            raise ValueError("session: lost is only valid with then: close")
        return self

    def breaks(self) -> frozenset[str]:
        return frozenset({self._how()})

    def ends_calls(self) -> bool:
        return self.at == "before"

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        if self.at == "before":
            return Transition(Observation(self._broken(""), turn.wait(self.after, timedelta(0))))
        transition = await proceed(turn)
        observation = transition.observation
        if isinstance(observation.body, BrokenDelivery):
            return turn.no_effect(transition)
        text = message_prefix(observation.body, 0.2 + 0.6 * turn.chance("cut")) if self.at == "middle" else ""
        usual = timedelta(0) if self.then == "stall" else USUAL_WAIT
        delay = observation.delay + turn.wait(self.after, usual)
        return replace(transition, observation=replace(observation, body=self._broken(text), delay=delay))

    def _broken(self, text: str) -> BrokenDelivery:
        return BrokenDelivery(self._how(), body=text, ends_session=self.session == "lost")

    def _how(self) -> Literal["no_answer", "closed", "partial"]:
        if self.then == "stall":
            return "no_answer"
        return "partial" if self.at == "middle" else "closed"
