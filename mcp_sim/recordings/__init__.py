"""Recorded sessions of real servers: read and write them, and measure how faithfully a spec answers them.

May import `server` and everything below it; `runs` does not import it, nor the reverse.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcp_sim.recordings.score import measure
    from mcp_sim.spec.sessions import read_sessions

__all__ = ["measure", "read_sessions"]

_HOMES = {"measure": "mcp_sim.recordings.score", "read_sessions": "mcp_sim.spec.sessions"}


def __getattr__(name: str) -> Any:
    """Import a public name on first use: a client waits for a recorder, which needs none of them."""
    if name not in _HOMES:
        raise AttributeError(name)
    return getattr(import_module(_HOMES[name]), name)
