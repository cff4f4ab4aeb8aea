"""Kinds that only tests need, and `mcp-sim` with them: `python tests/support/unruly.py serve SCENARIO`."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import ClassVar, Literal

from mcp_sim.cli import main
from mcp_sim.types import BrokenDelivery, Observation, Proceed, Transition, Turn
from mcp_sim.types.kinds import Perturbation, Stage, perturbations

Breakage = Literal["no_answer", "closed", "partial", "http"]


class Undelivered(Perturbation):
    """Lets the call take effect and breaks the delivery of its answer."""

    stage: ClassVar[Stage] = Stage.TRANSPORT

    how: Breakage = "no_answer"

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        transition = await proceed(turn)
        remains = '{"jsonrpc":"2.' if self.how == "partial" else ""
        broken = BrokenDelivery(self.how, body=remains)
        if self.how == "http":
            broken = BrokenDelivery("http", 429, {"Retry-After": "30"}, "slow down")
        return replace(transition, observation=Observation(broken))

    def breaks(self) -> frozenset[str]:
        return frozenset({self.how})


class Bug(Perturbation):
    """A kind that raises an exception."""

    stage: ClassVar[Stage] = Stage.BEFORE

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        raise ValueError("the secret of the vault")


KINDS = {"undelivered": Undelivered, "bug": Bug}


if __name__ == "__main__":
    for name, kind in KINDS.items():
        perturbations.register(name)(kind)
    sys.exit(main())
