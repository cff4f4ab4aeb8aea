"""Writes that become visible later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from pydantic import Field, field_validator

from mcp_sim.faults.results import due_after, no_writes
from mcp_sim.types import Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import Span, SpanText
from mcp_sim.world.deferred_commits import LATE_ACTOR, deferred, writes


@perturbations.register("delayed_visibility")
class DelayedVisibility(Perturbation):
    """Answer at once, and make the changes visible later: after a duration or a number of further calls.

    An agent that does not find its record and creates it again ends up with two. The delayed changes are an event of
    their own in the ledger. A newer write to the same record wins, and a write that would leave a broken link is
    dropped.
    """

    stage = Stage.COMMIT
    visibility = "implicit"

    after: SpanText = Field(
        default=Span(time=timedelta(seconds=30)),
        description="When they become visible: `30s` later, or `3 calls` later (the next three do not see them).",
        examples=["30s"],
    )

    @field_validator("after")
    @classmethod
    def _is_later(cls, after: Span) -> Span:
        if after in (Span(calls=0), Span(time=timedelta(0))):
            raise ValueError("the delay must be longer than 0")
        return after

    def acts_on_records(self) -> bool:
        return True

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        transition = await proceed(turn)
        if not writes(transition.changes) or not transition.observation.ok:
            return turn.no_effect(transition)
        split = deferred(turn, transition.changes)
        return replace(
            transition,
            changes=split.now,
            agenda=(*transition.agenda, due_after(self.after, turn, LATE_ACTOR, split.later)),
        )

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_writes(domain, tools, "write to delay")
