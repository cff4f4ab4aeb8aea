"""Which tools answer only to somebody who is logged in?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from mcp_sim.backends.auth.session import CURRENT, FLAGS
from mcp_sim.backends.matching.scopes import common_beginning
from mcp_sim.backends.matching.tool_profiles import LONGEST_READ, Purpose, whole_purposes
from mcp_sim.types import Tool
from mcp_sim.types.domain import Entity
from mcp_sim.types.plans import Plan

_SAYS_SO = re.compile(
    r"\b(requires?|needs?|must|only (for|to|when|if|available))\b[^.;]{0,40}"
    r"\b(log(ged)?[ -]?in|login|authenticat\w+|signed in|active session)\b"
    r"|\b(log(ged)?[ -]?in|login|authentication|sign(ed)? in)\b[^.;]{0,20}\b(required|needed)\b"
    r"|\b(log[ -]?in|login|authenticate|sign in)\b[^.;]{0,20}\b(first|before)\b"
    r"|\bfor (a |the )?(logged-in|authenticated) users?\b",
    re.IGNORECASE,
)
_SAYS_NOT = re.compile(
    r"\b(no|not|without|never|n't)\b[^.;]{0,20}\b(log(ged)?[ -]?in|login|authenticat\w+|requir\w+|need\w*)\b",
    re.IGNORECASE,
)
"""A login that somebody can do without."""
_WRITES = frozenset({"create", "update", "delete"})
_LISTS = frozenset({"append", "remove"})
"""What is done to a list of one's own, as a watch list, is often open to anybody."""

_ALIKE = 20
"""So many characters must two descriptions share at their beginning to be of one service."""


def with_logins(
    plans: Mapping[str, Plan], tools: Mapping[str, Tool], entities: Mapping[str, Entity]
) -> Mapping[str, Plan]:
    """The plans, and which of them need a login.

    A tool needs one where its description says so, or where it writes and the given state tells that nobody is in yet
    or who is. Of several logins it is that of the same service.
    """
    logins = {name: plan for name, plan in plans.items() if plan.backend == "auth" and plan.operation == "login"}
    if not logins:
        return plans
    purposes = {one.tool.id: one for one in whole_purposes(tools.values())}
    return {
        name: _with_login(plan, purposes[name], [(purposes[one], logins[one]) for one in logins], entities)
        for name, plan in plans.items()
    }


def _with_login(
    plan: Plan, purpose: Purpose, logins: Sequence[tuple[Purpose, Plan]], entities: Mapping[str, Entity]
) -> Plan:
    login = _login_of(purpose, logins)
    if plan.backend in {"auth", "messages"} or plan.verb in {"compute", "none"} or login is None:
        return plan
    session = entities[login.entity or ""]
    proof = next((name for name in (*FLAGS, *CURRENT) if name in session.fields), None)
    if _says_so(purpose.said[:LONGEST_READ]):
        return replace(plan, login=f"{session.name}.{proof or 'current_user'}")
    writes = plan.verb in _WRITES and not _LISTS.intersection(plan.how.values())
    return replace(plan, login=f"{session.name}.{proof}") if proof is not None and writes else plan


def _says_so(said: str) -> bool:
    """Does a sentence say that a login is needed, and not that none is?"""
    sentences = (one for one in said.split(".") if _SAYS_SO.search(one))
    return any(not _SAYS_NOT.search(one) for one in sentences)


def _login_of(purpose: Purpose, logins: Sequence[tuple[Purpose, Plan]]) -> Plan | None:
    """The login of the service that a tool belongs to; the only one there is, whatever they are called."""
    near = [one for one in logins if one[0].tool.server == purpose.tool.server]
    if len(near) == 1:
        return near[0][1]
    alike = [(_kinship(purpose, login), plan) for login, plan in near]
    closest = max(alike, key=lambda one: one[0], default=None)
    return closest[1] if closest is not None and closest[0] >= _ALIKE else None


def _kinship(purpose: Purpose, login: Purpose) -> int:
    shared = set(purpose.words) & set(login.words) - {"login", "log", "in", "authenticate"}
    return common_beginning(purpose.said, login.said) + _ALIKE * len(shared)
