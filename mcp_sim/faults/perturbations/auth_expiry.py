"""Access that expires and must be renewed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal, Self

from pydantic import Field, model_validator

from mcp_sim.types import Memory, Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import failure_kind, refusal, status_phrase
from mcp_sim.types.errors import did_you_mean
from mcp_sim.types.kinds import CountCall, Perturbation, Stage, perturbations
from mcp_sim.types.options import CountFromZero, SpanText, span_text
from mcp_sim.types.tools import in_reach


@perturbations.register("auth_expiry")
class AuthExpiry(Perturbation):
    """Reject calls with a 401 or 403 once the access token expires.

    All calls in reach share one token. A successful call of `refresh` issues a new one; this tool must be in reach, and
    works with an expired token. Without it access is never regained. Rejected calls commit nothing.

    Use it without `when`, which would keep calls from being counted.
    """

    stage = Stage.BEFORE

    after: SpanText = Field(description="Lifetime of a token.", examples=["30m", "20 calls"])
    refresh: str | None = Field(default=None, min_length=1, description="The tool that renews the token, by glob.")
    refresh_fails: CountFromZero | Literal["always"] = Field(
        default=0, description="How many refreshes of each token fail first, with the same status."
    )
    status: Literal[401, 403] = Field(default=401, description="The HTTP status of a rejected call.")
    message: str | None = Field(
        default=None,
        description="The error text. Default: the tool spec's template for unauthorized (401) or forbidden (403).",
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.refresh is None and self.refresh_fails != 0:
            raise ValueError("refresh_fails requires refresh: name the tool that renews the token")
        return self

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        if self.refresh is None or not tools:
            return ()
        if not any(self._renews(tool) for tool in domain.tools.values()):
            return [f"no tool matches {self.refresh!r}{did_you_mean(self.refresh, domain.tools)}"]
        if not any(self._renews(tool) for tool in tools):
            return [f"the refresh tool {self.refresh!r} is not in reach; add it to `tools`"]
        if all(self._renews(tool) for tool in tools):
            return ["only the refresh tool is in reach, so there is nothing to reject"]
        return ()

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        if self._renews(turn.tool):
            failed = turn.memory.get("failed", 0)
            if self.refresh_fails == "always" or failed < self.refresh_fails:
                turn.memory.set("failed", failed + 1)
                return self._refusal(turn, "the access could not be renewed")
            transition = await proceed(turn)
            if transition.observation.ok:
                turn.memory.set("access", (0, turn.now))
                turn.memory.set("failed", 0)
            return turn.no_effect(transition)
        if not self._counted(turn, turn.memory):
            return self._refusal(turn, f"the access expired after {span_text(self.after)}")
        return turn.no_effect(await proceed(turn))

    def compile_count(self, tool: Tool, domain: Domain) -> CountCall | None:
        return None if self._renews(tool) else self._counted

    def _counted(self, turn: Turn, memory: Memory) -> bool:
        """Count a call with an access that has not expired; False if it has."""
        used, began = memory.get("access", (0, turn.start))
        if self._is_over(used, turn.now - began):
            return False
        memory.set("access", (used + 1, began))
        return True

    def _renews(self, tool: Tool) -> bool:
        return self.refresh is not None and in_reach((self.refresh,), tool)

    def _is_over(self, used: int, age: timedelta) -> bool:
        if self.after.time is not None:
            return age >= self.after.time
        return used >= (self.after.calls or 0)

    def _refusal(self, turn: Turn, reason: str) -> Transition:
        sentence = f"{status_phrase(self.status)}: {reason}"
        return Transition(refusal(turn, failure_kind(self.status), sentence, self.message, status=self.status))
