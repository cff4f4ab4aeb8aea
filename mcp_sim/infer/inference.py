"""What does each tool do to which entity? Read from names, schemas, annotations and examples; what a spec says wins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcp_sim.infer.any_kind import of_any_kind, without_nouns
from mcp_sim.infer.aspects import with_aspects
from mcp_sim.infer.belongings import belonging, with_lists, with_owners
from mcp_sim.infer.callers import about_callers, with_callers
from mcp_sim.infer.children import with_children, without_children
from mcp_sim.infer.contents import contents_shown
from mcp_sim.infer.counts import with_counts
from mcp_sim.infer.drafts import Draft
from mcp_sim.infer.elements import with_elements
from mcp_sim.infer.entities import entities_of
from mcp_sim.infer.entries import with_entries
from mcp_sim.infer.flag_filters import with_flags
from mcp_sim.infer.given import Given, given_state
from mcp_sim.infer.insides import with_insides
from mcp_sim.infer.kindred import with_kindred
from mcp_sim.infer.lone import told_alone
from mcp_sim.infer.looks import Look, looks_at, readings_of
from mcp_sim.infer.makers import making
from mcp_sim.infer.named_fields import naming_fields, with_named_fields
from mcp_sim.infer.occupying import occupying
from mcp_sim.infer.operations import put_together, said_of_ways, several_of, taken_apart
from mcp_sim.infer.origins import with_origins
from mcp_sim.infer.planning import plan_of, sharing_of
from mcp_sim.infer.preconditions import alike
from mcp_sim.infer.roles import roles_and_fields, shown
from mcp_sim.infer.said import look_beside, tells_deed
from mcp_sim.infer.spoken import spoken
from mcp_sim.infer.summaries import summing, with_summaries
from mcp_sim.infer.takings import taking
from mcp_sim.infer.tallies import tallied
from mcp_sim.infer.told_states import with_told_states
from mcp_sim.infer.upserts import upserting
from mcp_sim.infer.which import singled_out
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.lexicon.words import vocabulary
from mcp_sim.types.plans import Plan
from mcp_sim.types.scenario import Example


@dataclass(frozen=True, slots=True)
class Inferred:
    """Entities with their fields, keys and links, one plan per tool id, and the records that the given state holds."""

    entities: Mapping[str, Entity]
    plans: Mapping[str, Plan]
    records: Mapping[str, Sequence[Record]]
    unmentioned: frozenset[str] = frozenset()
    """Entities that tools only look at and that a given state says nothing of: what the service knows besides."""


_FURTHER = (
    contents_shown, with_flags, tallied, with_entries, with_aspects, with_owners, taking, occupying, summing,
    singled_out, with_insides, with_children, with_named_fields,
)  # fmt: skip
"""What more is read of the tools, each going by what those before it found."""


def infer(
    tools: Mapping[str, Tool],
    declared: Mapping[str, Entity],
    overrides: Mapping[str, Mapping[str, Any]],
    examples: Sequence[Example],
    state: Json = None,
) -> Inferred:
    """What the tools do to which records, told by nothing but themselves, and by the state where one is given.

    `declared` is what the spec says about entities, `overrides` maps tool ids to what it says of their plans.
    """
    several = several_of(tools, overrides)
    overrides = {**overrides, **said_of_ways(several, overrides)}
    tools = taken_apart(tools, several)
    readings = readings_of(tools)
    given = given_state(state, spoken(readings.values(), tools.values())) if state is not None else Given()
    readings = upserting(readings, tools, {*given.entities, *declared})
    settled = {id_ for id_, said in overrides.items() if tells_deed(said)}
    alone = told_alone(tools, readings, declared, settled) if state is None else {}
    declared = {**alone, **given.entities, **{name: _as_given(one, given) for name, one in declared.items()}}
    declared = with_lists(declared, given.records)
    looks = looks_at(tools, declared, overrides, examples, readings, alone, given.records)
    anyhow = of_any_kind(looks, declared)
    looks = without_nouns(looks, anyhow)
    looks = _heeded(looks, with_told_states(looks, declared))
    looks = _heeded(looks, with_elements(looks, shown(looks, declared), declared))
    looks = _heeded(looks, naming_fields(with_kindred(looks, declared), declared))
    looks = belonging(_heeded(looks, with_counts(looks)), declared)
    looks = _heeded(looks, with_summaries(looks, given.records))
    told = shown(looks, declared)
    roles, fields, keys = roles_and_fields(looks, told, declared)
    entities = entities_of(looks, roles, fields, keys, declared, examples, given)
    entities = with_callers(entities, given.records)
    sharing = sharing_of(looks)
    plans = {look.tool.id: plan_of(look, roles[look.tool.id], entities, sharing, declared, given) for look in looks}
    plans |= with_origins(looks, plans, entities)
    plans |= _as_their_kin(looks, plans)
    plans |= making(looks, plans, entities) if state is None else {}
    draft = Draft(looks, plans, entities, given.records)
    for read in _FURTHER:
        draft = draft.changed(read(draft))
    draft = replace(draft, entities=without_children(draft.entities, draft.plans))
    draft = draft.changed(about_callers(draft))
    found = put_together({**draft.plans, **anyhow}, several, overrides)
    return Inferred(draft.entities, found, given.records, _unmentioned(looks, given))


def _heeded(looks: Sequence[Look], found: Sequence[Look]) -> list[Look]:
    """The looks after one more reading of the tools; what specs say of them stands."""
    return [look_beside(look, one) for look, one in zip(looks, found, strict=True)]


def _as_given(entity: Entity, given: Given) -> Entity:
    """What a spec says of an entity, which stands where the given state has it."""
    known = given.entities.get(entity.name)
    if known is None:
        return entity
    return replace(entity, singleton=entity.singleton or known.singleton, inside=known.inside)


def _as_their_kin(looks: Sequence[Look], plans: Mapping[str, Plan]) -> dict[str, Plan]:
    """The plans of writes that lead to a state as others of their kind do."""
    words_of = {look.tool.id: look.reading.word for look in looks}
    known = [(words_of[name], plan) for name, plan in plans.items() if plan.fixed and plan.verb == "update"]
    found: dict[str, Plan] = {}
    for name, plan in plans.items():
        word = words_of[name]
        if known and plan.verb == "update" and plan.backend == "records" and not plan.fixed and word not in _PLAIN:
            fixed = alike(plan, word, known)
            found |= {name: replace(plan, fixed=fixed)} if fixed else {}
    return found


_PLAIN = vocabulary("update edit modify patch change set adjust revise amend rename replace")


def _unmentioned(looks: Sequence[Look], given: Given) -> frozenset[str]:
    looked_at = {look.entity for look in looks if look.verb in {"get", "list", "search"}}
    written = {look.entity for look in looks if look.verb in {"create", "update", "delete"}}
    return frozenset(looked_at - written - {*given.entities}) if given.entities else frozenset()
