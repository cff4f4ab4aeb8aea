"""Match tools that log in, log out, or ask who is logged in, and read the sessions of a given state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mcp_sim.backends.auth.session import CREDENTIALS, CURRENT, FLAGS, SECRETS
from mcp_sim.backends.matching.operations import operation_plan
from mcp_sim.backends.matching.scopes import Scope, common_prefix_length, matching_words, without
from mcp_sim.backends.matching.tool_profiles import ToolProfile, contains_phrase
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object, main_type, properties, schema_of
from mcp_sim.types.kinds import Match, ServerEvidence
from mcp_sim.types.lexicon.english import snake, vocabulary
from mcp_sim.types.plans import Plan

_LOGINS = (("login",), ("log", "in"), ("signin",), ("sign", "in"), ("logon",), ("authenticate",))
_LOGOUTS = (("logout",), ("log", "out"), ("signout",), ("sign", "out"), ("logoff",))
_STATES = vocabulary("status state check is verify logged authenticated")
_ABOUT = vocabulary("login auth authentication session logged signed authenticated")
_USERS = ("username", "user_name", "user_id", "email", "email_address", "user", "login", "account", "account_id",
          "phone", "phone_number", "client_id", "name")  # fmt: skip
_BESIDE = vocabulary("grant_type scope remember remember_me user_first_name user_last_name first_name last_name domain")
_NO_LOGIN = _STATES | vocabulary("history attempts attempt list get url link page config")
_SESSION_FIELDS = frozenset({*FLAGS, *CURRENT, "access_token", "token_type", "token_expires_in", "token_scope",
                            "session_id", "user_first_name", "user_last_name"})  # fmt: skip


@dataclass(frozen=True, slots=True)
class MatchedTool:
    """A tool for sessions: its operation, and role -> argument."""

    profile: ToolProfile
    operation: str
    arguments: Mapping[str, str]
    reason: str


def match_tool(profile: ToolProfile) -> MatchedTool | None:
    """Return the operation of a tool on a session, None if it has none."""
    user = profile.argument(_USERS)
    secret = profile.argument(SECRETS)
    stray = {name for name in profile.needed if snake(name) not in {*_USERS, *SECRETS, *_BESIDE}}
    arguments = {role: name for role, name in (("user", user), ("secret", secret)) if name is not None}
    if any(contains_phrase(phrase, profile.words) for phrase in _LOGOUTS) and not stray:
        return MatchedTool(profile, "logout", {}, "ends a session")
    if _is_question(profile):
        return MatchedTool(profile, "status", {}, "asks whether somebody is logged in")
    if _asks_who(profile):
        return MatchedTool(profile, "who", {}, "asks who is logged in")
    named = any(contains_phrase(phrase, profile.words) for phrase in _LOGINS)
    if named and arguments and not stray and not _NO_LOGIN.intersection(profile.words):
        return MatchedTool(profile, "login", arguments, f"logs in with {' and '.join(arguments.values())}")
    return None


def _is_question(profile: ToolProfile) -> bool:
    named = set(profile.words)
    return bool(named & _STATES and named & _ABOUT) and not profile.needed and len(named - _STATES - _ABOUT) <= 3


def _asks_who(profile: ToolProfile) -> bool:
    declared = {snake(name) for name in properties(profile.output)}
    if declared - {*_USERS, *CURRENT, "id", "result", "message", "logged_in"}:
        return False
    asked = (
        contains_phrase(("current", "user"), profile.words)
        or contains_phrase(("who", "am", "i"), profile.words)
        or "whoami" in profile.words
    )
    return asked and not profile.needed and len(profile.words) <= 4


def match_sessions(
    evidence: ServerEvidence, found: list[MatchedTool], logins: list[MatchedTool], places: list[Scope]
) -> Match:
    """Return the match: each tool belongs to the session of its login."""
    names = {login.profile.tool.id: _session_name(login, logins) for login in logins}
    states = {login.profile.tool.id: _state_of(login, logins, places) for login in logins}
    plans: list[Plan] = []
    for one in found:
        login = one if one in logins else max(logins, key=lambda other: _nearness(one, other))
        plans.append(_plan(one, names[login.profile.tool.id], states[login.profile.tool.id]))
    entities: dict[str, Entity] = {}
    records: dict[str, list[Record]] = {}
    state = evidence.state
    for login in logins:
        name, state_part = names[login.profile.tool.id], states[login.profile.tool.id]
        body = session_part(state_part.body) if state_part is not None else {}
        entities[name] = Entity(name, name, fields=_fields(body), singleton=True)
        if state_part is not None:
            records[name] = [body]
            state = without(state, state_part.path, body.keys())
    return Match(plans, [*entities.values()], records, state)


def _session_name(login: MatchedTool, logins: list[MatchedTool]) -> str:
    if len(logins) == 1:
        return "session"
    own = [word for word in login.profile.words if not any(word in phrase for phrase in (*_LOGINS, *_LOGOUTS))]
    return "_".join((*(own or [login.profile.tool.id]), "session"))


def _state_of(login: MatchedTool, logins: list[MatchedTool], places: list[Scope]) -> Scope | None:
    """Return the part of the state with the session of a login: by name, or the only one."""
    if len(logins) == 1 and len(places) == 1:
        return places[0]
    ranked = sorted(places, key=lambda scope: -matching_words(login.profile, scope))
    best = next(iter(ranked), None)
    return best if best is not None and matching_words(login.profile, best) else None


def _nearness(one: MatchedTool, login: MatchedTool) -> tuple[int, int]:
    shared = set(one.profile.words) & set(login.profile.words) - _ABOUT - _STATES
    return len(shared), common_prefix_length(one.profile.tool.description, login.profile.tool.description)


def _plan(one: MatchedTool, entity: str, state_part: Scope | None) -> Plan:
    verb = "update" if one.operation in {"login", "logout"} else "get"
    users = next(
        (snake(name) for name, part in (state_part.body if state_part else {}).items() if _is_users(name, part)), None
    )
    fixed: Record = {"users": users} if users is not None and one.operation == "login" else {}
    made = operation_plan(
        one.profile, one.operation, "auth", one.arguments, 0.85, (one.reason,), verb=verb, entity=entity
    )
    return replace(made, fixed=fixed)


def _is_users(name: str, part: Json) -> bool:
    return bool(as_object(part) or as_list(part)) and "user" in snake(name)


def session_part(body: Record) -> Record:
    """Return the fields of an object that belong to a session: user, flags, tokens, credentials."""
    kept = {
        name: value
        for name, value in body.items()
        if snake(name) in _SESSION_FIELDS and not isinstance(value, dict | list)
    }
    pair = next((pair for pair in CREDENTIALS if all(isinstance(body.get(name), str) for name in pair)), ())
    return {**kept, **{name: body[name] for name in pair}}


def _fields(body: Record) -> dict[str, Field]:
    known = {name: _nullable(schema_of(value)) for name, value in body.items()}
    return {name: Field(name, schema) for name, schema in known.items()}


def _nullable(schema: Record) -> Record:
    return {"type": [main_type(schema) or "string", "null"]}
