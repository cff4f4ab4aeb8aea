"""Which tools work in another way than on records, and who says so?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mcp_sim.types import Record
from mcp_sim.types.kinds import NEVER_MATCHED, Match, Survey, backends
from mcp_sim.types.plans import Plan


def matched(survey: Survey, overrides: Mapping[str, Mapping[str, Any]]) -> Match:
    """The surest claim to each tool that is no guess, and what these backends hold of the given state.

    Every backend sees what those before it left of the state. What a spec says of a tool decides over any claim.
    """
    plans: dict[str, Plan] = {}
    accepted: list[Match] = []
    state = survey.state
    kinds = sorted(set(backends.names()) - NEVER_MATCHED, key=lambda name: (backends[name].order, name))
    for kind in kinds:
        made = backends[kind]().match(replace(survey, state=state))
        mine = [plan for plan in made.plans if _wins(plan, plans, overrides)] if made is not None else []
        if made is not None and mine:
            plans |= {plan.tool: plan for plan in mine}
            accepted.append(made)
            state = made.state
    plans |= {tool: Plan(tool, "compute") for tool, said in overrides.items() if said.get("backend") == "python"}
    told = [replace(plan, **overrides.get(plan.tool, {})) for plan in plans.values()]
    return Match(told, [entity for made in accepted for entity in made.entities], dict(_records(accepted)), state)


def _wins(plan: Plan, plans: Mapping[str, Plan], overrides: Mapping[str, Mapping[str, Any]]) -> bool:
    said = overrides.get(plan.tool, {})
    wanted = said.get("backend")
    if wanted is not None:
        return wanted == plan.backend
    if {"verb", "entity"} & said.keys():
        return False
    other = plans.get(plan.tool)
    return plan.confidence >= 0.6 and (other is None or plan.confidence > other.confidence)


def _records(accepted: list[Match]) -> Iterator[tuple[str, list[Record]]]:
    for made in accepted:
        yield from ((name, [*rows]) for name, rows in made.records.items())
