"""How is a part of a record told: some fields of it, and of what it links to?"""

from __future__ import annotations

from mcp_sim.backends.records.facts import Facts, Fill
from mcp_sim.backends.records.lookups import lookup
from mcp_sim.types import Json
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.plans import Plan


def part_of_record(plan: Plan, domain: Domain) -> Fill:
    """The fields that a plan shows alone: `plan_id.price` is the price of the plan that `plan_id` links to."""
    entity = domain.entities[plan.entity or ""]
    parts = [(path.rpartition(".")[2], _part(path, entity, domain)) for path in plan.only]

    def fill(facts: Facts) -> Json:
        return {name: part(facts) for name, part in parts}

    return fill


def _part(path: str, entity: Entity, domain: Domain) -> Fill:
    look = lookup(entity, Field(path, {}, derived=path), domain.entities) if "." in path else None
    if look is None:
        return lambda facts: (facts.record or {}).get(path)
    return lambda facts: look(facts.view, facts.record or {})
