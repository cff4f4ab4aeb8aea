"""What is written to a state, and when?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mcp_sim.types.values import Key, Record


@dataclass(frozen=True, slots=True)
class Change:
    """One write to the state. `part`: the item of a batch; `expected`: the record version it was computed from.

    `reserve` writes no record: the key counts as used from now on, so that no other record gets it.
    """

    op: Literal["put", "remove", "reserve"]
    entity: str
    key: Key
    record: Record | None = None
    part: int | None = None
    expected: int | None = None

    def to_json(self) -> Record:
        """The form that a ledger keeps."""
        body: Record = {"op": self.op, "entity": self.entity, "key": self.key}
        if self.record is not None:
            body["record"] = self.record
        if self.part is not None:
            body["part"] = self.part
        return body

    @classmethod
    def from_json(cls, body: Record) -> Change:
        """The change that `to_json` wrote."""
        return cls(body["op"], body["entity"], body["key"], body.get("record"), body.get("part"))


@dataclass(frozen=True, slots=True)
class Due:
    """Changes by someone else than the agent, and the world time of which they are: on the agenda, or of an event.

    With `call`, they are due when the world's call of this index begins, whatever the time.
    """

    at: datetime
    actor: str
    changes: tuple[Change, ...]
    call: int | None = None
