"""Backends as programs see them."""

from __future__ import annotations

from mcp_sim.plans.library import Library
from mcp_sim.plans.operation import Operation
from mcp_sim.plans.outcome import Outcome
from mcp_sim.plans.refusal import Refused as OperationRefused
from mcp_sim.programs.results import Refused
from mcp_sim.types import Json


class RefusingLibrary(Library):
    """The operations of a backend. One that fails raises the `Refused` of programs, with the bare message."""

    def _run(self, operation: Operation, *values: Json, **named: Json) -> Outcome:
        try:
            return super()._run(operation, *values, **named)
        except OperationRefused as refusal:
            raise Refused(refusal.slots.get("error", str(refusal))) from None
