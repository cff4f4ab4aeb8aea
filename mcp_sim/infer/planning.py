"""The plan of a tool whose entity and argument roles are known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_sim.infer.arguments import Roles
from mcp_sim.infer.confidence import Evidence, judge, judge_recordless
from mcp_sim.infer.creates import UPSERT
from mcp_sim.infer.envelopes import batch_envelope
from mcp_sim.infer.features import ToolFeatures
from mcp_sim.infer.given_state import Given
from mcp_sim.infer.keys import noun_of_key
from mcp_sim.infer.names import noun_spans
from mcp_sim.infer.overrides import declares_effect, resolve_overrides
from mcp_sim.infer.states import find_target_state
from mcp_sim.infer.verbs import INSPECTION_VERBS
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import constants, main_type, properties
from mcp_sim.types.lexicon.english import plural, singular_phrase, snake
from mcp_sim.types.plans import RECORDLESS, Envelope, How, Plan

_ONE = frozenset({"get", "update", "delete"})
_MANY = frozenset({"list", "search"})
_MIN_CONFIDENCE = 0.35
"""Minimum confidence of a plan whose verb is only in the description."""

_WRITES = frozenset({"create", "update", "delete"})


def count_verbs(feature_list: Sequence[ToolFeatures]) -> dict[str, int]:
    """Return the number of kinds of tools that mention each entity. A reference from another counts as one."""
    verbs: dict[str, set[str]] = defaultdict(set)
    referred = {(snake(name), features.entity) for features in feature_list for name in properties(features.input)}
    for features in feature_list:
        if features.verb not in RECORDLESS:
            verbs[features.entity].add(features.verb)
    for name, entity in referred:
        target = name.removesuffix("_id")
        if target not in {name, entity} and target in verbs:
            verbs[target].add("referred to")
    return {entity: len(found) for entity, found in verbs.items()}


def make_plan(
    features: ToolFeatures,
    roles: Roles,
    entities: Mapping[str, Entity],
    sharing: Mapping[str, int],
    declared: Mapping[str, Entity],
    given: Given,
) -> Plan:
    """Return the plan of a tool by its features, its roles and its overrides."""
    overrides = features.overrides
    if features.verb in RECORDLESS:
        return _plan_recordless(features, entities)
    entity = entities[features.entity]
    if not declares_effect(overrides) and _is_outside_state(features, declared, given, sharing):
        return _plan_outside_state(features)
    inferred = features.item_arguments.refold(_infer_plan(features, roles, entity, given.records.get(entity.name, ())))
    plan = inferred.with_declared(resolve_overrides(inferred, overrides))
    evidence = Evidence(
        features.parsed, plan, entity, features.input, features.output, features.tool.annotations, roles.unexplained
    )
    confidence, reasons = judge(evidence, sharing[features.entity], features.entity in declared)
    is_certain = not {"verb", "entity"}.isdisjoint(overrides)
    only_one = features.parsed.one_of_a_kind and (sharing[features.entity] > 1 or "entity" in overrides)
    found = _check_workable(plan.with_basis(1.0 if is_certain else confidence, *reasons), entity, only=only_one)
    is_poor = features.parsed.verb_from_description and found.confidence < _MIN_CONFIDENCE
    is_looked_at = features.parsed.word in INSPECTION_VERBS and plan.key is None and plan.verb == "get"
    is_open = not declares_effect(overrides)
    return _plan_recordless(features, entities) if is_open and (is_poor or is_looked_at) else found


def _infer_plan(features: ToolFeatures, roles: Roles, entity: Entity, rows: Sequence[Record]) -> Plan:
    """Return the plan of a tool for one record, or one item of a batch, without overrides."""
    return Plan(
        features.tool.id,
        features.verb,
        features.entity,
        key=roles.key,
        sets=roles.sets,
        how=_write_modes(features, roles, entity),
        fixed=find_target_state(features.parsed, entity, rows) if features.verb == "update" else {},
        if_exists="update" if features.verb == "create" and features.parsed.word == UPSERT else "refuse",
        holder=roles.holder,
        filters=roles.filters,
        query=roles.query,
        sort=roles.sort,
        order=roles.order,
        paging=roles.paging,
        envelope=_result_places(features),
    )


def _result_places(features: ToolFeatures) -> Envelope:
    if features.item_arguments.each is None or features.verb not in _WRITES:
        return features.envelope
    return replace(batch_envelope(features.verb, features.entity, features.output), text=features.envelope.text)


def _write_modes(features: ToolFeatures, roles: Roles, entity: Entity) -> dict[str, How]:
    """Return the texts and lists to which values are appended."""
    if features.verb != "update" or features.parsed.word != "append":
        return {}
    texts = {name for name in roles.sets.values() if name in entity.fields and _accepts_appending(entity.fields[name])}
    return dict.fromkeys(sorted(texts), "append")


def _accepts_appending(field: Field) -> bool:
    return main_type(field.schema) in {"string", "array"} and field.link is None and not constants(field.schema)


def _is_outside_state(
    features: ToolFeatures, declared: Mapping[str, Entity], given: Given, sharing: Mapping[str, int]
) -> bool:
    """Whether a tool reads what neither the given state nor another tool mentions."""
    is_read = features.verb == "get" or (features.verb in _MANY and features.envelope.rows is None)
    return bool(given.entities) and is_read and features.entity not in declared and sharing[features.entity] < 2


def _plan_outside_state(features: ToolFeatures) -> Plan:
    """Return the plan of a tool that shows what the state does not hold: a fixed answer per call."""
    return _unknown(features.tool.id, 0.1, f"the state has no {features.entity.replace('_', ' ')}")


def _unknown(tool: str, confidence: float, *reasons: str) -> Plan:
    return Plan(tool, "unknown", backend="schema_only").with_basis(confidence, *reasons)


def _plan_recordless(features: ToolFeatures, entities: Mapping[str, Entity]) -> Plan:
    """Return the plan of a tool that touches no records, or unknown ones."""
    overrides = features.overrides
    if declares_effect(overrides):
        return Plan(features.tool.id, "none", backend="schema_only").with_declared({"verb": "none", **overrides})
    unknown = _unknown(features.tool.id, 0.1, "no entity named").with_declared(overrides)
    parsed = features.parsed
    is_looked_at = parsed.word in INSPECTION_VERBS and parsed.verb == "get"
    if (
        parsed.verb != "unknown"
        and not parsed.verb_from_description
        and not is_looked_at
        and (parsed.sure or features.entity)
    ):
        return unknown
    is_mentioned = _mentions_entity(features, entities)
    confidence, reasons = judge_recordless(
        parsed.word, parsed.recordless_verb, features.tool, is_mentioned=is_mentioned
    )
    plan = Plan(features.tool.id, "none", backend="schema_only").with_declared(overrides)
    return plan.with_basis(confidence, *reasons)


def _mentions_entity(features: ToolFeatures, entities: Mapping[str, Entity]) -> bool:
    """Whether a tool mentions an entity of others, in its name or by an id argument."""
    noun = features.parsed.noun
    mentioned = {singular_phrase(noun[start:end]) for start, end in noun_spans(len(noun))}
    return not entities.keys().isdisjoint(mentioned | {noun_of_key(name) for name in properties(features.input)})


def _can_reach(plan: Plan) -> bool:
    """Whether a plan for nested records names the record or its container."""
    return plan.key is not None if plan.verb in _ONE else plan.holder is not None or plan.verb in _MANY


def _check_workable(plan: Plan, entity: Entity, *, only: bool) -> Plan:
    """Return the plan, or an unknown plan if it could not answer.

    Such a plan names no record, or changes nothing. `only`: it is about the current or the next record.
    """
    is_meant = plan.verb == "get" and (only or plan.operation)
    is_named = plan.key is not None or entity.singleton or plan.filters or is_meant
    nameless = plan.verb in _ONE and not is_named
    idle = plan.verb == "update" and not plan.sets and not plan.fixed
    if entity.inside is not None and plan.backend == "records" and not _can_reach(plan):
        why = f"the {plural(entity.name)} are nested in other records, and no argument names them"
        return _unknown(plan.tool, 0.1, why, *plan.reasons)
    if plan.backend != "records" or not (nameless or idle):
        return plan
    if idle and not nameless and entity.key_like is not None and not plan.guessed:
        return plan.with_effect(0.6, "nothing it could change", *plan.reasons)
    why = f"no argument names a {entity.name}" if nameless else "nothing it could change"
    return _unknown(plan.tool, 0.1, why, *plan.reasons)
