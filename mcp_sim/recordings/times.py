"""The time at which a session was recorded: as its header says, else as its answers show it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime

from mcp_sim.recordings.observed import key_of, observe
from mcp_sim.spec.sessions import Session
from mcp_sim.types import Json
from mcp_sim.types.json_values import leaves
from mcp_sim.types.lexicon.past_events import is_past_event
from mcp_sim.types.time_formats import parse_time

_IN_TEXT = re.compile(
    r"(?:created|added|updated|modified|completed|saved|recorded|date)\W{1,12}"
    r"(\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)",
    re.IGNORECASE,
)
"""When something was done, in a text."""
_FIRST = datetime(2024, 1, 1, tzinfo=UTC)
"""No session with an MCP server is older than the protocol."""
_PAST = re.compile(r"creat|updat|modif|added|complet", re.IGNORECASE)
"""Names of fields with such a time."""


def start_of(session: Session) -> datetime | None:
    """Return when a session began; None if neither its header nor its answers show it.

    Servers note when something is created or changed. The day that most such times name, but for those that the given
    state or an argument has, is that of the session; its first time is the start.
    """
    if session.started is not None:
        return session.started
    noted = dict.fromkeys(text for call in session.calls for text in _noted(observe(call.answer).value))
    moments = [(text, moment) for text in noted if (moment := _moment(text)) is not None]
    if not moments:
        return None
    known = json.dumps([session.state, [call.arguments for call in session.calls]])
    shown = [moment for text, moment in moments if moment >= _FIRST and str(text) not in known]
    days = Counter(moment.date() for moment in shown)
    if not days:
        return None
    (day, _), *_ = days.most_common(1)
    return min(moment for moment in shown if moment.date() == day)


def _noted(value: Json) -> Iterator[Json]:
    """Yield what an answer says about when something was done."""
    for path, leaf in leaves(value):
        name = key_of(path)
        if isinstance(leaf, str | int | float) and (_PAST.search(name) or is_past_event(name)):
            yield leaf
        elif isinstance(leaf, str):
            yield from _IN_TEXT.findall(leaf)


def _moment(value: Json) -> datetime | None:
    moment = None if isinstance(value, bool) else parse_time(value)
    return moment if moment is None or moment.tzinfo is not None else moment.replace(tzinfo=UTC)
