"""Of which record does a list show what belongs to it, and is there such a record?"""

from __future__ import annotations

from collections.abc import Callable

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.given import Link, linked
from mcp_sim.types import Observation, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import required
from mcp_sim.types.plans import Plan


def parent_check(tool: Tool, plan: Plan, domain: Domain) -> Callable[[Turn], Observation | None]:
    """The failure that whose records must be asked for is not there, where all that there was at first is given."""
    fields = domain.entities[plan.entity or ""].fields
    needed = {path: rule.field for path, rule in plan.filters.items() if path in required(tool.input_schema)}
    targets = {path: fields[name].link for path, name in needed.items() if name in fields}
    links = [
        Link(needed[path], domain.entities[target], path)
        for path, target in targets.items()
        if target in domain.given and plan.filters[path].op == "equals"
    ]
    asked = [(link.field, argument(link.path)) for link in links]

    def missing(turn: Turn) -> Observation | None:
        said: Record = {field: fetch(turn.call.arguments) for field, fetch in asked}
        found = linked(turn, tool, links, {field: value for field, value in said.items() if value is not ABSENT})
        return found if isinstance(found, Observation) else None

    return missing
