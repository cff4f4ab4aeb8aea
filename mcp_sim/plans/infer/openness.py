"""Open entities: kinds of record that nothing specifies, and that callers know from outside the world.

An entity is closed if the scenario or the spec specifies its records, if tools create them, or if they delete what they
list. Every other entity whose records tools name is open: what is asked of it exists.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from mcp_sim.plans.infer.arguments import QUERIES
from mcp_sim.plans.infer.features import ToolFeatures, group_by_entity
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import RECORDLESS
from mcp_sim.types.record_kinds.usual_fields import usual_fields
from mcp_sim.types.result_schemas import text_place

_READS, _LISTS = frozenset({"get", "list", "search"}), frozenset({"list", "search"})
_NAMING = _READS | {"update"}
_NAMES = ("title", "name")


def find_open_entities(feature_list: Sequence[ToolFeatures], specified: Container[str]) -> dict[str, dict[str, Field]]:
    """Return the open entities, each with the fields that such records usually have where no result shows any.

    `specified` are the entities whose records or fields are given or declared.
    """
    groups = group_by_entity(features for features in feature_list if features.verb not in RECORDLESS)
    return {name: _usual(mine) for name, mine in groups.items() if name not in specified and _is_open(mine)}


def _is_open(feature_list: Sequence[ToolFeatures]) -> bool:
    """Whether the tools of an entity name its records, and none creates them, nor lists those that it deletes."""
    verbs = {features.verb for features in feature_list}
    is_issued = "create" in verbs or ("delete" in verbs and bool(_LISTS & verbs))
    return not is_issued and all(features.singleton is None for features in feature_list) and bool(_NAMING & verbs)


def _usual(feature_list: Sequence[ToolFeatures]) -> dict[str, Field]:
    """Return the usual fields of an entity, with a text that the words of a search can occur in."""
    reads = [features for features in feature_list if features.verb in _READS]
    if any(map(_shows_fields, reads)):
        return {}
    schemas: dict[str, Record] = {}
    for features in reads:
        schemas = {**usual_fields(features.tool.name, features.tool.description), **schemas}
    takes_query = any(snake(name) in QUERIES for features in reads for name in properties(features.input))
    if not schemas or (takes_query and schemas.keys().isdisjoint(_NAMES)):
        schemas = {"name": {"type": "string"}, **schemas}
    if schemas.keys() <= {*_NAMES}:
        schemas["description"] = {"type": "string"}
    return {name: Field(name, schema, required=True) for name, schema in schemas.items()}


def _shows_fields(features: ToolFeatures) -> bool:
    """Whether a result schema describes more than a text."""
    tool = features.tool
    return bool(properties(features.shape)) or (tool.output_schema is not None and text_place(tool) is None)


def with_usual_fields(entities: Mapping[str, Entity], feature_list: Sequence[ToolFeatures]) -> dict[str, Entity]:
    """Return the entities, with usual fields for unknown singletons."""
    groups = group_by_entity(features for features in feature_list if features.verb in _READS)
    bare = [
        entity for entity in entities.values() if entity.singleton and entity.fields.keys() <= {entity.key, *_NAMES}
    ]
    usual = {entity.name: _usual(groups.get(entity.name, ())) for entity in bare}
    return {name: replace(entity, fields=usual.get(name) or entity.fields) for name, entity in entities.items()}
