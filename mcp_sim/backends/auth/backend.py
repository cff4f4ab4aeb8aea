"""Tools that log somebody in and out, and tell who is logged in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.backends.auth.matching import claimed, recognised, session_part
from mcp_sim.backends.auth.session import begun
from mcp_sim.backends.matching.scopes import scopes
from mcp_sim.backends.matching.tool_profiles import whole_purposes
from mcp_sim.types import Key, Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, Tables, backends
from mcp_sim.types.plans import Plan


@backends.register("auth")
class Auth(Backend):
    """Login, logout, whether somebody is logged in, and who.

    Each login is a session of its own, a singleton with `current_user`. Credentials that the given state holds are
    checked; where it holds none, whoever gives some is let in. A tool belongs to the login that its name or the
    beginning of its description speaks of.
    """

    order = 100

    def match(self, evidence: ServerEvidence) -> Match | None:
        purposes = evidence.once(whole_purposes)
        found = [one for purpose in purposes if (one := recognised(purpose)) is not None]
        logins = [one for one in found if one.operation == "login"]
        logouts = [one for one in found if one.operation == "logout"]
        if not logins and not logouts:
            return None
        places = [scope for scope in scopes(evidence.state) if session_part(scope.body)]
        if not logins and not places:
            return None
        return claimed(evidence, found, logins or logouts, places)

    def complete_tables(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Nobody is logged in, where nothing says who is."""
        started: dict[str, Mapping[Key, Record]] = dict(tables)
        for name in dict.fromkeys(plan.entity or "" for plan in plans):
            started[name] = {name: begun(tables.get(name, {}).get(name, {}))}
        return started

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.auth.answer import answer

        return answer(tool, plan, domain)
