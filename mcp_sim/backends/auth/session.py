"""What is kept of a login, who is logged in by it, and what becomes of it with the next login or logout?"""

from __future__ import annotations

from mcp_sim.types import Json, Record, Turn
from mcp_sim.types.lexicon.words import vocabulary

FLAGS = ("authenticated", "is_authenticated", "logged_in", "is_logged_in")
CURRENT = ("current_user", "current_user_id", "logged_in_user", "active_user", "current_username")
SECRETS = vocabulary("password passwd pass passcode pin secret client_secret api_key token refresh_token access_key")
CREDENTIALS = (("username", "password"), ("email", "password"), ("user_id", "password"), ("username", "pin"))
_TOKENS = ("access_token", "token", "session_token")


def begun(record: Record) -> Record:
    """The session that a world begins with: nobody is logged in, where nothing says who is."""
    return record if any(name in record for name in CURRENT) else {**record, "current_user": None}


def is_logged_in(record: Record) -> bool:
    """Is somebody logged in?"""
    flags = [record[name] for name in FLAGS if name in record]
    return bool(flags[0]) if flags else bool(user_of(record) or record.get("access_token"))


def user_of(record: Record) -> Json:
    """Who is logged in."""
    return next((record[name] for name in CURRENT if record.get(name) is not None), None)


def logged_in(record: Record, user: Json, turn: Turn, shown: frozenset[str]) -> Record:
    """The session once somebody is in; with a token where one is shown, or was there before."""
    current = next((name for name in CURRENT if name in record), "current_user")
    flags = {name: True for name in FLAGS if name in record}
    tokens = [name for name in _TOKENS if name in shown or name in record]
    return {**record, current: user, **flags, **dict.fromkeys(tokens, _token(turn))}


def logged_out(record: Record) -> Record:
    """The session once nobody is in."""
    gone = {*CURRENT, *_TOKENS}
    return {name: False if name in FLAGS else None if name in gone else value for name, value in record.items()}


def credentials_of(record: Record) -> tuple[str, str] | None:
    """The fields of a session that hold the only credentials that are let in."""
    return next((pair for pair in CREDENTIALS if all(name in record for name in pair)), None)


def _token(turn: Turn) -> str:
    return "".join(f"{int(turn.draws.unit(f'token/{part}') * 2**32):08x}" for part in range(4))
