"""Recorded sessions of real servers: read and write them, and measure how faithfully a spec answers them.

May import `server` and everything below it; `runs` does not import it, nor the reverse.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_sim.recordings.columns import COLUMNS, Column, Mark
    from mcp_sim.recordings.measuring import measure, score_sessions
    from mcp_sim.recordings.report import Report, Scores
    from mcp_sim.recordings.responders import (
        RecordedServer,
        Responder,
        Responders,
        SimulatedServer,
        Simulations,
        answer_of,
        recorded_answers,
    )
    from mcp_sim.recordings.score import CallScore, score_session
    from mcp_sim.spec.sessions import Answer, RecordedCall, Session, read_sessions, session_lines

__all__ = [
    "COLUMNS",
    "Answer",
    "CallScore",
    "Column",
    "Mark",
    "RecordedCall",
    "RecordedServer",
    "Report",
    "Responder",
    "Responders",
    "Scores",
    "Session",
    "SimulatedServer",
    "Simulations",
    "answer_of",
    "measure",
    "read_sessions",
    "recorded_answers",
    "score_session",
    "score_sessions",
    "session_lines",
]

_HOMES = {
    "recordings.columns": "COLUMNS Column Mark",
    "recordings.measuring": "measure score_sessions",
    "recordings.report": "Report Scores",
    "recordings.responders": (
        "RecordedServer Responder Responders SimulatedServer Simulations answer_of recorded_answers"
    ),
    "recordings.score": "CallScore score_session",
    "spec.sessions": "Answer RecordedCall Session read_sessions session_lines",
}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: a client waits for a recorder, which needs none of them."""
    for home, names in _HOMES.items():
        if name in names.split():
            return getattr(import_module(f"mcp_sim.{home}"), name)
    raise AttributeError(name)
