"""Now and then, by chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import Field

from mcp_sim.types import Tool
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import below
from mcp_sim.types.kinds import Check, Role, Trigger, triggers


@triggers.register("probability")
class Probability(Trigger):
    """Each call for itself, with this probability.

    `probability: 0.25` strikes about one call in four. Drawn from seed, stream, call and perturbation, so the same on
    every run; a call that is repeated with equal arguments is drawn anew.
    """

    role = Role.CHANCE
    severities: ClassVar[tuple[str, ...]] = ("p",)

    p: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(
        description="From 0 (never) to 1 (always).", examples=[0.25]
    )

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        strikes = below(self.p, purpose)
        return lambda turn, _: strikes(turn.draws)

    def doubts(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return () if self.p else ["never holds; write `enabled: false` beside it to leave the entry out"]

    def why(self) -> str:
        return f"probability {self.p:g}"
