"""The exception by which a backend fails a call."""

from __future__ import annotations

from mcp_sim.types import Json


class Refused(Exception):
    """A call that fails; the tool's error template renders it. `kind` is the failure kind.

    The message is shown to the caller. `slots` are values for the error template besides the arguments.
    """

    def __init__(self, kind: str, message: str, **slots: Json) -> None:
        super().__init__(message)
        self.kind = kind
        self.slots = slots
