"""Answer the tools that log in, log out, and show who is logged in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcp_sim.backends.auth.session import (
    CURRENT,
    FLAGS,
    SECRETS,
    credentials_of,
    is_logged_in,
    log_in,
    log_out,
    user_of,
)
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Operate, Outcome, compile_answer, done
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.types import Change, Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.kinds import Answer
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan

_NAMES: Names = {
    "is_in": ("login_status", "status", *FLAGS, "valid", "active", "is_active"),
    "user": ("username", "user_name", "user_id", "email", "login", *CURRENT),
    "done": ("success", "login_status", "logout_status", "authentication_status", "status"),
}
_NOT_LOGGED_IN = "No user is currently logged in."
_CALLED = ("username", "email", "login", "name", "user_id")


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Return the function that answers the calls of a tool for its session."""
    return compile_answer(tool, domain, _OPERATIONS[plan.operation](tool, plan), _NAMES)


def login(tool: Tool, plan: Plan) -> Operate:
    """Log in with known credentials; with any if none are known."""
    names = dict(plan.arguments)
    shown = frozenset(snake(name) for name in properties(tool.output_schema or {}))

    def operate(turn: Turn) -> Outcome:
        record = _session(turn, plan)
        user, secret = (turn.call.arguments.get(names.get(role, "")) for role in ("user", "secret"))
        _check(turn, plan, record, user, secret)
        session = log_in(record, user, turn, shown)
        facts = {name: value for name, value in session.items() if name not in SECRETS or name in shown}
        facts |= {"token_type": session.get("token_type", "Bearer"), "user": user, "done": True}
        facts |= {"expires_in": session.get("token_expires_in", 3600)}
        return done(f"User {user!r} logged in successfully.", _put(turn, plan, session), **facts)

    return operate


def logout(tool: Tool, plan: Plan) -> Operate:
    """Log out. Without a login this is an error, or a flag if the result has a boolean."""
    returns_flag = any(main_type(part) == "boolean" for part in properties(tool.output_schema or {}).values())

    def operate(turn: Turn) -> Outcome:
        record = _session(turn, plan)
        if is_logged_in(record):
            return Outcome(
                "Logged out successfully", {"done": True}, "done", changes=(_put(turn, plan, log_out(record)),)
            )
        if not returns_flag:
            raise Refused("unauthorized", _NOT_LOGGED_IN)
        return Outcome(_NOT_LOGGED_IN, {"done": False}, "done")

    return operate


def status(_tool: Tool, plan: Plan) -> Operate:
    """Return whether someone is logged in."""

    def operate(turn: Turn) -> Outcome:
        record = _session(turn, plan)
        is_in, user = is_logged_in(record), user_of(record)
        text = "Not logged in" if not is_in else "Logged in" if user is None else f"Logged in as {user}"
        return Outcome(text, {"is_in": is_in, "user": user}, "is_in")

    return operate


def who(_tool: Tool, plan: Plan) -> Operate:
    """Return who is logged in."""

    def operate(turn: Turn) -> Outcome:
        record = _session(turn, plan)
        if not is_logged_in(record):
            raise Refused("unauthorized", _NOT_LOGGED_IN)
        shown = {name: value for name, value in record.items() if name not in SECRETS and "token" not in name}
        return Outcome(str(user_of(record)), {"user": user_of(record), **shown}, is_json=True)

    return operate


_OPERATIONS: Mapping[str, Callable[[Tool, Plan], Operate]] = {
    "login": login, "logout": logout, "status": status, "who": who,
}  # fmt: skip


def _session(turn: Turn, plan: Plan) -> Record:
    return turn.view.get(plan.entity or "", plan.entity or "") or {}


def _put(turn: Turn, plan: Plan, record: Record) -> Change:
    name = plan.entity or ""
    return Change("put", name, name, record, expected=turn.view.version(name, name))


def _check(turn: Turn, plan: Plan, record: Record, user: Json, secret: Json) -> None:
    """Raise `Refused` if the given state does not accept these credentials."""
    if user in (None, "") and secret in (None, ""):
        raise Refused("unauthorized", "Credentials are required")
    pair, table = credentials_of(record), plan.fixed.get("users")
    if pair is not None and (str(record[pair[0]]), str(record[pair[1]])) != (str(user), str(secret)):
        raise Refused("unauthorized", "Invalid username or password", user=user)
    if pair is None and isinstance(table, str):
        _check_user(turn, table, user, secret)


def _check_user(turn: Turn, table: str, user: Json, secret: Json) -> None:
    entity = _entity_of(turn, table)
    found = next((row for key, row in turn.view.rows(entity) if _is_user(key, row, user)), None)
    if found is None and turn.view.count(entity):
        raise Refused("not_found", f"User {user!r} not found", key=user, user=user)
    if (found or {}).get("password") not in (None, secret):
        raise Refused("unauthorized", "Invalid username or password", user=user)


def _entity_of(turn: Turn, table: str) -> str:
    known = turn.view.entities()
    return next((name for name in (table, table.removesuffix("s"), "user") if name in known), "user")


def _is_user(key: Any, row: Record, user: Json) -> bool:
    return str(user) in {str(key), *(str(row[name]) for name in _CALLED if name in row)}
