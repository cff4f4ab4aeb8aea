"""Overrides of plans from specs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from mcp_sim.types.plans import Plan

_NOT_EFFECTS = frozenset({"login", "within"})
"""Overrides about the caller or about wrapped arguments, not about the effect of a tool."""

DECLARED = "declared in the spec"


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
