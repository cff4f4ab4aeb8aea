"""Sessions as records: who is logged in, tokens, and the only accepted credentials."""

from __future__ import annotations

from collections.abc import Iterator

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.request import Request
from mcp_sim.types import Json, Record
from mcp_sim.types.lexicon.english import words

SESSION = "session"
"""The entity of the session, if there is only one."""
FLAGS = ("authenticated", "is_authenticated", "logged_in", "is_logged_in")
CURRENT = ("current_user", "current_user_id", "logged_in_user", "active_user", "current_username")
USERS = ("username", "user_name", "user_id", "email", "email_address", "user", "login", "account", "account_id",
         "phone", "phone_number", "client_id", "name")  # fmt: skip
SECRETS = ("password", "passwd", "pass", "passcode", "pin", "secret", "client_secret", "api_key", "token",
           "refresh_token", "access_key")  # fmt: skip
NOT_LOGGED_IN = "No user is currently logged in."
_CREDENTIALS = (("username", "password"), ("email", "password"), ("user_id", "password"), ("username", "pin"))
_TOKENS = ("access_token", "token", "session_token")


def session_part(body: Record) -> Record:
    """Return the fields of an object that belong to a session: who is logged in, tokens, credentials."""
    plain = {name: value for name, value in body.items() if not isinstance(value, dict | list)}
    kept = {*FLAGS, *CURRENT, "session_id", *(credentials_of(plain) or ())}
    return {name: value for name, value in plain.items() if name in kept or "token" in words(name)}


def credentials_of(record: Record) -> tuple[str, str] | None:
    """Return the fields of a session with the only accepted credentials, if any."""
    return next((pair for pair in _CREDENTIALS if all(isinstance(record.get(name), str) for name in pair)), None)


def initial_session(record: Record) -> Record:
    """Return the initial session. No one is logged in, unless the record says who is."""
    return record if any(name in record for name in CURRENT) else {**record, "current_user": None}


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

    def log_in(self, user: Json, shown: frozenset[str]) -> Record:
        """Return the session after a login; with a token if the result shows one or the session had one."""
        session = self.session
        current = next((name for name in CURRENT if name in session), "current_user")
        flags = {name: True for name in FLAGS if name in session}
        tokens = [name for name in _TOKENS if name in shown or name in session]
        token = "".join(f"{int(self.draws.unit(f'token/{part}') * 2**32):08x}" for part in range(4))
        changed = {**session, current: user, **flags, **dict.fromkeys(tokens, token)}
        self.put(self.entity, changed)
        return changed

    def log_out(self) -> None:
        """End the session."""
        gone = {*CURRENT, *_TOKENS}
        left = {name: None if name in gone else name not in FLAGS and value for name, value in self.session.items()}
        self.put(self.entity, left)

    def check_credentials(self, user: Json, secret: Json) -> None:
        """Raise `Refused` if the session or the users of this world do not accept these credentials."""
        if user in (None, "") and secret in (None, ""):
            raise Refused("unauthorized", "Credentials are required")
        session, pair = self.session, credentials_of(self.session)
        if pair is None:
            self._check_user(user, secret)
        elif (session[pair[0]], session[pair[1]]) != (str(user), str(secret)):
            raise Refused("unauthorized", "Invalid username or password", user=user)

    def _check_user(self, user: Json, secret: Json) -> None:
        users: str | None = self.binding.shared
        if users is None or not self.view.count(users):
            return
        found = next((row for key, row in self.view.rows(users) if str(user) in {str(key), *_called(row)}), None)
        if found is None:
            raise Refused("not_found", f"User {user!r} not found", key=user, user=user)
        known = next((found[name] for name in SECRETS if found.get(name) is not None), secret)
        if str(known) != str(secret):
            raise Refused("unauthorized", "Invalid username or password", user=user)


def _called(row: Record) -> Iterator[str]:
    return (str(row[name]) for name in USERS if row.get(name) is not None)
