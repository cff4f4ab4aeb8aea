"""Operations on a session."""

from __future__ import annotations

from mcp_sim.backends.auth.sessions import CURRENT, FLAGS, SECRETS, USERS, credentials_of
from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import main_type, properties
from mcp_sim.types.lexicon.english import snake

_NOT_LOGGED_IN = "No user is currently logged in."
_TOKENS = ("access_token", "token", "session_token")


class AuthRequest(Request):
    """A call of an operation on a session. What the backend prepared is the entity of the users, if it is known."""

    @property
    def session(self) -> Record:
        """The session."""
        return self.record(self.entity) or {}

    @property
    def is_logged_in(self) -> bool:
        """Whether someone is logged in."""
        flags = [self.session[name] for name in FLAGS if name in self.session]
        return bool(flags[0]) if flags else bool(self.user or self.session.get("access_token"))

    @property
    def user(self) -> Json:
        """Who is logged in, None if no one is."""
        return next((self.session[name] for name in CURRENT if self.session.get(name) is not None), None)

    @property
    def results(self) -> dict[str, Record]:
        """The properties of the tool's results."""
        return properties(self.tool.output_schema or {}) if self.tool is not None else {}

    def check(self, user: Json, secret: Json) -> None:
        """Raise `Refused` if the session or the users of this world do not accept these credentials."""
        if user in (None, "") and secret in (None, ""):
            raise Refused("unauthorized", "Credentials are required")
        session, pair = self.session, credentials_of(self.session)
        if pair is not None:
            is_right = (session[pair[0]], session[pair[1]]) == (str(user), str(secret))
        else:
            is_right = str(self._known_secret(user, secret)) == str(secret)
        if not is_right:
            raise Refused("unauthorized", "Invalid username or password", user=user)

    def _known_secret(self, user: Json, secret: Json) -> Json:
        """Return the secret of a given user; the one of the call if none is given."""
        users: str | None = self.binding.shared
        if users is None or not self.view.count(users):
            return secret
        for key, row in self.view.rows(users):
            if str(user) in {str(key), *(str(row[name]) for name in USERS if row.get(name) is not None)}:
                return next((row[name] for name in SECRETS if row.get(name) is not None), secret)
        raise Refused("not_found", f"User {user!r} not found", key=user, user=user)


def login(request: AuthRequest) -> Outcome:
    """Log in a `user` with a `secret`, any if the world knows none. Raises `Refused` if they are missing or wrong."""
    user, session, shown = request.get("user"), request.session, set(map(snake, request.results))
    request.check(user, request.get("secret"))
    current = next((name for name in CURRENT if name in session), "current_user")
    tokens = [name for name in _TOKENS if name in shown or name in session]
    token = "".join(f"{int(request.draws.unit(f'token/{part}') * 2**32):08x}" for part in range(4))
    flags = {name: True for name in FLAGS if name in session}
    session = {**session, current: user, **flags, **dict.fromkeys(tokens, token)}
    request.put(request.entity, session)
    facts = {name: value for name, value in session.items() if name not in SECRETS or name in shown}
    facts |= {"token_type": session.get("token_type", "Bearer"), "expires_in": _lifetime(session)}
    return done(f"User {user!r} logged in successfully.", **{**facts, "user": user, "done": True})


def _lifetime(session: Record) -> Json:
    return next((value for name, value in session.items() if name.endswith("expires_in")), 3600)


def logout(request: AuthRequest) -> Outcome:
    """Log out. Raises `Refused` if no one is logged in, unless the result of the tool is a flag."""
    if request.is_logged_in:
        gone = {*CURRENT, *_TOKENS}
        left = {name: None if name in gone else name not in FLAGS and value for name, value in request.session.items()}
        request.put(request.entity, left)
        return Outcome("Logged out successfully", {"done": True}, "done")
    if not any(main_type(part) == "boolean" for part in request.results.values()):
        raise Refused("unauthorized", _NOT_LOGGED_IN)
    return Outcome(_NOT_LOGGED_IN, {"done": False}, "done")


def status(request: AuthRequest) -> Outcome:
    """Return whether someone is logged in."""
    is_in, user = request.is_logged_in, request.user
    text = "Not logged in" if not is_in else "Logged in" if user is None else f"Logged in as {user}"
    return Outcome(text, {"is_in": is_in, "user": user}, "is_in")


def who(request: AuthRequest) -> Outcome:
    """Return who is logged in. Raises `Refused` if no one is."""
    if not request.is_logged_in:
        raise Refused("unauthorized", _NOT_LOGGED_IN)
    hidden = {name for name in request.session if name in SECRETS or "token" in name}
    shown = {name: value for name, value in request.session.items() if name not in hidden}
    return Outcome(str(request.user), {"user": request.user, **shown}, is_json=True)
