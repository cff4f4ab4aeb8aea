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
"""Fields that, with the key, decide what a plan does. The others decide how."""

_NOT_EFFECTS = frozenset({"login", "within"})
"""Overrides about the caller or about wrapped arguments, not about the effect of a tool."""

DECLARED = "declared in the spec"


@dataclass(frozen=True, slots=True)
class Draft:
    """Plans under construction, with what they were drawn from. `held` are the given records."""

    feature_list: Sequence[ToolFeatures]
    plans: Mapping[str, Plan]
    entities: Mapping[str, Entity]
    held: Mapping[str, Sequence[Record]]

    def items(self) -> Iterator[tuple[ToolFeatures, Plan]]:
        """Yield the features of each tool with its plan."""
        return ((features, self.plans[features.tool.id]) for features in self.feature_list)

    def record_items(self) -> Iterator[tuple[ToolFeatures, Plan]]:
        """Yield the features and the plan of each tool that does not work on a singleton."""
        return ((features, plan) for features, plan in self.items() if features.singleton is None)

    def entity_of(self, plan: Plan) -> Entity | None:
        """Return the entity of a plan."""
        return self.entities.get(plan.entity or "")

    def tables(self) -> list[Entity]:
        """Return the entities with given records that are no singletons and not nested."""
        known = self.entities.items()
        return [one for name, one in known if self.held.get(name) and not one.singleton and one.inside is None]

    def replace_plans(self, found: Mapping[str, Plan]) -> Draft:
        """Return the draft with these plans instead of those of the same tools. Overrides stay."""
        overrides = {features.tool.id: features.overrides for features in self.feature_list}
        kept = {id_: keep_declared_plan(self.plans[id_], plan, overrides[id_]) for id_, plan in found.items()}
        return replace(self, plans={**self.plans, **kept})


def declares_effect(overrides: Collection[str]) -> bool:
    """Whether a spec declares anything about the effect of a tool."""
    return not _NOT_EFFECTS.issuperset(overrides)


def judge_declared(
    confidence: float, reasons: tuple[str, ...], overrides: Collection[str]
) -> tuple[float, tuple[str, ...]]:
    """Return the confidence and reasons of a plan with overrides.

    A declared verb or entity is certain.
    """
    if not declares_effect(overrides):
        return confidence, reasons
    return (1.0 if {"verb", "entity"} & {*overrides} else confidence), (DECLARED, *reasons)


def resolve_overrides(plan: Plan, overrides: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the overrides of a plan.

    An argument declared as a filter is not the key, unless that is declared too.
    """
    is_filter = "key" not in overrides and plan.key in overrides.get("filters", {})
    return {**overrides, "key": None} if is_filter else overrides


def keep_declared_features(features: ToolFeatures, found: ToolFeatures) -> ToolFeatures:
    """Return the new features of a tool, or the old ones if the new contradict overrides."""
    if found is features or not features.overrides:
        return found
    overrides = features.overrides
    is_other = any(overrides.get(name, getattr(found, name)) != getattr(found, name) for name in ("verb", "entity"))
    is_kept = overrides.get("backend") == "records" and found.verb in RECORDLESS
    is_named = found.list_change is not None and overrides.get("key", found.list_change.key) != found.list_change.key
    if is_other or is_kept or is_named:
        return features
    return replace(found, envelope=features.envelope) if "envelope" in overrides else found


def keep_declared_plan(plan: Plan, found: Plan, overrides: Mapping[str, Any]) -> Plan:
    """Return the new plan of a tool with overridden fields unchanged.

    A plan with another effect is used only if the overrides do not contradict it.
    """
    if not overrides:
        return found
    is_same = all(getattr(found, name) == getattr(plan, name) for name in _EFFECT) and found.key in {plan.key, None}
    if not is_same and any(overrides[name] != getattr(found, name) for name in (*_EFFECT, "key") if name in overrides):
        return plan
    kept = {name: getattr(plan, name) for name in overrides} if is_same else resolve_overrides(found, overrides)
    judgement = (found.confidence, found.reasons)
    confidence, reasons = judgement if found.reasons[:1] == (DECLARED,) else judge_declared(*judgement, overrides)
    return replace(found, **{**kept, "confidence": confidence, "reasons": reasons})
