"""Operations on a session."""

from __future__ import annotations

from mcp_sim.backends.auth.session import NOT_LOGGED_IN, SECRETS, AuthRequest
from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Record
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.lexicon.english import snake


def login(request: AuthRequest) -> Outcome:
    """Log in a `user` with a `secret`. Any credentials are accepted if the world knows none.

    Raises `Refused` if no credentials are given, the user is unknown, or the secret is wrong.
    """
    user, secret = request.get("user"), request.get("secret")
    request.check_credentials(user, secret)
    shown = frozenset(map(snake, _results(request)))
    session = request.log_in(user, shown)
    facts = {name: value for name, value in session.items() if name not in SECRETS or name in shown}
    facts |= {"token_type": session.get("token_type", "Bearer"), "user": user, "done": True}
    facts |= {"expires_in": session.get("token_expires_in", 3600)}
    return done(f"User {user!r} logged in successfully.", **facts)


def logout(request: AuthRequest) -> Outcome:
    """Log out. Raises `Refused` if no one is logged in, unless the result of the tool is a flag."""
    if request.is_logged_in:
        request.log_out()
        return Outcome("Logged out successfully", {"done": True}, "done")
    if not any(main_type(part) == "boolean" for part in _results(request).values()):
        raise Refused("unauthorized", NOT_LOGGED_IN)
    return Outcome(NOT_LOGGED_IN, {"done": False}, "done")


def status(request: AuthRequest) -> Outcome:
    """Return whether someone is logged in."""
    is_in, user = request.is_logged_in, request.user
    text = "Not logged in" if not is_in else "Logged in" if user is None else f"Logged in as {user}"
    return Outcome(text, {"is_in": is_in, "user": user}, "is_in")


def who(request: AuthRequest) -> Outcome:
    """Return who is logged in. Raises `Refused` if no one is."""
    if not request.is_logged_in:
        raise Refused("unauthorized", NOT_LOGGED_IN)
    hidden = {name for name in request.session if name in SECRETS or "token" in name}
    shown = {name: value for name, value in request.session.items() if name not in hidden}
    return Outcome(str(request.user), {"user": request.user, **shown}, is_json=True)


def _results(request: AuthRequest) -> dict[str, Record]:
    """Return the properties of the tool's results."""
    return properties(request.tool.output_schema or {}) if request.tool is not None else {}
