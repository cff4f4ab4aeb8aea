"""Of which records does a service know without end, as the weather of any city: what nothing makes, lists or counts?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.infer.arguments import Roles
from mcp_sim.infer.looks import Look
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import required
from mcp_sim.types.lexicon.words import snake
from mcp_sim.types.plans import RECORDLESS

_READS = frozenset({"get", "list", "search"})


def is_boundless(entity: Entity, looks: Sequence[Look], roles: Mapping[str, Roles]) -> bool:
    """Is everything that tools do with an entity to ask for something that callers know from elsewhere?"""
    mine = [look for look in looks if look.entity == entity.name and look.verb not in RECORDLESS]
    plain = not entity.singleton and entity.inside is None
    return plain and bool(mine) and all(_asks_freely(look, roles[look.tool.id], entity) for look in mine)


def _asks_freely(look: Look, roles: Roles, entity: Entity) -> bool:
    if look.verb not in _READS or look.single is not None or roles.query is not None:
        return False
    if roles.key is not None:
        return snake(roles.key) not in {"id", "uuid", f"{entity.name}_id"} and not snake(roles.key).endswith("_id")
    needed = [rule for name, rule in roles.filters.items() if name in required(look.input)]
    free = any(entity.fields[rule.field].link is None for rule in needed)
    return bool(needed) and (free or look.verb == "get") and all(rule.op in {"equals", "in"} for rule in needed)
