"""Idempotency keys that the server has forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from pydantic import Field

from mcp_sim.types import Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Duration


@perturbations.register("key_expired")
class KeyExpired(Perturbation):
    """Forget the idempotency key of the call: a retry with the same key writes again.

    Servers forget keys silently: many after 24 hours, some when a cache is full or a process ends.
    """

    stage = Stage.BEFORE
    visibility = "implicit"

    older_than: Duration = Field(
        default=timedelta(0), description="Forget only keys that were first used this long ago.", examples=["24h"]
    )

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        if turn.kept is None or turn.now - turn.kept.at < self.older_than:
            return turn.no_effect(await proceed(turn))
        return await proceed(replace(turn, kept=None))

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        plans = [domain.plans.get(tool.id) for tool in tools]
        if tools and all(plan is None or plan.idempotency is None for plan in plans):
            return ["no tool in reach takes an idempotency key; declare one with `idempotency` under `sim:`"]
        return ()
