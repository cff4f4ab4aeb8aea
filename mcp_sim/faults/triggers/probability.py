"""Random calls."""

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
    """Each call independently, with this probability.

    `probability: 0.25` holds for about one call in four. The draw depends on seed, stream, call and perturbation, so it
    is the same in every run. A repetition of a call has a draw of its own.
    """

    role = Role.CHANCE
    severities: ClassVar[tuple[str, ...]] = ("p",)

    p: Annotated[float, Field(strict=True, ge=0, le=1)] = Field(
        description="The probability, from 0 (never) to 1 (always).", examples=[0.25]
    )

    def compile(self, tool: Tool, domain: Domain, purpose: str) -> Check:
        strikes = below(self.p, purpose)
        return lambda turn, _: strikes(turn.draws)

    def never_holds(self) -> bool:
        return self.p == 0

    def warnings(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return () if self.p else ["never holds; write `enabled: false` beside it to leave the entry out"]

    def why(self) -> str:
        return f"probability {self.p:g}"
