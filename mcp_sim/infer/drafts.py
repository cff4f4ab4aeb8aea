"""Drafts of plans, and the overrides from specs that every pass keeps."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcp_sim.infer.features import ToolFeatures
from mcp_sim.types import Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.plans import RECORDLESS, Plan

_EFFECT = ("verb", "entity", "backend")
"""By these, and by another key, two plans are of different deeds; the others tell how one is done."""

_NOT_EFFECTS = frozenset({"login", "within"})
"""Of whoever calls and of the arguments, which tells nothing of what a tool does."""

DECLARED = "the spec says so"


@dataclass(frozen=True, slots=True)
class Draft:
    """The plans so far, with what they were drawn from. `held` are the records that are given."""

    feature_list: Sequence[ToolFeatures]
    plans: Mapping[str, Plan]
    entities: Mapping[str, Entity]
    held: Mapping[str, Sequence[Record]]

    def items(self) -> Iterator[tuple[ToolFeatures, Plan]]:
        """The tools, each with its plan so far."""
        return ((features, self.plans[features.tool.id]) for features in self.feature_list)

    def record_items(self) -> Iterator[tuple[ToolFeatures, Plan]]:
        """Those of them that work on something of which there may be many."""
        return ((features, plan) for features, plan in self.items() if features.singleton is None)

    def entity_of(self, plan: Plan) -> Entity | None:
        """What a plan is about."""
        return self.entities.get(plan.entity or "")

    def tables(self) -> list[Entity]:
        """The entities of which records are given that stand by themselves."""
        known = self.entities.items()
        return [one for name, one in known if self.held.get(name) and not one.singleton and one.inside is None]

    def replace_plans(self, found: Mapping[str, Plan]) -> Draft:
        """The draft with what is found in place of the plans for the same tools, but for what specs say of them."""
        said = {features.tool.id: features.overrides for features in self.feature_list}
        heeded = {id_: keep_declared_plan(self.plans[id_], plan, said[id_]) for id_, plan in found.items()}
        return replace(self, plans={**self.plans, **heeded})


def declares_effect(said: Collection[str]) -> bool:
    """Does a spec tell something of what the tool does to records?"""
    return not _NOT_EFFECTS.issuperset(said)


def judge_declared(confidence: float, reasons: tuple[str, ...], said: Collection[str]) -> tuple[float, tuple[str, ...]]:
    """How sure a plan is of which a spec tells this much; what it does to which entity is sure where that is said."""
    if not declares_effect(said):
        return confidence, reasons
    return (1.0 if {"verb", "entity"} & {*said} else confidence), (DECLARED, *reasons)


def resolve_overrides(plan: Plan, said: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is said of a plan; an argument that is said to narrow does not name the record, unless that is said too."""
    is_filter = "key" not in said and plan.key in said.get("filters", {})
    return {**said, "key": None} if is_filter else said


def keep_declared_features(features: ToolFeatures, found: ToolFeatures) -> ToolFeatures:
    """A look after one more reading of the tool; as it was before, where that is at odds with what is said."""
    if found is features or not features.overrides:
        return found
    said = features.overrides
    is_other = any(said.get(name, getattr(found, name)) != getattr(found, name) for name in ("verb", "entity"))
    is_kept = said.get("backend") == "records" and found.verb in RECORDLESS
    is_named = found.list_change is not None and said.get("key", found.list_change.key) != found.list_change.key
    if is_other or is_kept or is_named:
        return features
    return replace(found, envelope=features.envelope) if "envelope" in said else found


def keep_declared_plan(plan: Plan, found: Plan, said: Mapping[str, Any]) -> Plan:
    """A plan after one more reading of the tool: the fields that are said stay as they are.

    A reading that makes another deed of it holds only where nothing else is said to be done.
    """
    if not said:
        return found
    is_same = all(getattr(found, name) == getattr(plan, name) for name in _EFFECT) and found.key in {plan.key, None}
    if not is_same and any(said[name] != getattr(found, name) for name in (*_EFFECT, "key") if name in said):
        return plan
    kept = {name: getattr(plan, name) for name in said} if is_same else resolve_overrides(found, said)
    judgement = (found.confidence, found.reasons)
    confidence, reasons = judgement if found.reasons[:1] == (DECLARED,) else judge_declared(*judgement, said)
    return replace(found, **{**kept, "confidence": confidence, "reasons": reasons})
