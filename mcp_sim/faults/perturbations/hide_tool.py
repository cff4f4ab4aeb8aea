"""Tools that disappear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from mcp_sim.types import Observation, Proceed, RpcError, Tool, ToolResult, Transition, Turn
from mcp_sim.types.kinds import Listing, Perturbation, Stage, perturbations

UNKNOWN_TOOL = -32602  # invalid params: what MCP specifies for unknown tools


@perturbations.register("hide_tool")
class HideTool(Perturbation):
    """Remove the tools in reach from the list, as after a change of permissions. It lasts once it has begun."""

    stage = Stage.CATALOGUE

    calls: Literal["refused", "answered"] = Field(
        default="refused", description="Whether calls of a hidden tool fail, or still work."
    )
    refusal: Literal["rpc", "is_error"] = Field(default="rpc", description="The form of the error.")
    announced: bool = Field(
        default=False, description="Whether clients are notified that the list of tools has changed."
    )

    def announces(self) -> bool:
        return self.announced

    def catalogue(self, listing: Listing) -> Sequence[Tool]:
        return [tool for tool in listing.tools if tool.id not in listing.reach]

    def ends_calls(self) -> bool:
        return self.calls == "refused"

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        if self.calls == "answered":
            return await proceed(turn)
        message = f"Unknown tool: {turn.tool.name}"
        if self.refusal == "rpc":
            return Transition(Observation(RpcError(UNKNOWN_TOOL, message)))
        return Transition(Observation(ToolResult(message, form="text", is_error=True)))
