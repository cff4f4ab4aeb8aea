"""Open entities: kinds of record that nothing specifies, and that callers know from outside the world.

An entity is closed if the scenario or the spec specifies its records, or if tools create or delete them. Every other
entity that tools read is open: what is asked of it exists.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.arguments import QUERIES
from mcp_sim.infer.features import ToolFeatures, group_by_entity
from mcp_sim.infer.result_kinds import usual_fields
from mcp_sim.infer.result_schemas import text_place
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import properties, required
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.lexicon.terms import terms
from mcp_sim.types.plans import RECORDLESS

_READS = frozenset({"get", "list", "search"})
_PLAIN_CREATES = terms("verbs.issuing")
_NAMES = ("title", "name")


def find_open_entities(feature_list: Sequence[ToolFeatures], specified: Container[str]) -> dict[str, dict[str, Field]]:
    """Return the open entities, each with the fields that such records usually have where no result shows any.

    `specified` are the entities whose records or fields are given or declared.
    """
    groups = group_by_entity(features for features in feature_list if features.verb not in RECORDLESS)
    return {name: _usual(mine) for name, mine in groups.items() if name not in specified and _is_open(name, mine)}


def _is_open(entity: str, feature_list: Sequence[ToolFeatures]) -> bool:
    """Whether the tools of an entity read it and none creates or deletes its records."""
    issued = any(features.singleton is not None or _issues_records(features, entity) for features in feature_list)
    return not issued and any(features.verb in _READS for features in feature_list)


def _issues_records(features: ToolFeatures, entity: str) -> bool:
    """Whether a tool creates or deletes records. `book_flight(flight_id)` needs one that exists."""
    if features.verb != "create":
        return features.verb == "delete"
    own = {f"{noun}{ending}" for noun in (entity, entity.rsplit("_", 1)[-1]) for ending in ("_id", "_ids")}
    is_named = not own.isdisjoint(map(snake, required(features.input)))
    return features.parsed.word in _PLAIN_CREATES or not is_named


def _usual(feature_list: Sequence[ToolFeatures]) -> dict[str, Field]:
    """Return the usual fields of an entity, with a text that the words of a search can occur in."""
    reads = [features for features in feature_list if features.verb in _READS]
    if any(map(_shows_fields, reads)):
        return {}
    schemas: dict[str, Record] = {}
    for features in reads:
        schemas = {**usual_fields(features.tool.name, features.tool.description), **schemas}
    is_nameless = schemas.keys().isdisjoint(_NAMES)
    if not schemas or (is_nameless and any(map(_takes_query, reads))):
        schemas = {"name": {"type": "string"}, **schemas}
    if schemas.keys() <= {*_NAMES}:
        schemas["description"] = {"type": "string"}
    return {name: Field(name, schema, required=True) for name, schema in schemas.items()}


def _shows_fields(features: ToolFeatures) -> bool:
    """Whether a result schema describes more than a text."""
    tool = features.tool
    return bool(properties(features.shape)) or (tool.output_schema is not None and text_place(tool) is None)


def with_usual_fields(entities: Mapping[str, Entity], feature_list: Sequence[ToolFeatures]) -> dict[str, Entity]:
    """Return the entities, with usual fields for singletons of which nothing is known."""
    groups = group_by_entity(features for features in feature_list if features.verb in _READS)
    bare = [one for one in entities.values() if one.singleton and one.fields.keys() <= {one.key, *_NAMES}]
    found = {one.name: _usual(groups.get(one.name, ())) for one in bare}
    return {name: replace(one, fields=found.get(name) or one.fields) for name, one in entities.items()}


def _takes_query(features: ToolFeatures) -> bool:
    return any(snake(name) in QUERIES for name in properties(features.input))
