"""Inference of entities and plans from names, schemas, annotations and examples; overrides from specs win."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from mcp_sim.plans.infer.entities import (
    EntityBuilder,
    find_open_entities,
    key_as_referred,
    link_given_keys,
    with_fractions,
    with_shared_keys,
    with_usual_fields,
)
from mcp_sim.plans.infer.features import ToolFeatures, collect_features
from mcp_sim.plans.infer.fields import collect_shown_fields
from mcp_sim.plans.infer.given_state import Given, Path, read_given_state
from mcp_sim.plans.infer.names import ParsedName, parse_tool_names
from mcp_sim.plans.infer.operations import find_multi_tools, merge_plans, split_tools, variant_overrides
from mcp_sim.plans.infer.plan_evidence import count_verbs
from mcp_sim.plans.infer.resolver import Resolver, declares_effect
from mcp_sim.plans.infer.roles import assign_roles
from mcp_sim.plans.infer.singletons import find_singletons
from mcp_sim.plans.infer.state_tables import collect_names, collect_nouns
from mcp_sim.plans.infer.tool_facts import refers_to
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import required
from mcp_sim.types.lexicon.english import last_word, words
from mcp_sim.types.plans import Plan
from mcp_sim.types.scenario import Example


@frozen
class Inferred:
    """Entities, one plan per tool id, and the records of the given state."""

    entities: Mapping[str, Entity]
    plans: Mapping[str, Plan]
    records: Mapping[str, Sequence[Record]]
    unmentioned: frozenset[str] = frozenset()
    """Entities that tools only read and that the given state does not mention."""
    paths: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Where the given state has the records of an entity, as `Given.paths`."""


def infer(
    tools: Mapping[str, Tool],
    declared: Mapping[str, Entity],
    overrides: Mapping[str, Mapping[str, Any]],
    examples: Sequence[Example],
    state: Json = None,
) -> Inferred:
    """Infer entities and plans from the tools, and from the state if one is given.

    `declared` are the entities of the spec. `overrides` maps tool ids to declared fields of their plans.
    """
    multi_tools = find_multi_tools(tools, overrides)
    overrides = {**overrides, **variant_overrides(multi_tools, overrides)}
    tools = split_tools(tools, multi_tools)
    parts = collect_names(state)
    parsed_names = parse_tool_names(tools, parts)
    declared_names = {id_: _as_declared(parsed, overrides.get(id_, {})) for id_, parsed in parsed_names.items()}
    given = Given() if state is None else read_given_state(state, collect_nouns(declared_names, tools, parts))
    given = with_shared_keys(key_as_referred(given))
    settled = {id_ for id_, override in overrides.items() if declares_effect(override)}
    singletons = find_singletons(tools, parsed_names, declared, settled) if state is None else {}
    placed = {name: _with_given_place(entity, given) for name, entity in declared.items()}
    declared = link_given_keys({**singletons, **given.entities, **placed}, given.records)
    feature_list = collect_features(tools, declared, overrides, examples, parsed_names, given)
    shown_fields = collect_shown_fields(feature_list, declared)
    opened = find_open_entities(feature_list, {name for name, entity in declared.items() if not entity.open})
    roles, fields, keys = assign_roles(feature_list, shown_fields, declared, opened, given.records)
    entities = EntityBuilder(feature_list, roles, fields, keys, declared, examples, given, opened).build()
    if state is None:
        entities = with_usual_fields(entities, feature_list)
    else:
        entities = with_fractions(entities, given.entities.keys() - placed.keys(), feature_list, roles)
    written: defaultdict[str, set[str]] = defaultdict(set)
    for features in feature_list:
        written[features.entity] |= {*roles[features.tool.id].sets.values()}
    creators, has_state = _find_creators(feature_list), state is not None
    resolver = Resolver(entities, declared, given, has_state, count_verbs(feature_list), written, creators)
    plans = {features.tool.id: resolver.plan(features, roles[features.tool.id]) for features in feature_list}
    merged = merge_plans(plans, multi_tools, overrides)
    return Inferred(entities, merged, given.records, _find_unmentioned(feature_list, given), given.paths)


def _as_declared(parsed: ParsedName, override: Mapping[str, Any]) -> ParsedName:
    """Return a parsed name with the verb and the noun that a spec declares."""
    noun = words(override["entity"]) if override.get("entity") else parsed.noun
    return replace(parsed, noun=noun, verb=override.get("verb", parsed.verb))


def _with_given_place(entity: Entity, given: Given) -> Entity:
    """Return a declared entity with its place in the given state, and the key there unless the spec declares one."""
    known = given.entities.get(entity.name)
    if known is None:
        return entity
    key = known.key if _has_other_key(entity, known) else entity.key
    return replace(entity, key=key, singleton=entity.singleton or known.singleton, inside=known.inside)


def _has_other_key(entity: Entity, known: Entity) -> bool:
    """Whether given records have a key of their own: no key is declared, or they have another id than `id`."""
    is_declared = entity.key != "id" or "id" in entity.fields
    return not is_declared or (entity.key == "id" and "id" not in known.fields and last_word(known.key) == "id")


def _find_creators(feature_list: Sequence[ToolFeatures]) -> dict[str, ToolFeatures]:
    """Return the tool that creates records of each entity: one that takes no id of them, then the shortest name."""
    creates = [features for features in feature_list if features.verb == "create" and not features.is_copy]
    creates.sort(key=lambda each: (any(refers_to(each.entity, a) for a in required(each.input)), len(each.tool.name)))
    return {features.entity: features for features in reversed(creates)}


def _find_unmentioned(feature_list: Sequence[ToolFeatures], given: Given) -> frozenset[str]:
    looked_at = {features.entity for features in feature_list if features.verb in {"get", "list", "search"}}
    written = {features.entity for features in feature_list if features.verb in {"create", "update", "delete"}}
    return frozenset(looked_at - written - {*given.entities}) if given.entities else frozenset()
