"""Align ids while a recorded session is replayed: remember what it has shown, and pair each id that is new."""

from __future__ import annotations

from mcp_sim.recordings.align import Alignment, ids_in
from mcp_sim.recordings.known import KnownValues
from mcp_sim.recordings.observed import Observed
from mcp_sim.spec.sessions import RecordedCall
from mcp_sim.types import Json, Record


class ReplayIds:
    """The ids of a responder for those that a recorded session has shown so far."""

    def __init__(self, state: Json) -> None:
        self.alignment = Alignment()
        self.known = KnownValues(state)
        self._shown = set[str]()
        """The ids that recorded results have shown."""

    def arguments(self, call: RecordedCall) -> Record:
        """Return the arguments of a call with the ids of the responder."""
        return self.alignment.translate(call.arguments)

    def pair(self, call: RecordedCall, recorded: Observed, served: Observed | None) -> None:
        """Pair the ids that an answer shows first; `served` is None if the responder did not answer."""
        self.known.learn(call.arguments, "argument", call.seq)
        if served is not None and not recorded.is_error and not served.is_error:
            self.alignment.add(recorded, served, lambda name: name in self.known or name in self._shown)

    def learn(self, recorded: Observed, seq: int) -> None:
        """Remember the values and ids of a recorded result, after its ids are paired."""
        if not recorded.is_error:
            self._shown |= {name for name in ids_in(recorded.value) if name not in self.known}
        self.known.learn(recorded.value, "result", seq)
