"""The agent's access runs out, and must be renewed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal, Self

from pydantic import Field, model_validator

from mcp_sim.types import Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import failure_of, refusal, status_phrase
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.kinds import Perturbation, Stage, perturbations
from mcp_sim.types.options import CountFromZero, SpanText, span_text
from mcp_sim.types.scenario import in_reach


@perturbations.register("auth_expiry")
class AuthExpiry(Perturbation):
    """Refuse every call with a 401 or 403 once the access is `after` old: a duration, or so many calls.

    A successful call of the `refresh` tool begins a new access. It is let through also when the access has run out, and
    does not count as one of the calls. The first `refresh_fails` refreshes fail with the same status, for each access
    anew (`always`: all of them). Without a refresh tool the access is gone for good. What is refused is not committed.

    All calls in reach have one access, so the refresh tool must be in reach too. The first access begins with the
    world. It counts the calls that it is decided for, so it is written without `when`; a call that it lets through is
    a `no_effect` in the ledger.
    """

    stage = Stage.BEFORE

    after: SpanText = Field(
        description="How long an access lasts: a duration, or a number of calls.", examples=["30m", "20 calls"]
    )
    refresh: str | None = Field(default=None, min_length=1, description="The tool that renews it, by glob.")
    refresh_fails: CountFromZero | Literal["always"] = Field(
        default=0, description="How many refreshes fail before one works, for each access anew; or always."
    )
    status: Literal[401, 403] = Field(default=401, description="The status that the backend gives it.")
    message: str | None = Field(
        default=None,
        description="What the agent reads. Default: the vendor's wording of unauthorized (401) or forbidden (403).",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.refresh is None and self.refresh_fails != 0:
            raise ValueError("refresh_fails goes with refresh: which tool renews the access?")
        return self

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        if self.refresh is None or not tools:
            return ()
        if not any(self._renews(tool) for tool in domain.tools.values()):
            return [f"no tool matches {self.refresh!r}{did_you_mean(self.refresh, domain.tools)}"]
        if not any(self._renews(tool) for tool in tools):
            return [f"the refresh tool {self.refresh!r} is not in reach; add it to `tools`"]
        if all(self._renews(tool) for tool in tools):
            return ["only the refresh tool is in reach, so there is nothing to refuse"]
        return ()

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        if self._renews(turn.tool):
            return await self._refreshed(turn, proceed)
        used, began = turn.memory.get("access", (0, turn.start))
        if self._is_over(used, turn.now - began):
            return self._refusal(turn, f"the access expired after {span_text(self.after)}")
        turn.memory.set("access", (used + 1, began))
        return turn.no_effect(await proceed(turn))

    async def _refreshed(self, turn: Turn, proceed: Proceed) -> Transition:
        """A call of the refresh tool."""
        failed = turn.memory.get("failed", 0)
        if self.refresh_fails == "always" or failed < self.refresh_fails:
            turn.memory.set("failed", failed + 1)
            return self._refusal(turn, "the access could not be renewed")
        transition = await proceed(turn)
        if transition.observation.ok:
            turn.memory.set("access", (0, turn.now))
            turn.memory.set("failed", 0)
        return turn.no_effect(transition)

    def _renews(self, tool: Tool) -> bool:
        return self.refresh is not None and in_reach((self.refresh,), tool)

    def _is_over(self, used: int, age: timedelta) -> bool:
        if self.after.time is not None:
            return age >= self.after.time
        return used >= (self.after.calls or 0)

    def _refusal(self, turn: Turn, reason: str) -> Transition:
        sentence = f"{status_phrase(self.status)}: {reason}"
        return Transition(refusal(turn, failure_of(self.status), sentence, self.message, status=self.status))
