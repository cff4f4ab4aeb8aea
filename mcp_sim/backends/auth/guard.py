"""Find the tools that require a login."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_sim.backends.auth.backend import ALIKE, likeness
from mcp_sim.backends.auth.sessions import CURRENT, FLAGS
from mcp_sim.backends.matching.tool_profiles import MAX_DESCRIPTION, ToolProfile, profiles_of_tools
from mcp_sim.types import Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.plans import Plan

_REQUIRES_LOGIN = re.compile(
    r"\b(requires?|needs?|must|only (for|to|when|if|available))\b[^.;]{0,40}"
    r"\b(log(ged)?[ -]?in|login|authenticat\w+|signed in|active session)\b"
    r"|\b(log(ged)?[ -]?in|login|authentication|sign(ed)? in)\b[^.;]{0,20}\b(required|needed)\b"
    r"|\b(log[ -]?in|login|authenticate|sign in)\b[^.;]{0,20}\b(first|before)\b"
    r"|\bfor (a |the )?(logged-in|authenticated) users?\b",
    re.IGNORECASE,
)
_REQUIRES_NO_LOGIN = re.compile(
    r"\b(no|not|without|never|n't)\b[^.;]{0,20}\b(log(ged)?[ -]?in|login|authenticat\w+|requir\w+|need\w*)\b",
    re.IGNORECASE,
)
"""Mentions of a login that is not required."""
_WRITES = frozenset({"create", "update", "delete"})
_HARMLESS = frozenset({"compute", "none"})
_WITHOUT_LOGIN = frozenset({"auth", "messages"})
"""Backends whose tools have their own way of knowing the user."""
_LISTS = frozenset({"append", "remove"})
"""Changes of a user's own list, such as a watch list, often need no login."""


def require_logins(
    plans: Mapping[str, Plan], tools: Mapping[str, Tool], entities: Mapping[str, Entity]
) -> Mapping[str, Plan]:
    """Return the plans, with the login that each of them requires.

    A tool requires a login if its description says so, or if it writes and the given state has a login status. Among
    several logins, that of the same service is required.
    """
    own = {name: plan for name, plan in plans.items() if plan.backend == "auth"}
    names = [name for name, plan in own.items() if any(part.operation == "login" for part in plan.variants)]
    if not names:
        return plans
    profiles = {one.tool.id: one for one in profiles_of_tools(tools.values())}
    logins = [(profiles[name], own[name]) for name in names]
    return {name: _with_login(plan, profiles[name], logins, entities) for name, plan in plans.items()}


def _with_login(
    plan: Plan, profile: ToolProfile, logins: Sequence[tuple[ToolProfile, Plan]], entities: Mapping[str, Entity]
) -> Plan:
    login = _login_of(profile, logins)
    if login is None or plan.backend in _WITHOUT_LOGIN or plan.verb in _HARMLESS:
        return plan
    session = entities[login.entity or ""]
    proof = next((name for name in (*FLAGS, *CURRENT) if name in session.fields), None)
    writes = plan.verb in _WRITES and _LISTS.isdisjoint(plan.how.values())
    is_required = _requires_login(profile.description[:MAX_DESCRIPTION]) or (proof is not None and writes)
    return replace(plan, login=f"{session.name}.{proof or 'current_user'}") if is_required else plan


def _requires_login(description: str) -> bool:
    sentences = (one for one in description.split(".") if _REQUIRES_LOGIN.search(one))
    return any(not _REQUIRES_NO_LOGIN.search(one) for one in sentences)


def _login_of(profile: ToolProfile, logins: Sequence[tuple[ToolProfile, Plan]]) -> Plan | None:
    """Return the login of the service that a tool belongs to; if there is only one, that one."""
    ranked = [(likeness(profile, login), plan) for login, plan in logins if login.tool.server == profile.tool.server]
    most, closest = max(ranked, key=lambda one: one[0], default=(0, None))
    return closest if most >= ALIKE or len(ranked) == 1 else None
