"""Which records does a create make besides its own: those that a call lists with it, each with an id of its own?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import cast

from mcp_sim.backends.records.batches import WriteMany, batch
from mcp_sim.backends.records.creation import creation
from mcp_sim.backends.records.effects import Consequence, Effect
from mcp_sim.types import Json, Observation, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Invent
from mcp_sim.types.plans import Children, Plan

_PARENT = "$parent"
"""The argument, given by nobody, that names the record they belong to."""


def together(tool: Tool, plan: Plan, domain: Domain) -> list[Consequence]:
    """What is made together with a record, list by list; what is told has them where the call listed them."""
    return [partial(_with, one=one, make=_maker(tool, one, domain)) for one in plan.children]


def _maker(tool: Tool, one: Children, domain: Domain) -> WriteMany:
    """What makes them, as if a tool were called for them alone."""
    sets = dict(one.sets) if one.link is None else {**one.sets, _PARENT: one.link}
    plan = Plan(tool.id, "create", one.entity, sets=sets, each=one.listed)
    return batch(tool, plan, creation(tool, plan, domain))


def _with(turn: Turn, invent: Invent, effect: Effect, *, one: Children, make: WriteMany) -> Effect | Observation:
    """The effect with one list of them; nothing is made where one of them cannot be."""
    if one.listed not in turn.call.arguments:
        return effect
    call = replace(turn.call, arguments={**turn.call.arguments, _PARENT: effect.key})
    found = make(replace(turn, view=turn.view.after(effect.changes), call=call), invent)
    if found.failed:
        return found.failed[0].why
    rows = cast("Json", [made.record for _, made in found.done])
    return replace(effect, record={**effect.record, one.listed: rows}, changes=(*effect.changes, *found.changes))
