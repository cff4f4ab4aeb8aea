"""What of a table does a model invent? Keys, times, and what follows from other fields are settled without it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from mcp_sim.generate.coherence import inherited, mends
from mcp_sim.generate.generation import Draft
from mcp_sim.generate.linking import by_way_of
from mcp_sim.generate.times import sense
from mcp_sim.generate.values import chance_of
from mcp_sim.models.language_model.tighten import IMPOSSIBLE, tighten
from mcp_sim.types import Key, Record
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import constants, is_nullable, items, main_type, properties

MOST_CANDIDATES = 32
"""Among so many records a model may choose what another links to."""

_DRAWS = 8 * MOST_CANDIDATES


@dataclass(frozen=True, slots=True)
class Opening:
    """The fields of an entity that a model invents, each with its schema; `links` are those that name other records."""

    entity: Entity
    fields: Mapping[str, Record]
    links: Mapping[str, str]
    """Field -> the entity that it links to."""


def opening(domain: Domain, entity: Entity, keys: Mapping[str, Sequence[Key]]) -> Opening:
    """What is open of an entity's records, in a world in which there will be these keys."""
    settled = {rule.name for rule in inherited(domain, entity)} | {name for name, _ in mends(entity)}
    fields = [field for field in entity.fields.values() if field.name not in settled and _is_open(field, entity)]
    links = {f.name: f.link for f in fields if f.link is not None and _is_free(domain, entity, f, keys)}
    kept = [field for field in fields if field.link is None or field.name in links]
    return Opening(entity, {field.name: field.schema for field in kept}, links)


def candidates(draft: Draft, link: str, when: datetime, *place: object) -> list[Key]:
    """The records of an entity that one made at that time may link to, in the order of creation."""
    target = draft.targets[link]
    there = list(target.keys[: bisect_right(target.births, when) or 1])
    if len(there) <= MOST_CANDIDATES:
        return there
    chance = chance_of(draft.seed, link, "candidates", *place)
    drawn = dict[Key | None, None]()
    for _ in range(_DRAWS):
        drawn[target.one(chance, when)] = None
        if len(drawn) == MOST_CANDIDATES:
            break
    return [key for key in there if key in drawn]


def item_schema(opening: Opening, among: Mapping[str, Sequence[Key]]) -> Record:
    """The schema of what a model says of one record; `among` has the candidates of each link."""
    fields = {
        name: _linking(schema, among[name]) if name in among else schema for name, schema in opening.fields.items()
    }
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


def _linking(schema: Record, keys: Sequence[Key]) -> Record:
    """The schema of a link to one of these records, or to several."""
    if main_type(schema) == "array":
        return {**schema, "items": {"enum": [*keys]}, "maxItems": min(int(schema.get("maxItems", 3)), len(keys))}
    return {"enum": [*keys, None] if is_nullable(schema) else [*keys]}


def _is_open(field: Field, entity: Entity) -> bool:
    """May anybody invent it?"""
    if field.derived is not None or field.name == entity.key or tells_time(field.name, field.schema):
        return False
    return len(constants(field.schema)) != 1 and tighten(field.schema) != IMPOSSIBLE


def _is_free(domain: Domain, entity: Entity, field: Field, keys: Mapping[str, Sequence[Key]]) -> bool:
    """Is the link one that does not follow from another link, and are there always records enough to choose from?"""
    if field.link == entity.name or not keys.get(field.link or "") or int(field.schema.get("minItems", 0)) > 1:
        return False
    way = by_way_of(domain, entity, field) if main_type(field.schema) != "array" else None
    return way is None or not keys.get(way[1])


def tells_time(name: str, schema: Record) -> bool:
    """Does a field hold a time, itself or in its parts?"""
    return sense(name, schema) is not None or any(tells_time(*part) for part in _parts(name, schema))


def _parts(name: str, schema: Record) -> Iterator[tuple[str, Record]]:
    yield from properties(schema).items()
    if items(schema):
        yield name, items(schema)
