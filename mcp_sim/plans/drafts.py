"""What is planned so far, and of which tools may more still be read: those of which no spec tells?"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_sim.domain import Entity, Plan
from mcp_sim.plans.looks import Look
from mcp_sim.types import Record


@dataclass(frozen=True, slots=True)
class Draft:
    """The plans so far, with what they were drawn from.

    `held` are the records that are given, `said` the tools of which a spec tells.
    """

    looks: Sequence[Look]
    plans: Mapping[str, Plan]
    entities: Mapping[str, Entity]
    held: Mapping[str, Sequence[Record]]
    said: Collection[str]

    def untold(self) -> Iterator[tuple[Look, Plan]]:
        """The tools of which no spec tells, each with its plan so far."""
        return ((look, self.plans[look.tool.id]) for look in self.looks if look.tool.id not in self.said)

    def of_many(self) -> Iterator[tuple[Look, Plan]]:
        """Those of them that work on something of which there may be many."""
        return ((look, plan) for look, plan in self.untold() if look.single is None)

    def entity_of(self, plan: Plan) -> Entity | None:
        """What a plan is about."""
        return self.entities.get(plan.entity or "")

    def tables(self) -> list[Entity]:
        """The entities of which records are given that stand by themselves."""
        known = self.entities.items()
        return [one for name, one in known if self.held.get(name) and not one.singleton and one.inside is None]

    def changed(self, found: Mapping[str, Plan]) -> Draft:
        """The draft with what is found in place of the plans for the same tools."""
        return replace(self, plans={**self.plans, **found})
