"""A read answers from the past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from mcp_sim.backends.rendering.places import Anatomy, no_reads, twice
from mcp_sim.types import Proceed, Seen, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count, Span, SpanText


@perturbations.register("stale_read")
class StaleRead(Perturbation):
    """Answer a read from an older version of the state, as a replica does that lags behind, or a cache.

    An agent that has just written does not see it, and one that decides on what it reads decides on the past. The lag
    is in time, in calls, or in versions (each write makes one); 256 versions are kept, and the oldest stands for all
    before. No effect on calls that are not known to read, and where the past says the same.
    """

    stage = Stage.ANSWER
    visibility = "implicit"
    looks_back: ClassVar[bool] = True

    lag: SpanText | None = Field(
        default=None,
        description="How far back: `30s` ago, or as before the last `3 calls`. Default: the version before.",
        examples=["30s"],
    )
    versions: Annotated[Count, Field(lt=256)] | None = Field(
        default=None, description="How many versions back, instead of `lag`."
    )

    @model_validator(mode="after")
    def _either(self) -> Self:
        if self.lag is not None and self.versions is not None:
            raise ValueError("say either lag or versions")
        if self.lag in (Span(calls=0), Span(time=timedelta(0))):
            raise ValueError("a lag of nothing is none")
        return self

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        is_read = Anatomy.of(tool, domain).is_read

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            then = self._then(turn) if is_read and turn.versions else None
            if then is None or then is turn.versions[-1]:
                return turn.no_effect(await proceed(turn))
            truth, past = await twice(turn, proceed, replace(turn, view=then.view))
            if truth.changes or past.observation == truth.observation:
                return turn.no_effect(truth)
            return replace(truth, observation=past.observation)

        return apply

    def _then(self, turn: Turn) -> Seen:
        """The version that is answered from."""
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
