"""Which tools tell of one record that no argument names: `get_latest_order`, `get_next_task`, `get_random_quote`?"""

from __future__ import annotations

from dataclasses import replace

from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.looks import Look
from mcp_sim.infer.outputs import envelope_meant
from mcp_sim.infer.readings import last_segment
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import required
from mcp_sim.types.lexicon.words import words
from mcp_sim.types.plans import Plan

_WAYS = {
    "latest": "newest", "newest": "newest", "last": "newest", "recent": "newest", "oldest": "oldest",
    "earliest": "oldest", "first": "oldest", "next": "next", "random": "random",
}  # fmt: skip


def singled_out(draft: Draft) -> dict[str, Plan]:
    """The plans of such tools."""
    known = {look.entity for look in draft.looks if look.verb in {"create", "list", "search"}}
    found: dict[str, Plan] = {}
    for look, plan in draft.of_all():
        entity, way = draft.entities.get(look.entity), _way(look)
        if way is None or entity is None or entity.singleton or entity.inside:
            continue
        if entity.name in known and look.verb == "get" and plan.key is None and required(look.input) <= {*plan.filters}:
            found[look.tool.id] = _plan(plan, look, entity, way)
    return found


def _way(look: Look) -> str | None:
    """Which one the name says, in front of its noun."""
    name, noun = words(last_segment(look.tool.name)), look.reading.noun
    at = name.index(noun[0]) if noun and noun[0] in name else 0
    return _WAYS.get(name[at - 1]) if at > 1 else None


def _plan(plan: Plan, look: Look, entity: Entity, way: str) -> Plan:
    if plan.verb == "get":
        return replace(plan, operation=way)
    return Plan(
        plan.tool,
        "get",
        entity.name,
        operation=way,
        envelope=envelope_meant("get", entity.name, look.output, text=look.envelope.text),
        confidence=0.7,
        reasons=(f"tells of the {way} {entity.name.replace('_', ' ')}",),
    )
