"""What does a spec tell of a tool, and what that is read of it besides still holds?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from mcp_sim.infer.looks import Look
from mcp_sim.types.plans import RECORDLESS, Plan

_DEED = ("verb", "entity", "backend")
"""By these, and by another key, two plans are of different deeds; the others tell how one is done."""

_AROUND = frozenset({"login", "within"})
"""Of whoever calls and of the arguments, which tells nothing of what a tool does."""

SAID = "the spec says so"


def tells_deed(said: Collection[str]) -> bool:
    """Does a spec tell something of what the tool does to records?"""
    return not _AROUND.issuperset(said)


def judged_as_said(confidence: float, reasons: tuple[str, ...], said: Collection[str]) -> tuple[float, tuple[str, ...]]:
    """How sure a plan is of which a spec tells this much; what it does to which entity is sure where that is said."""
    if not tells_deed(said):
        return confidence, reasons
    return (1.0 if {"verb", "entity"} & {*said} else confidence), (SAID, *reasons)


def settled(plan: Plan, said: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is said of a plan; an argument that is said to narrow does not name the record, unless that is said too."""
    is_filter = "key" not in said and plan.key in said.get("filters", {})
    return {**said, "key": None} if is_filter else said


def look_beside(look: Look, found: Look) -> Look:
    """A look after one more reading of the tool; as it was before, where that is at odds with what is said."""
    if found is look or not look.said:
        return found
    said = look.said
    is_other = any(said.get(name, getattr(found, name)) != getattr(found, name) for name in ("verb", "entity"))
    is_kept = said.get("backend") == "records" and found.verb in RECORDLESS
    is_named = found.element is not None and said.get("key", found.element.key) != found.element.key
    if is_other or is_kept or is_named:
        return look
    return replace(found, envelope=look.envelope) if "envelope" in said else found


def plan_beside(plan: Plan, found: Plan, said: Mapping[str, Any]) -> Plan:
    """A plan after one more reading of the tool: the fields that are said stay as they are.

    A reading that makes another deed of it holds only where nothing else is said to be done.
    """
    if not said:
        return found
    is_same = all(getattr(found, name) == getattr(plan, name) for name in _DEED) and found.key in {plan.key, None}
    if not is_same and any(said[name] != getattr(found, name) for name in (*_DEED, "key") if name in said):
        return plan
    kept = {name: getattr(plan, name) for name in said} if is_same else settled(found, said)
    judgement = (found.confidence, found.reasons)
    confidence, reasons = judgement if found.reasons[:1] == (SAID,) else judged_as_said(*judgement, said)
    return replace(found, **{**kept, "confidence": confidence, "reasons": reasons})
