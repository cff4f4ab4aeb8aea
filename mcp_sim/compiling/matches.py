"""Which tools work in another way than on records, and who says so?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mcp_sim.types import Record
from mcp_sim.types.kinds import UNCLAIMING, Claims, Survey, behaviours
from mcp_sim.types.plans import Plan


def claims_of(survey: Survey, overrides: Mapping[str, Mapping[str, Any]]) -> Claims:
    """The surest claim to each tool that is no guess, and what these behaviours hold of the given state.

    Every behaviour sees what those before it left of the state. What a spec says of a tool decides over any claim.
    """
    plans: dict[str, Plan] = {}
    accepted: list[Claims] = []
    state = survey.state
    for kind in behaviours.names():
        if kind in UNCLAIMING:
            continue
        made = behaviours[kind]().claims(replace(survey, state=state))
        mine = [plan for plan in made.plans if _wins(plan, plans, overrides)] if made is not None else []
        if made is not None and mine:
            plans |= {plan.tool: plan for plan in mine}
            accepted.append(made)
            state = made.state
    plans |= {tool: Plan(tool, "compute") for tool, said in overrides.items() if said.get("behaviour") == "python"}
    told = [replace(plan, **overrides.get(plan.tool, {})) for plan in plans.values()]
    return Claims(told, [entity for made in accepted for entity in made.entities], dict(_records(accepted)), state)


def _wins(plan: Plan, plans: Mapping[str, Plan], overrides: Mapping[str, Mapping[str, Any]]) -> bool:
    said = overrides.get(plan.tool, {})
    wanted = said.get("behaviour")
    if wanted is not None:
        return wanted == plan.behaviour
    if {"verb", "entity"} & said.keys():
        return False
    other = plans.get(plan.tool)
    return plan.confidence >= 0.6 and (other is None or plan.confidence > other.confidence)


def _records(accepted: list[Claims]) -> Iterator[tuple[str, list[Record]]]:
    for made in accepted:
        yield from ((name, [*rows]) for name, rows in made.records.items())
