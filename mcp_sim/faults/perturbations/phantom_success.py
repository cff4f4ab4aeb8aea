"""The call says that it worked, and nothing was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_sim.backends.rendering.places import no_writes
from mcp_sim.types import Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.world.deferred_commits import reservations, writes


@perturbations.register("phantom_success")
class PhantomSuccess(Perturbation):
    """Answer as if the call had worked, and drop its changes. No effect on a call that fails or changes nothing.

    The id that the agent was told stays used up: the next record gets the next one, and this one is never found. An
    agent that reads back what it wrote finds out. A key that the call itself gave can be used again.
    """

    stage = Stage.COMMIT
    visibility = "implicit"

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        transition = await proceed(turn)
        if not (writes(transition.changes) or transition.agenda) or not transition.observation.ok:
            return turn.no_effect(transition)
        return replace(transition, changes=reservations(turn, transition.changes), agenda=())

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_writes(domain, tools, "success to feign")
