"""What a scenario fixes for all its worlds: tools, entities, and what each tool does to which entity."""

from __future__ import annotations

from mcp_sim.domain.deeds import Also, Among, Children, How, Owner, Picked, Swap
from mcp_sim.domain.domain import Concealed, Domain, Example
from mcp_sim.domain.entities import Entity, Field, Inside
from mcp_sim.domain.lists import Envelope, Filter, Operator, Paging
from mcp_sim.domain.plan import CALLER, RECORDLESS, Plan, Verb

__all__ = [
    "CALLER",
    "RECORDLESS",
    "Also",
    "Among",
    "Children",
    "Concealed",
    "Domain",
    "Entity",
    "Envelope",
    "Example",
    "Field",
    "Filter",
    "How",
    "Inside",
    "Operator",
    "Owner",
    "Paging",
    "Picked",
    "Plan",
    "Swap",
    "Verb",
]
