"""How many records does each table of a fictional world get?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mcp_sim.generate.counts import DEFAULT_COUNT
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.scenario import GivenRecords

USUAL_TOTAL = 400
"""How many records a fictional world has where nobody says."""


def shared(domain: Domain, given: Mapping[str, GivenRecords], total: int) -> dict[str, GivenRecords]:
    """The rows that a scenario gives, and how many records there are of each entity: `total` over all of them.

    They are divided as the scenario's counts are; where it has none, an entity that links to more has more. What the
    scenario gives as rows alone, or has none of, stays as it is, and so does an only record.
    """
    asked = {name: given.get(name, GivenRecords(_weight(entity, given))) for name, entity in domain.entities.items()}
    fixed = {name: _fixed(domain.entities[name], one) for name, one in asked.items()}
    counts = {name: count for name, count in fixed.items() if count is not None}
    counts |= _divided({name: asked[name] for name in asked if name not in counts}, total - sum(counts.values()))
    return {name: replace(asked[name], count=counts[name]) for name in domain.entities}


def _weight(entity: Entity, given: Mapping[str, GivenRecords]) -> int:
    """How many records an entity has, in relation to others, of which the scenario says nothing."""
    links = [f for f in entity.fields.values() if f.link is not None and main_type(f.schema) != "array"]
    return DEFAULT_COUNT * (1 if given else 1 + len(links))


def _fixed(entity: Entity, asked: GivenRecords) -> int | None:
    """The number of records that is not to be changed; None where it may be."""
    if entity.singleton:
        return 1
    return len(asked.rows) if asked.count <= len(asked.rows) else None


def _divided(asked: Mapping[str, GivenRecords], total: int) -> dict[str, int]:
    """The total in shares as large as the counts are, none smaller than its rows or than one."""
    least = {name: max(1, len(one.rows)) for name, one in asked.items()}
    whole = sum(one.count for one in asked.values())
    counts = {name: max(least[name], round(total * one.count / whole)) for name, one in asked.items()}
    while counts and (over := sum(counts.values()) - total):
        step = 1 if over < 0 else -1
        free = [name for name in counts if counts[name] + step >= least[name]]
        if not free:
            break
        counts[max(free, key=lambda name: counts[name])] += step
    return counts
