"""Pages with another layout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from pydantic import Field, model_validator

from mcp_sim.faults.results import after_change, entity_of, missing
from mcp_sim.libraries.screens import LAYOUT, layout_record
from mcp_sim.types import Change, Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations


@perturbations.register("layout_change")
class LayoutChange(Perturbation):
    """Give all pages another layout from a call on: another order of elements, other names of buttons and links.

    The seed determines the order. Tables, numbered lists, texts, headings, records and what forms send stay. So do
    references, unless the name changes.
    """

    stage = Stage.BEFORE

    order: bool = Field(default=True, description="Whether the order changes.")
    names: bool | dict[str, str] = Field(
        default=True,
        description="Whether usual names are replaced; or more of them: name -> other name.",
        examples=[{"Place order": "Pay"}],
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.order and self.names in (False, {}):
            raise ValueError("nothing would change: set order, names or both")
        return self

    def acts_on_records(self) -> bool:
        return True

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        entity = entity_of(domain, tool, LAYOUT)

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            drawn = int(turn.draws.about(f"{turn.owner}/layout").unit("order") * 2**32)
            record = layout_record(drawn if self.order else None, self.names)
            if entity not in domain.entities or turn.view.get(entity, record["id"]) == record:
                return turn.no_effect(await proceed(turn))
            return await after_change(turn, proceed, Change("put", entity, record["id"], record))

        return apply

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return missing(domain, LAYOUT, "screens")
