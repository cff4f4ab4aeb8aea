"""What is planned so far, and what becomes of it as more is read of the tools?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.infer.looks import Look
from mcp_sim.infer.said import plan_beside
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.plans import Plan


@dataclass(frozen=True, slots=True)
class Draft:
    """The plans so far, with what they were drawn from. `held` are the records that are given."""

    looks: Sequence[Look]
    plans: Mapping[str, Plan]
    entities: Mapping[str, Entity]
    held: Mapping[str, Sequence[Record]]

    def of_all(self) -> Iterator[tuple[Look, Plan]]:
        """The tools, each with its plan so far."""
        return ((look, self.plans[look.tool.id]) for look in self.looks)

    def of_many(self) -> Iterator[tuple[Look, Plan]]:
        """Those of them that work on something of which there may be many."""
        return ((look, plan) for look, plan in self.of_all() if look.single is None)

    def entity_of(self, plan: Plan) -> Entity | None:
        """What a plan is about."""
        return self.entities.get(plan.entity or "")

    def tables(self) -> list[Entity]:
        """The entities of which records are given that stand by themselves."""
        known = self.entities.items()
        return [one for name, one in known if self.held.get(name) and not one.singleton and one.inside is None]

    def changed(self, found: Mapping[str, Plan]) -> Draft:
        """The draft with what is found in place of the plans for the same tools, but for what specs say of them."""
        said = {look.tool.id: look.said for look in self.looks}
        heeded = {id_: plan_beside(self.plans[id_], plan, said[id_]) for id_, plan in found.items()}
        return replace(self, plans={**self.plans, **heeded})
