"""Count the initial records of each entity without generating them."""

from __future__ import annotations

from collections.abc import Mapping

from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import is_nullable
from mcp_sim.types.scenario import GivenRecords

DEFAULT_COUNT = 20
"""The number of records of an entity that the scenario does not mention. Two pages of ten, so that paging shows
something."""


def counted(entities: Mapping[str, Entity], given: Mapping[str, GivenRecords]) -> dict[str, int]:
    """Return how many records of each entity `generate` makes."""
    asked = {name: given.get(name, GivenRecords(usual_count(entities[name]))) for name in entities}
    lost = orphans(entities, asked)
    fixed = {name: len(asked[name].rows) for name in entities if name in lost or asked[name].whole}
    return {name: fixed[name] if name in fixed else total_count(entities[name], asked[name]) for name in entities}


def total_count(entity: Entity, asked: GivenRecords) -> int:
    """Return the number of given and generated records."""
    return 1 if entity.singleton else max(asked.count, len(asked.rows))


def orphans(entities: Mapping[str, Entity], given: Mapping[str, GivenRecords]) -> dict[str, str]:
    """Return the entities without generated records because a required link has no target, each with that target."""
    asked = {name: given.get(name, GivenRecords(usual_count(entities[name]))) for name in entities}
    counts = {name: max(records.count, len(records.rows)) for name, records in asked.items()}
    links: dict[str, str] = {}
    while lost := {
        name: field.link or ""
        for name, entity in entities.items()
        for field in entity.fields.values()
        if counts[name] > len(asked[name].rows) and must_link(field) and not counts.get(field.link or "")
    }:
        links |= lost
        counts |= {name: len(asked[name].rows) for name in lost}
    return links


def usual_count(entity: Entity) -> int:
    """Return the number of records of an entity that the scenario does not mention."""
    return 1 if entity.singleton else DEFAULT_COUNT


def must_link(field: Field) -> bool:
    """Return whether every record must have this link."""
    return field.is_single_link and field.required and not is_nullable(field.schema)
