"""A tool is gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from mcp_sim.types import Observation, Proceed, RpcError, Tool, ToolResult, Transition, Turn
from mcp_sim.types.kinds import Listing, Perturbation, Stage, perturbations

UNKNOWN_TOOL = -32602


@perturbations.register("hide_tool")
class HideTool(Perturbation):
    """List the tools in reach no longer, as after a change of plan or of permissions; by default refuse them too.

    It lasts: without `when` from the start; with `after`, `until` or `between` as long as they hold; with any other
    `when` from the first call of such a tool on for which it holds. `announced` sends clients the notification that the
    list of tools has changed, so that they may list them again; else they find out at the next call.
    """

    stage = Stage.CATALOGUE

    calls: Literal["refused", "answered"] = Field(
        default="refused", description="Whether a hidden tool is unknown when it is called, or still works."
    )
    refusal: Literal["rpc", "is_error"] = Field(
        default="rpc", description="How it is unknown: as a JSON-RPC error, or as a result that is an error."
    )
    announced: bool = Field(default=False, description="Are clients told that the list of tools has changed?")

    def announces(self) -> bool:
        return self.announced

    def catalogue(self, listing: Listing) -> Sequence[Tool]:
        return [tool for tool in listing.tools if tool.id not in listing.reach]

    def ends_calls(self) -> bool:
        return self.calls == "refused"

    async def apply(self, turn: Turn, proceed: Proceed) -> Transition:
        if self.calls == "answered":
            return await proceed(turn)
        told = f"Unknown tool: {turn.tool.name}"
        if self.refusal == "rpc":
            return Transition(Observation(RpcError(UNKNOWN_TOOL, told)))
        return Transition(Observation(ToolResult(told, form="text", is_error=True)))
