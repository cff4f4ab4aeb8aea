"""Reads of an older state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from mcp_sim.faults.results import ResultShape, no_reads, proceed_twice
from mcp_sim.types import PastVersion, Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count, Span, SpanText


@perturbations.register("stale_read")
class StaleRead(Perturbation):
    """Answer a read from an older version of the state, like a lagging replica or a cache.

    An agent does not see what it has just written. Each write makes a version, and 256 are kept. No effect on calls
    that are not known to read.
    """

    stage = Stage.ANSWER
    visibility = "implicit"
    reads_past_versions: ClassVar[bool] = True

    lag: SpanText | None = Field(
        default=None,
        description="The lag: `30s`, or the state before the last `3 calls`. Default: the previous version.",
        examples=["30s"],
    )
    versions: Annotated[Count, Field(lt=256)] | None = Field(
        default=None, description="The lag as a number of versions, instead of `lag`."
    )

    @model_validator(mode="after")
    def _either(self) -> Self:
        if self.lag is not None and self.versions is not None:
            raise ValueError("lag and versions exclude each other")
        if self.lag in (Span(calls=0), Span(time=timedelta(0))):
            raise ValueError("lag must be longer than 0")
        return self

    def acts_on_records(self) -> bool:
        return True

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        is_read = ResultShape.of(tool, domain).is_read

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            then = self._then(turn) if is_read and turn.versions else None
            if then is None or then is turn.versions[-1]:
                return turn.no_effect(await proceed(turn))
            truth, past = await proceed_twice(turn, proceed, replace(turn, view=then.view))
            # A call that writes is not answered from the past: its answer would contradict what it has written.
            if truth.changes or past.observation == truth.observation:
                return turn.no_effect(truth)
            return replace(truth, observation=past.observation)

        return apply

    def _then(self, turn: Turn) -> PastVersion:
        """Return the version that answers the read."""
        lag = self.lag
        if lag is None:
            back = self.versions or 1
            return turn.versions[-1 - back] if len(turn.versions) > back else turn.versions[0]
        if lag.calls is not None:
            last = turn.index - 1 - lag.calls
            return next((seen for seen in reversed(turn.versions) if seen.index <= last), turn.versions[0])
        moment = turn.now - lag.time if lag.time is not None else turn.now
        return next((seen for seen in reversed(turn.versions) if seen.at <= moment), turn.versions[0])

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_reads(domain, tools)
