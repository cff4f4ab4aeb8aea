"""Tools that log a user in and out, and tell who is logged in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mcp_sim.claiming.computed import plan_of
from mcp_sim.claiming.scopes import Scope, common_beginning, kinship, scopes, without
from mcp_sim.claiming.tellings import telling
from mcp_sim.claiming.traits import Traits, traits_of, within
from mcp_sim.domain import Domain, Entity, Field, Plan
from mcp_sim.extensions import Answer, Behaviour, Claims, Invent, Survey, Tables, behaviours
from mcp_sim.schemas import as_list, as_object, main_type, properties, schema_of
from mcp_sim.types import Change, Json, Key, Record, Tool, Transition, Turn
from mcp_sim.words import snake, vocabulary

_LOGINS = (("login",), ("log", "in"), ("signin",), ("sign", "in"), ("logon",), ("authenticate",))
_LOGOUTS = (("logout",), ("log", "out"), ("signout",), ("sign", "out"), ("logoff",))
_STATES = vocabulary("status state check is verify logged authenticated")
_ABOUT = vocabulary("login auth authentication session logged signed authenticated")
_USERS = ("username", "user_name", "user_id", "email", "email_address", "user", "login", "account", "account_id",
          "phone", "phone_number", "client_id", "name")  # fmt: skip
_SECRETS = vocabulary("password passwd pass passcode pin secret client_secret api_key token refresh_token access_key")
_BESIDE = vocabulary("grant_type scope remember remember_me user_first_name user_last_name first_name last_name domain")
_NO_LOGIN = _STATES | vocabulary("history attempts attempt list get url link page config")
_FLAGS = ("authenticated", "is_authenticated", "logged_in", "is_logged_in")
_CURRENT = ("current_user", "current_user_id", "logged_in_user", "active_user", "current_username")
_KEPT = frozenset({*_FLAGS, *_CURRENT, "access_token", "token_type", "token_expires_in", "token_scope", "session_id",
                   "user_first_name", "user_last_name"})  # fmt: skip
_CREDENTIALS = (("username", "password"), ("email", "password"), ("user_id", "password"), ("username", "pin"))


@dataclass(frozen=True, slots=True)
class _Found:
    """A tool of sessions: what it does, and the arguments that matter."""

    traits: Traits
    operation: str
    arguments: Mapping[str, str]
    reason: str


@behaviours.register("sessions")
class Sessions(Behaviour):
    """Login, logout, whether somebody is logged in, and who.

    Each login is a session of its own, a singleton with `current_user`. Credentials that the given state holds are
    checked; where it holds none, whoever gives some is let in. A tool belongs to the login that its name or the
    beginning of its description speaks of.
    """

    def claims(self, survey: Survey) -> Claims | None:
        found = [one for traits in traits_of(survey.tools) if (one := _recognised(traits)) is not None]
        logins = [one for one in found if one.operation == "login"]
        places = [scope for scope in scopes(survey.state) if _session_part(scope.body)]
        if not logins and not (places and any(one.operation == "logout" for one in found)):
            return None
        return _claimed(survey, found, logins or [one for one in found if one.operation == "logout"], places)

    def completed(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Nobody is logged in, where nothing says who is."""
        names = dict.fromkeys(plan.entity or "" for plan in plans)
        begun: dict[str, Mapping[Key, Record]] = dict(tables)
        for name in names:
            begun[name] = {name: _begun(tables.get(name, {}).get(name, {}))}
        return begun

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        return _COMPILED[plan.operation](tool, plan, domain)


# recognition ----------------------------------------------------------------------------------------------------------


def _recognised(traits: Traits) -> _Found | None:
    user = traits.argument(_USERS)
    secret = traits.argument(_SECRETS)
    stray = {name for name in traits.required if snake(name) not in {*_USERS, *_SECRETS, *_BESIDE}}
    arguments = {role: name for role, name in (("user", user), ("secret", secret)) if name is not None}
    if any(within(phrase, traits.words) for phrase in _LOGOUTS) and not stray:
        return _Found(traits, "logout", {}, "ends a session")
    if _is_question(traits):
        return _Found(traits, "status", {}, "asks whether somebody is logged in")
    if _asks_who(traits):
        return _Found(traits, "who", {}, "asks who is logged in")
    named = any(within(phrase, traits.words) for phrase in _LOGINS)
    if named and arguments and not stray and not _NO_LOGIN.intersection(traits.words):
        return _Found(traits, "login", arguments, f"logs in with {' and '.join(arguments.values())}")
    return None


def _is_question(traits: Traits) -> bool:
    named = set(traits.words)
    return bool(named & _STATES and named & _ABOUT) and not traits.required and len(named - _STATES - _ABOUT) <= 3


def _asks_who(traits: Traits) -> bool:
    declared = {snake(name) for name in properties(traits.output)}
    if declared - {*_USERS, *_CURRENT, "id", "result", "message", "logged_in"}:
        return False
    asked = (
        within(("current", "user"), traits.words)
        or within(("who", "am", "i"), traits.words)
        or "whoami" in traits.words
    )
    return asked and not traits.required and len(traits.words) <= 4


def _claimed(survey: Survey, found: list[_Found], logins: list[_Found], places: list[Scope]) -> Claims:
    """Each tool under the session of its login; who is asked about only where a login is sure."""
    names = {login.traits.id: _session_name(login, logins) for login in logins}
    homes = {login.traits.id: _home(login, logins, places) for login in logins}
    plans: list[Plan] = []
    for one in found:
        login = one if one in logins else max(logins, key=lambda other: _nearness(one, other))
        plans.append(_plan(one, names[login.traits.id], homes[login.traits.id]))
    entities: dict[str, Entity] = {}
    records: dict[str, list[Record]] = {}
    state = survey.state
    for login in logins:
        name, home = names[login.traits.id], homes[login.traits.id]
        body = _session_part(home.body) if home is not None else {}
        entities[name] = Entity(name, name, fields=_fields(body), singleton=True)
        if home is not None:
            records[name] = [body]
            state = without(state, home.path, body.keys())
    return Claims(plans, [*entities.values()], records, state)


def _session_name(login: _Found, logins: list[_Found]) -> str:
    if len(logins) == 1:
        return "session"
    own = [word for word in login.traits.words if not any(word in phrase for phrase in (*_LOGINS, *_LOGOUTS))]
    return "_".join((*(own or [login.traits.id]), "session"))


def _home(login: _Found, logins: list[_Found], places: list[Scope]) -> Scope | None:
    """The part of the state that holds the session of a login: by name, or the only one there is."""
    if len(logins) == 1 and len(places) == 1:
        return places[0]
    ranked = sorted(places, key=lambda scope: -kinship(login.traits, scope))
    best = next(iter(ranked), None)
    return best if best is not None and kinship(login.traits, best) else None


def _nearness(one: _Found, login: _Found) -> tuple[int, int]:
    shared = set(one.traits.words) & set(login.traits.words) - _ABOUT - _STATES
    return len(shared), common_beginning(one.traits.tool.description, login.traits.tool.description)


def _plan(one: _Found, entity: str, home: Scope | None) -> Plan:
    verb = "update" if one.operation in {"login", "logout"} else "get"
    users = next((snake(name) for name, part in (home.body if home else {}).items() if _is_users(name, part)), None)
    fixed: Record = {"users": users} if users is not None and one.operation == "login" else {}
    made = plan_of(one.traits, one.operation, "sessions", one.arguments, 0.85, (one.reason,), verb=verb, entity=entity)
    return replace(made, fixed=fixed)


def _is_users(name: str, part: Json) -> bool:
    return bool(as_object(part) or as_list(part)) and "user" in snake(name)


def _session_part(body: Record) -> Record:
    """What of an object is about a session: who is logged in, flags, tokens, credentials."""
    kept = {name: value for name, value in body.items() if snake(name) in _KEPT and not isinstance(value, dict | list)}
    pair = next((pair for pair in _CREDENTIALS if all(isinstance(body.get(name), str) for name in pair)), ())
    return {**kept, **{name: body[name] for name in pair}}


def _fields(body: Record) -> dict[str, Field]:
    known = {name: _nullable(schema_of(value)) for name, value in body.items()}
    return {name: Field(name, schema) for name, schema in known.items()}


def _nullable(schema: Record) -> Record:
    return {"type": [main_type(schema) or "string", "null"]}


def _begun(record: Record) -> Record:
    return record if any(name in record for name in _CURRENT) else {**record, "current_user": None}


# answers --------------------------------------------------------------------------------------------------------------


def logged_in(record: Record) -> bool:
    """Is somebody logged in?"""
    flags = [record[name] for name in _FLAGS if name in record]
    return bool(flags[0]) if flags else bool(_user(record) or record.get("access_token"))


def _user(record: Record) -> Json:
    return next((record[name] for name in _CURRENT if record.get(name) is not None), None)


def _session(turn: Turn, plan: Plan) -> Record:
    return turn.view.get(plan.entity or "", plan.entity or "") or {}


def _put(turn: Turn, plan: Plan, record: Record) -> tuple[Change, ...]:
    name = plan.entity or ""
    return (Change("put", name, name, record, expected=turn.view.version(name, name)),)


def _login(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain)
    names = dict(plan.arguments)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        called, record = turn.call.arguments, _session(turn, plan)
        user, secret = called.get(names.get("user", "")), called.get(names.get("secret", ""))
        problem = _refusal(turn, plan, record, user, secret)
        if problem is not None:
            kind, sentence = problem
            return Transition(tool.failure(kind, sentence, user=user, **called))
        begun = _logged_in(record, user, _token(turn), properties(tool.output_schema or {}))
        told = {**{name: value for name, value in begun.items() if name not in _SECRETS}, **_told(user, begun)}
        return Transition(tell(turn, True, told), _put(turn, plan, begun))

    return answer


def _refusal(turn: Turn, plan: Plan, record: Record, user: Json, secret: Json) -> tuple[str, str] | None:
    """Why nobody is let in with these, as the given state has it; None where they may come in."""
    pair = next((pair for pair in _CREDENTIALS if all(name in record for name in pair)), None)
    if user in (None, "") and secret in (None, ""):
        return "unauthorized", "Credentials are required"
    if pair is not None and (str(record[pair[0]]), str(record[pair[1]])) != (str(user), str(secret)):
        return "unauthorized", "Invalid username or password"
    table = plan.fixed.get("users")
    if pair is not None or not isinstance(table, str):
        return None
    found = next((row for key, row in _directory(turn, table) if _is_called(key, row, user)), None)
    if found is None and turn.view.count(_entity_of(turn, table)):
        return "not_found", f"User {user!r} not found"
    password = (found or {}).get("password")
    return ("unauthorized", "Invalid username or password") if password not in (None, secret) else None


def _entity_of(turn: Turn, table: str) -> str:
    known = turn.view.entities()
    return next((name for name in (table, table.removesuffix("s"), "user") if name in known), "user")


def _directory(turn: Turn, table: str) -> Iterator[tuple[Any, Record]]:
    yield from turn.view.rows(_entity_of(turn, table))


def _is_called(key: Any, row: Record, user: Json) -> bool:
    return str(user) in {
        str(key),
        *(str(row[name]) for name in ("username", "email", "login", "name", "user_id") if name in row),
    }


def _token(turn: Turn) -> str:
    return "".join(f"{int(turn.draws.unit(f'token/{part}') * 2**32):08x}" for part in range(4))


def _logged_in(record: Record, user: Json, token: str, shown: Mapping[str, Any]) -> Record:
    """The session once somebody is in; with a token where one is shown, or was there before."""
    current = next((name for name in _CURRENT if name in record), "current_user")
    begun = {**record, current: user, **{name: True for name in _FLAGS if name in record}}
    tokens = [name for name in ("access_token", "token", "session_token") if name in shown or name in record]
    return {**begun, **dict.fromkeys(tokens, token)}


def _told(user: Json, begun: Record) -> Record:
    return {
        "message": f"User {user!r} logged in successfully.",
        "token_type": begun.get("token_type", "Bearer"),
        "expires_in": begun.get("token_expires_in", 3600),
        "user": user,
        "username": user,
        "user_id": user,
    }


def _logout(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain)
    says_so = any(main_type(part) == "boolean" for part in properties(tool.output_schema or {}).values())

    def answer(turn: Turn, _invent: Invent) -> Transition:
        record = _session(turn, plan)
        if not logged_in(record):
            if says_so:
                return Transition(tell(turn, False, {"message": "No user is currently logged in."}))
            return Transition(tool.failure("unauthorized", "No user is currently logged in.", **turn.call.arguments))
        ended = {
            name: False if name in _FLAGS else None if name in {*_CURRENT, "access_token", "token"} else value
            for name, value in record.items()
        }
        return Transition(tell(turn, True, {"message": "Logged out successfully"}), _put(turn, plan, ended))

    return answer


def _status(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        record = _session(turn, plan)
        is_in, user = logged_in(record), _user(record)
        sentence = (f"Logged in as {user}" if user is not None else "Logged in") if is_in else "Not logged in"
        return Transition(
            tell(turn, is_in, {"message": sentence, "current_user": user, "user": user, "username": user})
        )

    return answer


def _who(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    tell = telling(tool, domain)

    def answer(turn: Turn, _invent: Invent) -> Transition:
        record = _session(turn, plan)
        if not logged_in(record):
            return Transition(tool.failure("unauthorized", "No user is currently logged in.", **turn.call.arguments))
        shown = {name: value for name, value in record.items() if name not in _SECRETS and "token" not in name}
        user = _user(record)
        named = dict.fromkeys(("username", "user", "user_id", "email"), user) if tool.output_schema is not None else {}
        return Transition(tell(turn, {**named, **shown}, {}))

    return answer


_COMPILED: Mapping[str, Callable[[Tool, Plan, Domain], Answer]] = {
    "login": _login,
    "logout": _logout,
    "status": _status,
    "who": _who,
}
