"""Calls that report success without writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_sim.faults.results import no_writes
from mcp_sim.types import Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.world.deferred_commits import reservations, writes


@perturbations.register("phantom_success")
class PhantomSuccess(Perturbation):
    """Report success, and drop the changes of the call. No effect on a call that fails or changes nothing.

    A generated id stays reserved and is never found. A key that the call itself chose can be used again.
    """

    stage = Stage.COMMIT
    visibility = "implicit"

    def acts_on_records(self) -> bool:
        return True

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        transition = await proceed(turn)
        if not (writes(transition.changes) or transition.agenda) or not transition.observation.ok:
            return turn.no_effect(transition)
        return replace(transition, changes=reservations(turn, transition.changes), agenda=())

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_writes(domain, tools, "success to feign")
