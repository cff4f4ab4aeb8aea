"""Which tools make a record of one that is there: a copy of it, or the same one with what it lacks?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.looks import Look
from mcp_sim.types.domain import Entity
from mcp_sim.types.lexicon.words import vocabulary
from mcp_sim.types.plans import Plan

_COPIES = vocabulary("copy duplicate replicate clone")
_UPSERT = "upsert"
_SAYABLE = ("sets", "copies", "if_exists")


def origin_named(look: Look, key: str) -> str | None:
    """The argument by which a create names a record that there is, or may be; `key` is the entity's key field."""
    if look.reading.word not in _COPIES | {_UPSERT}:
        return None
    name, score = key_argument("get", look.entity, key, look.input)
    return name if score > 1 else None


def with_origins(looks: Sequence[Look], plans: Mapping[str, Plan], entities: Mapping[str, Entity]) -> dict[str, Plan]:
    """The plans of such tools. What a spec says of copies, and of records that exist, stays as it is."""
    found: dict[str, Plan] = {}
    for look in looks:
        plan, said = plans[look.tool.id], look.said
        entity = entities.get(plan.entity or "")
        if entity is not None and plan.verb == "create" and plan.key is not None:
            made = _originated(plan, plan.key, look.reading.word, entity.key)
            found[look.tool.id] = replace(made, **{name: said[name] for name in _SAYABLE if name in said})
        elif plan.verb == "create" and look.reading.word == _UPSERT and "if_exists" not in said:
            found[look.tool.id] = replace(plan, if_exists="update")
    return found


def _originated(plan: Plan, named: str, word: str, key: str) -> Plan:
    made = replace(plan, key=None)
    if made.copies is not None or made.if_exists != "refuse":
        return made
    if word in _COPIES:
        return replace(made, copies=named)
    return replace(made, sets={named: key, **made.sets}, if_exists="update")
