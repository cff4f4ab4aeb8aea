"""Backend for tools that log in and out and show who is logged in."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from mcp_sim.backends.auth.sessions import CURRENT, FLAGS, SECRETS, SESSION, USERS, given_sessions, without
from mcp_sim.backends.given import Given, Sought, is_named, take_given
from mcp_sim.backends.matching.matched_tools import MatchedTool, both, either, takes
from mcp_sim.backends.matching.tool_profiles import ToolProfile, contains_phrase
from mcp_sim.backends.operation import Names, Operation, Test, read_names, role
from mcp_sim.backends.operations_backend import OperationsBackend
from mcp_sim.backends.request import Binding
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.json_schema.shapes import main_type, properties, schema_of
from mcp_sim.types.kinds import Match, ServerEvidence, Tables, backends
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.plans import Plan

_WORDS = read_names(__name__)
_LOGINS = (("login",), ("log", "in"), ("signin",), ("sign", "in"), ("logon",), ("authenticate",))
_LOGOUTS = (("logout",), ("log", "out"), ("signout",), ("sign", "out"), ("logoff",))
_WHO = (("current", "user"), ("who", "am", "i"), ("whoami",))
_STATES = _WORDS.terms("state")
_ABOUT = _WORDS.terms("about")
_COMMON = _STATES | _ABOUT | {"log", "in", "authenticate"}
_NO_LOGIN = _STATES | _WORDS.terms("no_login")
_SHOWN = frozenset({*USERS, *CURRENT, "id", "result", "message", "logged_in"})
"""What the result of a tool that shows who is logged in may have."""
_SHARED_WORD = 20
"""The weight of a shared word of two names, in characters of a common beginning of descriptions."""

_CREDENTIALS = Entity("credential", "username", natural=True)
_PASSWORDS = Sought(_CREDENTIALS.name, _CREDENTIALS.key, frozenset({"credential", "password"}), "password")

_USER, _SECRET = role("user", " ".join(USERS), optional=True), role("secret", " ".join(SECRETS), optional=True)


def _says(phrases: Sequence[Sequence[str]]) -> Test:
    return lambda profile: any(contains_phrase(phrase, profile.words) for phrase in phrases)


def _asks_state(profile: ToolProfile) -> bool:
    named = set(profile.words)
    return bool(named & _STATES and named & _ABOUT) and not profile.needed and len(named - _STATES - _ABOUT) <= 3


def _asks_user(profile: ToolProfile) -> bool:
    return not profile.needed and len(profile.words) <= 4 and _SHOWN.issuperset(map(snake, properties(profile.output)))


@backends.register("auth")
class Auth(OperationsBackend):
    """Login, logout, and login status.

    Each login tool has its own session, a singleton with `current_user`. Credentials of the given state are checked:
    those of the session, or those of users; without any, all credentials are accepted. A tool belongs to the login that
    is closest by name or by the beginning of its description.
    """

    order = 100
    request = "operations:AuthRequest"
    operations = (
        Operation("logout", "operations:logout", "update", means=_says(_LOGOUTS)),
        Operation("status", "operations:status", "get", means=_asks_state),
        Operation("who", "operations:who", "get", means=both(_says(_WHO), _asks_user)),
        Operation("login", "operations:login", "update", (_USER, _SECRET),
                  means=both(_says(_LOGINS), either(takes(_USER), takes(_SECRET)),
                             lambda profile: _NO_LOGIN.isdisjoint(profile.words))),
    )  # fmt: skip
    entities = (Entity(SESSION, SESSION, singleton=True),)
    names: ClassVar[Names] = {
        "is_in": ("login_status", "status", *FLAGS, "valid", "active", "is_active"),
        "user": ("username", "user_name", "user_id", "email", "login", *CURRENT),
        "done": ("success", "login_status", "logout_status", "authentication_status", "status"),
    }
    idle = _WORDS.terms("idle")

    # matching

    def match(self, evidence: ServerEvidence) -> Match | None:
        """Match servers with a login, or with a session in the given state."""
        found = super().match(evidence)
        if found is None:
            return None
        logs_in = any(part.operation == "login" for plan in found.plans for part in plan.variants)
        is_meant = logs_in or found.records or evidence.declared(self.name)
        return replace(found, entities=list(_with_fields(found))) if is_meant else None

    def accepts(self, found: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
        """Accept the tools of a server that logs in or out. Each belongs to the session of the closest login."""
        logins = _logins(found)
        return [replace(one, entity=_session_of(one, logins)) for one in found if logins]

    def entities_for(self, matched: Sequence[MatchedTool]) -> Sequence[Entity]:
        """Return one entity per session."""
        return [Entity(name, name, singleton=True) for name in dict.fromkeys(one.entity or SESSION for one in matched)]

    def given(
        self, state: Json, matched: Sequence[MatchedTool], entities: Sequence[Entity], *, is_whole: bool
    ) -> Given:
        """Return the session of each login, the only one in the state or the one that its words name, and passwords."""
        known, logins, rest = list(given_sessions(state)), _logins(matched), state
        pairs = [(_named(login.profile, one[0]), login.entity or SESSION, *one) for login in logins for one in known]
        records, taken = dict[str, Sequence[Record]](), set[tuple[str, ...]]()
        for shared, entity, path, session in sorted(pairs, key=lambda pair: -pair[0]):
            if (shared or len(pairs) == 1) and entity not in records and path not in taken:
                records[entity] = [session]
                taken.add(path)
                rest = without(rest, path, session)
        passwords = take_given(rest, [_PASSWORDS])
        return Given(records | {name: rows for name, rows in passwords.records.items() if rows}, passwords.rest)

    # answering

    def initial(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Return the tables with the initial sessions. No one is logged in, unless the given state has a user."""
        started: dict[str, Mapping[Key, Record]] = dict(tables)
        for name in dict.fromkeys(plan.entity or SESSION for plan in plans):
            record = tables.get(name, {}).get(name, {})
            is_known = any(one in record for one in CURRENT)
            started[name] = {name: record if is_known else {**record, "current_user": None}}
        return started

    def reads(self, plan: Plan, domain: Domain) -> Collection[str]:
        users = self._users(plan.entity or SESSION, domain)
        return () if users is None else (users,)

    def prepare(self, binding: Binding, domain: Domain) -> str | None:
        """Return the entity of the given users of the session."""
        return self._users(binding.entity, domain)

    def _users(self, session: str, domain: Domain) -> str | None:
        """Return the entity of the given users of a session. Of several sessions, each has the users of its name."""
        sessions = {plan.entity for plan in domain.plans.values() if plan.backend == self.name}
        own = set(words(session)) - {SESSION}
        tables = (one for name, one in domain.entities.items() if name in domain.given and not one.singleton)
        users = (one.name for one in tables if is_named(one.name, {"user"}) or "password" in one.fields)
        return next((name for name in users if len(sessions) == 1 or own.intersection(words(name))), None)


def _logins(matched: Sequence[MatchedTool]) -> list[MatchedTool]:
    """Return the tools that log in; if there are none, those that log out."""
    logins = [one for one in matched if one.name == "login"]
    return logins or [one for one in matched if one.name == "logout"]


def _session_of(one: MatchedTool, logins: Sequence[MatchedTool]) -> str:
    """Return the session of a tool: that of the login that it is, or else of the closest one."""
    if len(logins) == 1:
        return SESSION
    is_login = any(one is login for login in logins)
    login = one if is_login else max(logins, key=lambda login: _likeness(one.profile, login.profile))
    own = [word for word in login.profile.words if not any(word in phrase for phrase in (*_LOGINS, *_LOGOUTS))]
    return "_".join((*(own or [login.profile.tool.id]), SESSION))


def _likeness(one: ToolProfile, login: ToolProfile) -> int:
    """Return how much a tool is like a login: by shared words of the names, and the beginning of the descriptions."""
    shared = set(one.words) & set(login.words) - _COMMON
    pairs = enumerate(zip(one.description, login.description, strict=False))
    shorter = min(len(one.description), len(login.description))
    return _SHARED_WORD * len(shared) + next((at for at, (sign, other) in pairs if sign != other), shorter)


def _named(profile: ToolProfile, path: Sequence[str]) -> int:
    """Return how many words of a tool's name (counted three times) and description are in the path of a session."""
    named = {word for part in path for word in words(part) if len(word) > 3}
    return 3 * len(named.intersection(profile.words)) + len(named & profile.description_words)


def _with_fields(found: Match) -> Iterator[Entity]:
    """Yield the entities with the fields of their given records; those of users only if there are any."""
    for entity in (*found.entities, _CREDENTIALS):
        rows = found.records.get(entity.name, ())
        types = {name: main_type(schema_of(value)) or "string" for name, value in (rows[0] if rows else {}).items()}
        fields = {name: Field(name, {"type": [kind, "null"]}) for name, kind in types.items()}
        if rows or entity is not _CREDENTIALS:
            yield replace(entity, fields=fields)
