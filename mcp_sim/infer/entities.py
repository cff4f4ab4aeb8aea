"""Entities with their fields, keys and links."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.arguments import Roles
from mcp_sim.infer.entity_keys import key_like
from mcp_sim.infer.features import ToolFeatures, group_by_entity
from mcp_sim.infer.given_state import Given
from mcp_sim.infer.keys import key_argument
from mcp_sim.infer.links import Targets, add_links
from mcp_sim.infer.states import with_choices, with_creation_time, with_given_defaults, with_initial_state
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_object, required
from mcp_sim.types.plans import RECORDLESS
from mcp_sim.types.scenario import Example

_ONE = frozenset({"get", "update", "delete"})


def build_entities(
    feature_list: Sequence[ToolFeatures],
    roles: Mapping[str, Roles],
    fields: Mapping[str, Mapping[str, Field]],
    keys: Mapping[str, str],
    declared: Mapping[str, Entity],
    examples: Sequence[Example],
    given: Given,
    opened: Container[str],
) -> dict[str, Entity]:
    """Return the entities that the tools mention.

    Their fields come from results, arguments, declarations and given records. `opened` are the open entities.
    """
    groups = group_by_entity(feature_list)
    targets = Targets({name: parts[keys[name]].schema for name, parts in fields.items()})
    linked = {name: _with_name(add_links(name, parts, targets), keys[name]) for name, parts in fields.items()}
    entities: dict[str, Entity] = {}
    for name, parts in linked.items():
        mine = groups[name]
        seen = _seen_keys(name, keys[name], mine, examples)
        like = key_like(declared.get(name), parts[keys[name]], seen, name)
        rows = given.records.get(name, ())
        whole = with_choices(_check_links(parts, rows, given, keys) if rows else parts, mine, roles, rows)
        natural = _has_chosen_key(keys[name], mine, roles)
        made = Entity(name, keys[name], like, _key_first(keys[name], whole), natural=natural)
        if not rows and name not in declared:
            made = replace(made, fields=with_creation_time(made.fields, mine))
        whole_entity = with_initial_state(_as_declared(declared.get(name), made), rows)
        whole_entity = with_given_defaults(whole_entity, rows)
        entities[name] = replace(whole_entity, open=name in opened or whole_entity.open)
    return entities


def _has_chosen_key(key: str, feature_list: Sequence[ToolFeatures], roles: Mapping[str, Roles]) -> bool:
    """Whether the callers who create a record choose its key. The tools are those of its entity."""
    creates = [features for features in feature_list if features.verb == "create"]
    made = [roles[features.tool.id].sets.get(path, "") for features in creates for path in required(features.input)]
    return key in made


def _as_declared(declared: Entity | None, found: Entity) -> Entity:
    """Return the inferred entity with the kind of the declared one."""
    if declared is None:
        return found
    is_all = declared.singleton and found.fields.keys() <= {*declared.fields, declared.key, "name"}
    if is_all or declared.inside is not None:
        return declared
    return replace(found, singleton=declared.singleton, natural=declared.natural or found.natural, open=declared.open)


def _check_links(
    fields: Mapping[str, Field], rows: Sequence[Record], given: Given, keys: Mapping[str, str]
) -> dict[str, Field]:
    """Return the fields of given records without links that lead nowhere."""
    checked: dict[str, Field] = {}
    for name, field in fields.items():
        there = {row.get(keys[field.link]) for row in given.records.get(field.link, ())} if field.link else set[Json]()
        values = [one for row in rows for one in _as_values(row.get(name))]
        is_resolved = field.link in given.records and all(isinstance(one, str | int) and one in there for one in values)
        checked[name] = field if is_resolved else replace(field, link=None)
    return checked


def _as_values(value: Json) -> list[Json]:
    return [*value] if isinstance(value, list) else [] if value is None else [value]


def _with_name(fields: Mapping[str, Field], key: str) -> dict[str, Field]:
    """Add a name to an entity without fields other than its key and links."""
    if key == "name" or any(name != key and field.link is None for name, field in fields.items()):
        return dict(fields)
    return {**fields, "name": Field("name", {"type": "string"}, required=True)}


def _key_first(key: str, fields: Mapping[str, Field]) -> dict[str, Field]:
    return {key: replace(fields[key], required=True), **{name: part for name, part in fields.items() if name != key}}


def _seen_keys(entity: str, key: str, feature_list: Sequence[ToolFeatures], examples: Sequence[Example]) -> list[Key]:
    """Return the ids of this entity, to which the tools belong, that occur in examples."""
    by_name = {features.tool.name: features for features in feature_list if features.verb not in RECORDLESS}
    by_name |= {features.tool.id: features for features in by_name.values()}
    shown = ((by_name[one.tool], one) for one in examples if one.tool in by_name)
    values = [value for features, one in shown for value in _keys_of_example(entity, key, features, one)]
    return [value for value in values if isinstance(value, str | int) and not isinstance(value, bool)]


def _keys_of_example(entity: str, key: str, features: ToolFeatures, example: Example) -> Iterator[Json]:
    name, score = key_argument(features.verb, entity, key, features.input)
    if name is not None and score >= 2 and features.verb in _ONE:
        yield example.arguments.get(name)
    if features.envelope.record == "":
        yield as_object(example.result).get(key)
