"""Overrides of plans from specs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from mcp_sim.types.plans import Plan

_EFFECTS = frozenset({"verb", "entity", "backend", "operation", "key", "sets", "fixed", "filters", "choices", "each"})


def declares_effect(overrides: Collection[str]) -> bool:
    """Whether a spec declares what a tool does, and not only how it pages or where its result shows something."""
    return not _EFFECTS.isdisjoint(overrides)


def resolve_overrides(plan: Plan, overrides: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the overrides of a plan.

    An argument declared as a filter is not the key, unless that is declared too.
    """
    is_filter = "key" not in overrides and plan.key in overrides.get("filters", {})
    return {**overrides, "key": None} if is_filter else overrides
