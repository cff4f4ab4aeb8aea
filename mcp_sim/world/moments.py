"""Worlds at rest: what they were before a call that may have to be taken back, and moments to return to."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from datetime import timedelta

from mcp_sim.types import PastVersion
from mcp_sim.types.clock import Clock
from mcp_sim.types.frozen import frozen
from mcp_sim.world.commits import Unsaved, Version
from mcp_sim.world.trace import History, Ledger


@frozen
class Mark:
    """A world as it was before a call, to which it returns if the call cannot be saved."""

    version: Version
    crashed: str
    clock: Clock
    ledger: Ledger
    entries: int
    history: History
    pasts: int
    past_versions: deque[PastVersion]
    unsaved: Unsaved | None
    answer: str | None


@frozen
class Moment:
    """A world as it was between two calls, without its ledger: a fork begins there, and a world may return to it."""

    version: Version
    crashed: str
    elapsed: timedelta
    history: History
    past_versions: deque[PastVersion]
    answer: str | None

    def kept(self) -> Moment:
        """Return the same moment, apart from the world that goes on."""
        return replace(self, history=self.history.fork(), past_versions=self.past_versions.copy())

    @property
    def size(self) -> int:
        """About how many bytes it keeps alive."""
        return self.version.state.size + self.version.kept.size + self.history.size
