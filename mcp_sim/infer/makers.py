"""Which update makes the record where there is none, because no other tool of the service makes any?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.looks import Look
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import required
from mcp_sim.types.plans import Plan

_WHOLE = 3
"""So many fields must an update demand to be given a whole record."""


def making(looks: Sequence[Look], plans: Mapping[str, Plan], entities: Mapping[str, Entity]) -> dict[str, Plan]:
    """The updates that are given whole records, of services that remove records and make them in no other way."""
    verbs = {(plan.entity, plan.verb) for plan in plans.values()}
    found: dict[str, Plan] = {}
    for look in looks:
        plan = plans[look.tool.id]
        gone, made = (plan.entity, "delete") in verbs, (plan.entity, "create") in verbs
        if gone and not made and not {"verb", "key"} & {*look.said} and _is_given_whole(look, plan):
            found[look.tool.id] = _making(plan, entities[plan.entity or ""])
    return found


def _is_given_whole(look: Look, plan: Plan) -> bool:
    plain = plan.verb == "update" and plan.backend == "records" and plan.each is None and not plan.fixed
    needed = [name for name in plan.sets if name in required(look.input)]
    return plain and plan.key is not None and look.reading.word == "update" and len(needed) >= _WHOLE


def _making(plan: Plan, entity: Entity) -> Plan:
    why = f"nothing else makes a {entity.name!r}, and it is given a whole one"
    sets = {str(plan.key): entity.key, **plan.sets}
    return replace(plan, verb="create", key=None, sets=sets, if_exists="update", reasons=(*plan.reasons, why))
