"""The connection breaks."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, Self

from pydantic import Field, model_validator

from mcp_sim.faults.wire_messages import beginning
from mcp_sim.types import BrokenDelivery, Observation, Proceed, Transition, Turn
from mcp_sim.types.kinds import Perturbation, Stage, perturbations


@perturbations.register("disconnect")
class Disconnect(Perturbation):
    """Break the connection that the answer should come over: before the call, in the middle of the answer, or after.

    `at: before`: the call never reaches the backend, nothing is committed. `middle`: it takes effect, and the answer
    breaks off in the midst of its text. `after`: it takes effect, and nothing of the answer comes. The agent cannot
    tell the first from the last.

    Over HTTP the connection is closed; with `session: lost` the session of an older client (up to 2025-11-25) ends too,
    so that its next request is refused with 404 until it opens another; without a URL that names its world, it then
    finds a new one. Over stdio the server's output ends and its process with it. `then: stall` leaves the connection
    open and silent instead, which takes the real clock. No effect where the answer is broken already.
    """

    stage = Stage.TRANSPORT

    at: Literal["before", "middle", "after"] = Field(
        default="after", description="Before the call takes effect, in the middle of its answer, or after the call."
    )
    then: Literal["close", "stall"] = Field(
        default="close", description="Whether the connection is closed, or stays open and silent."
    )
    session: Literal["kept", "lost"] = Field(
        default="kept", description="Whether an older client's HTTP session ends with the connection."
    )

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.then == "stall" and self.at == "middle":
            raise ValueError("an answer that breaks off in its middle is closed; stall goes with before or after")
        if self.then == "stall" and self.session == "lost":
            raise ValueError("a session is lost with a connection that is closed, not with one that stalls")
        return self

    def breaks(self) -> frozenset[str]:
        return frozenset({self._how()})

    def ends_calls(self) -> bool:
        return self.at == "before"

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        if self.at == "before":
            return Transition(Observation(self._broken("")))
        transition = await proceed(turn)
        observation = transition.observation
        if isinstance(observation.body, BrokenDelivery):
            return turn.no_effect(transition)
        text = beginning(observation.body, 0.2 + 0.6 * turn.chance("cut")) if self.at == "middle" else ""
        return replace(transition, observation=replace(observation, body=self._broken(text)))

    def _broken(self, text: str) -> BrokenDelivery:
        return BrokenDelivery(self._how(), body=text, ends_session=self.session == "lost")

    def _how(self) -> Literal["no_answer", "closed", "partial"]:
        if self.then == "stall":
            return "no_answer"
        return "partial" if self.at == "middle" else "closed"
