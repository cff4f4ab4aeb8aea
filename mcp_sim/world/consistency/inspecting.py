"""Which rules does a transition break, for a tool whose plan is known?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import TypeAlias

from mcp_sim.types import ToolResult, Transition, Turn
from mcp_sim.types.argument_unwrapping import unwrap_call
from mcp_sim.types.domain import Domain
from mcp_sim.types.plans import Plan
from mcp_sim.world.consistency.after import After
from mcp_sim.world.consistency.shown import count_problems, echo_problems, record_problems
from mcp_sim.world.consistency.written import change_problems, set_problems, settings_of

Inspection: TypeAlias = Callable[[Turn, Transition], list[str]]


def inspection(plan: Plan, domain: Domain) -> Inspection:
    """The checks for one tool, compiled from its plan."""
    entity = domain.entities.get(plan.entity or "")
    sets, within = settings_of(plan, entity), plan.within

    def inspect(asked: Turn, transition: Transition) -> list[str]:
        turn = asked if within is None else replace(asked, call=unwrap_call(asked.call, within))
        body = transition.observation.body
        changes = (*transition.changes, *transition.absorbed)
        after = After(turn.view, changes)
        written = (
            (
                *change_problems(turn, plan, changes, after, domain),
                *set_problems(turn, plan, sets, changes),
            )
            if changes
            else ()
        )
        if entity is None or not isinstance(body, ToolResult) or body.is_error or plan.guessed:
            return list(written)
        shown = record_problems(body.value, plan, entity, after)
        return list(chain(written, shown, count_problems(body.value, plan), echo_problems(body.value, plan, turn)))

    return inspect
