"""Sessions as records, and in a given state: who is logged in, tokens, and the only accepted credentials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from mcp_sim.backends.given import MAX_DEPTH, MAX_OBJECTS, is_named
from mcp_sim.backends.operation import read_names
from mcp_sim.types import Json, Record
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.lexicon.english import last_word, singular, vocabulary, words

_WORDS = read_names(__name__)
SESSION = "session"
"""The entity of the session, if there is only one."""
FLAGS = ("authenticated", "is_authenticated", "logged_in", "is_logged_in")
CURRENT = ("current_user", "current_user_id", "logged_in_user", "active_user", "current_username")
USERS = _WORDS.ordered("user")
SECRETS = _WORDS.ordered("secret")
_CREDENTIALS = (("username", "password"), ("email", "password"), ("user_id", "password"), ("username", "pin"))
_TABLES = vocabulary("session login auth authentication credential")
"""Names of tables that may hold a single session."""


def given_sessions(state: Json, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Record]]:
    """Yield the sessions in a state, each after the path to the object that holds its fields, maybe beside others.

    Rows of tables are none, except for the only row of a table of sessions.
    """
    body = as_object(state)
    found = _session_part(body)
    if found:
        yield path, found
    if len(path) >= MAX_DEPTH or (path and last_word(path[-1]) != singular(last_word(path[-1]))):
        return
    for name, inner in islice(body.items(), MAX_OBJECTS):
        rows = (rows_of(inner, "session_id") or []) if is_named(name, _TABLES) else []
        only = _session_part(rows[0]) if len(rows) == 1 else {}
        if only:
            yield (*path, name), only
        elif isinstance(inner, dict):
            yield from given_sessions(inner, (*path, name))


def _session_part(body: Record) -> Record:
    """Return the fields of an object that belong to a session: who is logged in, tokens, credentials."""
    plain = {name: value for name, value in body.items() if not isinstance(value, dict | list)}
    kept = {*FLAGS, *CURRENT, "session_id", *(credentials_of(plain) or ())}
    return {name: value for name, value in plain.items() if name in kept or "token" in words(name)}


def credentials_of(record: Record) -> tuple[str, str] | None:
    """Return the fields of a session with the only accepted credentials, if any."""
    return next((pair for pair in _CREDENTIALS if all(isinstance(record.get(name), str) for name in pair)), None)


def without(state: Json, path: Sequence[str], session: Record) -> Json:
    """Return the state without the session at a path; None if nothing is left."""
    body = as_object(state)
    if not path:
        return {name: value for name, value in body.items() if name not in session} or None
    inner = without(body.get(path[0]), path[1:], session)
    others = {name: value for name, value in body.items() if name != path[0]}
    return ({**others, path[0]: inner} if inner is not None else others) or None
