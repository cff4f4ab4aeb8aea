"""Inference of entities and plans from names, schemas, annotations and examples; overrides from specs win."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mcp_sim.infer.balance_changes import plan_balance_changes
from mcp_sim.infer.creates import find_upserts, plan_copies, plan_creating_updates
from mcp_sim.infer.drafts import Draft, declares_effect, keep_declared_features
from mcp_sim.infer.entities import build_entities
from mcp_sim.infer.features import ToolFeatures, collect_features, parse_tool_names
from mcp_sim.infer.fields import collect_shown_fields
from mcp_sim.infer.given_state import Given, Path, read_given_state
from mcp_sim.infer.implied_records import link_caller, plan_callers, plan_implied_records
from mcp_sim.infer.links import link_given_keys
from mcp_sim.infer.list_changes import find_list_changes
from mcp_sim.infer.nouns import collect_nouns
from mcp_sim.infer.operations import find_multi_tools, merge_plans, split_tools, variant_overrides
from mcp_sim.infer.ownership import (
    plan_children,
    plan_membership_checks,
    plan_owners,
    remove_child_fields,
    settle_owner_arguments,
)
from mcp_sim.infer.partial_results import plan_shown_fields, plan_shown_lists
from mcp_sim.infer.planning import count_verbs, make_plan
from mcp_sim.infer.related_entities import find_related_entities, plan_any_record, without_entities
from mcp_sim.infer.roles import assign_roles
from mcp_sim.infer.selections import plan_entry_selection, plan_field_choices, plan_flag_filters, settle_field_arguments
from mcp_sim.infer.singleton_entities import find_singletons
from mcp_sim.infer.stock_changes import plan_occupancy, plan_stock_changes
from mcp_sim.infer.summaries import find_counts, find_summaries, plan_summaries
from mcp_sim.infer.transitions import find_described_updates, find_similar_state
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.lexicon.english import vocabulary
from mcp_sim.types.plans import Plan
from mcp_sim.types.scenario import Example

_PASSES = (
    plan_shown_lists,
    plan_flag_filters,
    plan_balance_changes,
    plan_entry_selection,
    plan_shown_fields,
    plan_owners,
    plan_stock_changes,
    plan_occupancy,
    plan_summaries,
    plan_implied_records,
    plan_membership_checks,
    plan_children,
    plan_field_choices,
)
"""Refinements of the plans, in this order. Each reads what the earlier ones found."""

_PLAIN_UPDATES = vocabulary("update edit modify patch change set adjust revise amend rename replace")


@dataclass(frozen=True, slots=True)
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
    parsed_names = parse_tool_names(tools)
    given = (
        read_given_state(state, collect_nouns(parsed_names.values(), tools.values())) if state is not None else Given()
    )
    parsed_names = find_upserts(parsed_names, tools, {*given.entities, *declared})
    settled = {id_ for id_, override in overrides.items() if declares_effect(override)}
    singletons = find_singletons(tools, parsed_names, declared, settled) if state is None else {}
    declared = {
        **singletons,
        **given.entities,
        **{name: _with_given_place(one, given) for name, one in declared.items()},
    }
    declared = link_given_keys(declared, given.records)
    feature_list = collect_features(tools, declared, overrides, examples, parsed_names, singletons, given.records)
    lookups = plan_any_record(feature_list, declared)
    feature_list = without_entities(feature_list, lookups)
    feature_list = _keep_declared(feature_list, find_described_updates(feature_list, declared))
    feature_list = _keep_declared(
        feature_list, find_list_changes(feature_list, collect_shown_fields(feature_list, declared), declared)
    )
    feature_list = _keep_declared(
        feature_list, settle_field_arguments(find_related_entities(feature_list, declared), declared)
    )
    feature_list = settle_owner_arguments(_keep_declared(feature_list, find_counts(feature_list)), declared)
    feature_list = _keep_declared(feature_list, find_summaries(feature_list, given.records))
    shown_fields = collect_shown_fields(feature_list, declared)
    roles, fields, keys = assign_roles(feature_list, shown_fields, declared)
    entities = build_entities(feature_list, roles, fields, keys, declared, examples, given)
    entities = link_caller(entities, given.records)
    sharing = count_verbs(feature_list)
    plans = {
        features.tool.id: make_plan(features, roles[features.tool.id], entities, sharing, declared, given)
        for features in feature_list
    }
    plans |= plan_copies(feature_list, plans, entities)
    plans |= _like_similar_tools(feature_list, plans)
    plans |= plan_creating_updates(feature_list, plans, entities) if state is None else {}
    draft = Draft(feature_list, plans, entities, given.records)
    for refine in _PASSES:
        draft = draft.replace_plans(refine(draft))
    draft = replace(draft, entities=remove_child_fields(draft.entities, draft.plans))
    draft = draft.replace_plans(plan_callers(draft))
    found = merge_plans({**draft.plans, **lookups}, multi_tools, overrides)
    return Inferred(draft.entities, found, given.records, _find_unmentioned(feature_list, given), given.paths)


def _keep_declared(feature_list: Sequence[ToolFeatures], found: Sequence[ToolFeatures]) -> list[ToolFeatures]:
    """Return the new features, or the old ones where the new contradict overrides."""
    return [keep_declared_features(features, one) for features, one in zip(feature_list, found, strict=True)]


def _with_given_place(entity: Entity, given: Given) -> Entity:
    """Return a declared entity with its place in the given state."""
    known = given.entities.get(entity.name)
    if known is None:
        return entity
    return replace(entity, singleton=entity.singleton or known.singleton, inside=known.inside)


def _like_similar_tools(feature_list: Sequence[ToolFeatures], plans: Mapping[str, Plan]) -> dict[str, Plan]:
    """Return new plans for updates that lead to a state like similar tools do."""
    words_of = {features.tool.id: features.parsed.word for features in feature_list}
    known = [(words_of[name], plan) for name, plan in plans.items() if plan.fixed and plan.verb == "update"]
    found: dict[str, Plan] = {}
    for name, plan in plans.items():
        word = words_of[name]
        if (
            known
            and plan.verb == "update"
            and plan.backend == "records"
            and not plan.fixed
            and word not in _PLAIN_UPDATES
        ):
            fixed = find_similar_state(plan, word, known)
            found |= {name: replace(plan, fixed=fixed)} if fixed else {}
    return found


def _find_unmentioned(feature_list: Sequence[ToolFeatures], given: Given) -> frozenset[str]:
    looked_at = {features.entity for features in feature_list if features.verb in {"get", "list", "search"}}
    written = {features.entity for features in feature_list if features.verb in {"create", "update", "delete"}}
    return frozenset(looked_at - written - {*given.entities}) if given.entities else frozenset()
