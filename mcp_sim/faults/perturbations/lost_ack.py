"""Calls that take effect and report a timeout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from mcp_sim.faults.results import no_writes
from mcp_sim.types import Observation, Proceed, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import USUAL_TIMEOUT
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Duration


@perturbations.register("lost_ack")
class LostAck(Perturbation):
    """Commit the changes, and answer with a timeout in the tool's own style. No effect on a call that changes nothing.

    An agent that repeats the call duplicates its effect; one that checks the state first does not.
    """

    stage = Stage.COMMIT

    message: str | None = Field(
        default=None, description="The error text. Default: the tool spec's template for timeout, else a generic one."
    )
    after: Duration | None = Field(
        default=None, description="How long the agent waits for the error. Default: on the real clock 2s, else 0s."
    )

    def hides_success(self) -> bool:
        return True

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        transition = await proceed(turn)
        # Without an effect a lost answer is a plain timeout: the agent that calls again does the right thing.
        if not (transition.changes or transition.agenda or transition.wrote_outside):
            return turn.no_effect(transition)
        return replace(transition, observation=replace(self._timeout(turn), delay=turn.wait(self.after, USUAL_TIMEOUT)))

    def _timeout(self, turn: Turn) -> Observation:
        if self.message is not None:
            return Observation(ToolResult(self.message, form="text", is_error=True))
        return turn.tool.failure("timeout", "upstream timed out", **turn.call.arguments)

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_writes(domain, tools, "acknowledgement to lose")
