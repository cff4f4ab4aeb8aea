"""Which records does a list or a search show: filters, text, order and page, over a view of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from mcp_sim.backends.records.arguments import argument
from mcp_sim.backends.records.matching import matching_rows
from mcp_sim.backends.records.ordering import ordering
from mcp_sim.backends.records.pages import Page, page_asked
from mcp_sim.backends.records.picking import picked_rows
from mcp_sim.backends.records.refusals import invalid
from mcp_sim.backends.records.terms import not_understood, terms
from mcp_sim.types import Observation, Tool, Turn
from mcp_sim.types.domain import Entity
from mcp_sim.types.plans import Plan

Select: TypeAlias = Callable[[Turn], "Page | Observation"]


def selection(tool: Tool, plan: Plan, entity: Entity, entities: Mapping[str, Entity]) -> Select:
    """The page that a call asks for, or the failure that says what is wrong with the question; compiled."""
    matching = matching_rows(tool, plan, entity, entities)
    order, paged = ordering(tool, plan, entity), page_asked(tool, plan)
    sort, direction, query = argument(plan.sort or ""), argument(plan.order or ""), argument(plan.query or "")
    picked = picked_rows(plan)
    unread, understood = not_understood(entity), terms(entity)

    def select(turn: Turn) -> Page | Observation:
        arguments = turn.call.arguments
        found = matching(turn.view, arguments)
        found = found if plan.picked is None else picked(turn, found)
        clause = unread(query(arguments)) if not found else None
        if clause is not None:
            known = ", ".join(entity.fields)
            return invalid(tool, plan.query, query(arguments), f"Cannot search by {clause}; choose from {known}")
        words = " ".join(understood(query(arguments)).words)
        rows = order(found, sort(arguments), direction(arguments), words)
        return rows if isinstance(rows, Observation) else paged(rows, arguments)

    return select
