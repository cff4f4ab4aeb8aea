"""Tables of a generated world: how many records each has, and which fields a model invents."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from mcp_sim.generate.coherence import adjustments
from mcp_sim.generate.links import indirect_link, inherited_fields
from mcp_sim.generate.record_counts import DEFAULT_COUNT
from mcp_sim.generate.records import Draft
from mcp_sim.generate.time_fields import time_meaning
from mcp_sim.generate.values import chance_of
from mcp_sim.models.language_model.tighten import IMPOSSIBLE, tighten
from mcp_sim.types import Key, Record, frozen
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import constants, is_nullable, items, main_type, properties
from mcp_sim.types.scenario import GivenRecords

DEFAULT_TOTAL = 400  # default number of records of a generated world
MOST_CANDIDATES = 32
"""How many records a model may choose a link target from. The question lists each of them with its description."""

_DRAWS = 8 * MOST_CANDIDATES


def divide_total(domain: Domain, given: Mapping[str, GivenRecords], total: int) -> dict[str, GivenRecords]:
    """Divide `total` records among the entities; keep the rows that the scenario gives.

    The shares follow the scenario's counts. Without counts, an entity with more links gets more records. Singletons,
    entities given as rows only, and entities without records stay as they are.
    """
    asked, counts = dict[str, GivenRecords](), dict[str, int]()
    for name, entity in domain.entities.items():
        links = sum(field.is_single_link for field in entity.fields.values())
        records = asked[name] = given.get(name) or GivenRecords(DEFAULT_COUNT * (1 if given else 1 + links))
        if entity.singleton or records.count <= len(records.rows):
            counts[name] = 1 if entity.singleton else len(records.rows)
    counts |= _divided({name: asked[name] for name in asked if name not in counts}, total - sum(counts.values()))
    return {name: replace(asked[name], count=counts[name]) for name in domain.entities}


def _divided(asked: Mapping[str, GivenRecords], total: int) -> dict[str, int]:
    """Divide the total in proportion to the counts. No share is smaller than its given rows, or than one."""
    least = {name: max(1, len(records.rows)) for name, records in asked.items()}
    whole = sum(records.count for records in asked.values())
    counts = {name: max(least[name], round(total * records.count / whole)) for name, records in asked.items()}
    while counts and (over := sum(counts.values()) - total):
        step = 1 if over < 0 else -1
        free = [name for name in counts if counts[name] + step >= least[name]]
        if not free:
            break
        counts[max(free, key=lambda name: counts[name])] += step
    return counts


@frozen
class OpenFields:
    """The fields of an entity that a model invents, with their schemas. `links` are those that refer to records."""

    entity: Entity
    fields: Mapping[str, Record]
    links: Mapping[str, str]
    """Field -> the entity that it links to."""


def find_open_fields(domain: Domain, entity: Entity, keys: Mapping[str, Sequence[Key]]) -> OpenFields:
    """Return the open fields of an entity, in a world that will have these keys."""
    rules = inherited_fields(domain, entity)
    settled = {entity.key, *(rule.name for rule in rules), *(name for name, _ in adjustments(entity))}
    fields = dict[str, Record]()
    links = dict[str, str]()
    for field in entity.fields.values():
        if field.name in settled or holds_time(field.name, field.schema):
            continue
        if len(constants(field.schema)) == 1 or tighten(field.schema) == IMPOSSIBLE:
            continue
        if field.link is not None:
            if not _is_free(domain, entity, field, keys):
                continue
            links[field.name] = field.link
        fields[field.name] = field.schema
    return OpenFields(entity, fields, links)


def candidates(draft: Draft, link: str, when: datetime, *place: object) -> list[Key]:
    """Return the keys that a record created at `when` may link to, in the order of creation."""
    target = draft.targets[link]
    there = list(target.keys[: bisect_right(target.created_at, when) or 1])
    if len(there) <= MOST_CANDIDATES:
        return there
    chance = chance_of(draft.seed, link, "candidates", *place)
    drawn = dict[Key | None, None]()
    for _ in range(_DRAWS):
        drawn[target.one(chance, when)] = None
        if len(drawn) == MOST_CANDIDATES:
            break
    return [key for key in there if key in drawn]


def record_schema(open_fields: OpenFields, among: Mapping[str, Sequence[Key]]) -> Record:
    """Return the schema of one record in a reply; `among` has the candidates of each link."""
    fields = {
        name: _linking(schema, among[name]) if name in among else schema for name, schema in open_fields.fields.items()
    }
    return {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}


def _linking(schema: Record, keys: Sequence[Key]) -> Record:
    """Return the schema of a link to one of these records, or to several."""
    if main_type(schema) == "array":
        return {**schema, "items": {"enum": [*keys]}, "maxItems": min(int(schema.get("maxItems", 3)), len(keys))}
    return {"enum": [*keys, None] if is_nullable(schema) else [*keys]}


def _is_free(domain: Domain, entity: Entity, field: Field, keys: Mapping[str, Sequence[Key]]) -> bool:
    """Whether the link does not follow from another link, and always has enough records to choose from."""
    if field.link == entity.name or not keys.get(field.link or "") or int(field.schema.get("minItems", 0)) > 1:
        return False
    way = indirect_link(domain, entity, field) if main_type(field.schema) != "array" else None
    return way is None or not keys.get(way[1])


def holds_time(name: str, schema: Record) -> bool:
    """Whether a field, or a part of it, is a time."""
    parts = [*properties(schema).items(), *([(name, items(schema))] if items(schema) else [])]
    return time_meaning(name, schema) is not None or any(holds_time(*part) for part in parts)
