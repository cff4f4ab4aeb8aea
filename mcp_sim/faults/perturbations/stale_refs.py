"""Pages that are shown anew."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from mcp_sim.faults.results import after_change, entity_of, missing
from mcp_sim.libraries.screens import TAB
from mcp_sim.types import Change, Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations


@perturbations.register("stale_refs")
class StaleRefs(Perturbation):
    """Show the page of the current tab anew right before a call: what the agent knows of its elements is wrong.

    References of an earlier snapshot are not found. A line at the top moves everything down, so that a tap at the old
    place hits something else. What was entered stays.
    """

    stage = Stage.BEFORE

    update: str = Field(
        default="Updated just now", max_length=200, description="The line at the top; an empty text adds none."
    )

    def acts_on_records(self) -> bool:
        return True

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        entity = entity_of(domain, tool, TAB)

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            tab = next((record for _, record in turn.view.rows(entity) if record["current"]), None)
            if tab is None or not (tab["references"] or tab["update"] != self.update):
                return turn.no_effect(await proceed(turn))
            change = Change("put", entity, tab["id"], {**tab, "references": {}, "update": self.update})
            return await after_change(turn, proceed, change)

        return apply

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return missing(domain, TAB, "screens")
