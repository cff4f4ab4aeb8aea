"""Does the record that a call names belong to whom the call says?"""

from __future__ import annotations

from collections.abc import Callable

from mcp_sim.backends.records.arguments import ABSENT, argument
from mcp_sim.backends.records.refusals import not_found, noun, told
from mcp_sim.generate.named import found_key
from mcp_sim.types import Key, Observation, Tool, Turn, View
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.plans import Owner, Plan


def owner_check(tool: Tool, plan: Plan) -> Callable[[Turn, Key], Observation | None]:
    """The failure that there is no such owner, or that the record is another's."""
    asked = [(owner, argument(owner.argument)) for owner in plan.owners]
    entity = plan.entity or ""

    def belongs(turn: Turn, key: Key) -> Observation | None:
        for owner, fetch in asked:
            named = fetch(turn.call.arguments)
            if named is ABSENT or named is None:
                continue
            whose = found_key(turn.view, owner.entity, named)
            if whose is None:
                return not_found(tool, owner.entity, named, owner.argument)
            if not _is_his(turn.view, owner, entity, key, whose):
                return not_found(tool, entity, key, plan.key, where=f" for {noun(owner.entity)} {told(named)}")
        return None

    return belongs


def _is_his(view: View, owner: Owner, entity: str, key: Key, whose: Key) -> bool:
    if owner.link is not None:
        return (view.get(entity, key) or {}).get(owner.link) == whose
    return key in as_list((view.get(owner.entity, whose) or {}).get(owner.listed or ""))
