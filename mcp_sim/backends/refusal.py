"""How does what a backend cannot do become a failure of the tool, instead of one of this program?"""

from __future__ import annotations

from mcp_sim.types import Json


class Refused(Exception):
    """A call that fails, told in the tool's own style: `kind` is the failure kind of the vendor's wording.

    The message is for whoever called; `slots` are what the wording may name beside the arguments.
    """

    def __init__(self, kind: str, message: str, **slots: Json) -> None:
        super().__init__(message)
        self.kind = kind
        self.slots = slots
