"""Sessions as records."""

from __future__ import annotations

from mcp_sim.types import Json, Record, Turn
from mcp_sim.types.lexicon.english import vocabulary

FLAGS = ("authenticated", "is_authenticated", "logged_in", "is_logged_in")
CURRENT = ("current_user", "current_user_id", "logged_in_user", "active_user", "current_username")
SECRETS = vocabulary("password passwd pass passcode pin secret client_secret api_key token refresh_token access_key")
CREDENTIALS = (("username", "password"), ("email", "password"), ("user_id", "password"), ("username", "pin"))
_TOKENS = ("access_token", "token", "session_token")


def initial_session(record: Record) -> Record:
    """Return the initial session. No one is logged in, unless the record says who is."""
    return record if any(name in record for name in CURRENT) else {**record, "current_user": None}


def is_logged_in(record: Record) -> bool:
    """Return whether someone is logged in."""
    flags = [record[name] for name in FLAGS if name in record]
    return bool(flags[0]) if flags else bool(user_of(record) or record.get("access_token"))


def user_of(record: Record) -> Json:
    """Return who is logged in."""
    return next((record[name] for name in CURRENT if record.get(name) is not None), None)


def log_in(record: Record, user: Json, turn: Turn, shown: frozenset[str]) -> Record:
    """Return the session after a login; with a token if the result shows one or the session had one."""
    current = next((name for name in CURRENT if name in record), "current_user")
    flags = {name: True for name in FLAGS if name in record}
    tokens = [name for name in _TOKENS if name in shown or name in record]
    return {**record, current: user, **flags, **dict.fromkeys(tokens, _token(turn))}


def log_out(record: Record) -> Record:
    """Return the session after a logout."""
    gone = {*CURRENT, *_TOKENS}
    return {name: False if name in FLAGS else None if name in gone else value for name, value in record.items()}


def credentials_of(record: Record) -> tuple[str, str] | None:
    """Return the fields of a session with the only accepted credentials, if any."""
    return next((pair for pair in CREDENTIALS if all(name in record for name in pair)), None)


def _token(turn: Turn) -> str:
    return "".join(f"{int(turn.draws.unit(f'token/{part}') * 2**32):08x}" for part in range(4))
