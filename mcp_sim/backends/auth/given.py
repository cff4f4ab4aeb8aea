"""Find sessions in a given state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from mcp_sim.backends.auth.session import session_part
from mcp_sim.backends.given import MAX_DEPTH, MAX_OBJECTS, is_named
from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.types import Json, Record
from mcp_sim.types.given_rows import rows_of
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.lexicon.english import last_word, singular, vocabulary, words

_TABLES = vocabulary("session login auth authentication credential")
"""Names of tables that may hold a single session."""


@dataclass(frozen=True, slots=True)
class GivenSession:
    """A session in a given state."""

    path: tuple[str, ...]
    """The path to the object that holds its fields, maybe beside others."""
    session: Record


def given_sessions(state: Json, path: tuple[str, ...] = ()) -> Iterator[GivenSession]:
    """Yield the sessions in a state. Rows of tables are none, except for the only row of a table of sessions."""
    body = as_object(state)
    found = session_part(body)
    if found:
        yield GivenSession(path, found)
    if len(path) >= MAX_DEPTH or (path and last_word(path[-1]) != singular(last_word(path[-1]))):
        return
    for name, inner in islice(body.items(), MAX_OBJECTS):
        rows = (rows_of(inner, "session_id") or []) if is_named(name, _TABLES) else []
        only = session_part(rows[0]) if len(rows) == 1 else {}
        if only:
            yield GivenSession((*path, name), only)
        elif isinstance(inner, dict):
            yield from given_sessions(inner, (*path, name))


def without(state: Json, one: GivenSession, path: Sequence[str] | None = None) -> Json:
    """Return the state without a session; None if nothing is left."""
    left = one.path if path is None else path
    body = as_object(state)
    if not left:
        return {name: value for name, value in body.items() if name not in one.session} or None
    inner = without(body.get(left[0]), one, left[1:])
    others = {name: value for name, value in body.items() if name != left[0]}
    return ({**others, left[0]: inner} if inner is not None else others) or None


def named_by(profile: ToolProfile, one: GivenSession) -> int:
    """Return how many words of a tool's name (counted three times) and description are in the path of a session."""
    named = {word for part in one.path for word in words(part) if len(word) > 3}
    return 3 * len(named.intersection(profile.words)) + len(named & profile.description_words)
