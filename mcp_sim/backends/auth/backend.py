"""Backend for tools that log in and out and show who is logged in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.backends.auth.matching import match_sessions, match_tool, session_part
from mcp_sim.backends.auth.session import initial_session
from mcp_sim.backends.matching.scopes import scopes
from mcp_sim.backends.matching.tool_profiles import profiles_of_tools
from mcp_sim.types import Key, Record, Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, Tables, backends
from mcp_sim.types.plans import Plan


@backends.register("auth")
class Auth(Backend):
    """Login, logout, and login status.

    Each login tool has its own session, a singleton with `current_user`. Credentials of the given state are checked;
    without any, all credentials are accepted. A tool belongs to the login that is closest by name or by the beginning
    of its description.
    """

    order = 100

    def match(self, evidence: ServerEvidence) -> Match | None:
        profiles = evidence.once(profiles_of_tools)
        found = [one for profile in profiles if (one := match_tool(profile)) is not None]
        logins = [one for one in found if one.operation == "login"]
        logouts = [one for one in found if one.operation == "logout"]
        if not logins and not logouts:
            return None
        places = [scope for scope in scopes(evidence.state) if session_part(scope.body)]
        if not logins and not places:
            return None
        return match_sessions(evidence, found, logins or logouts, places)

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Return the tables with the initial sessions. No one is logged in, unless the given state has a user."""
        started: dict[str, Mapping[Key, Record]] = dict(tables)
        for name in dict.fromkeys(plan.entity or "" for plan in plans):
            started[name] = {name: initial_session(tables.get(name, {}).get(name, {}))}
        return started

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.auth.answer import answer

        return answer(tool, plan, domain)
