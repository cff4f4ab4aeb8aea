"""What does a delete write? What may do without the record lets go of it; what must link to it forbids it.

Unless the tool says that it goes too.
"""

from __future__ import annotations

from mcp_sim.backends.records.cascades import cascade, takes_along
from mcp_sim.backends.records.effects import Effect, Write, followed
from mcp_sim.backends.records.given import finder
from mcp_sim.backends.records.referring import let_go, referring
from mcp_sim.backends.records.refusals import conflict
from mcp_sim.backends.records.side_effects import side_effects
from mcp_sim.backends.records.standing import standing
from mcp_sim.types import Change, Observation, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Invent
from mcp_sim.types.plans import Plan


def removal(tool: Tool, plan: Plan, domain: Domain) -> Write:
    """The record that a call removes, compiled."""
    entity = domain.entities[plan.entity or ""]
    find, stood, others, name = (
        finder(tool, plan, entity),
        standing(tool, plan),
        referring(domain, entity.name),
        entity.name,
    )

    along = takes_along(tool.description, domain, name)
    gone = cascade(domain, name, along)

    def remove(turn: Turn, _invent: Invent) -> Effect | Observation:
        key = find(turn)
        if isinstance(key, Observation):
            return key
        record = turn.view.get(name, key) or {}
        refused = stood(key, record)
        if refused is not None:
            return refused
        removed = Change("remove", name, key, expected=turn.view.version(name, key))
        changes = gone(turn.view, key, removed) if along else let_go(turn.view, others, key, removed)
        if isinstance(changes, str):
            return conflict(tool, name, key, f"cannot be deleted: {changes}")
        return Effect(key, record, changes)

    return followed(remove, side_effects(tool, plan, domain))
