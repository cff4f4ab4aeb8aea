"""The words of one call: Call, Tool, View, Turn, Change, Observation, Transition.

Everything that decides takes a `Turn`; everything that acts returns a `Transition`; only the world writes state.
"""

from __future__ import annotations

from mcp_sim.types.change import Change, Due
from mcp_sim.types.memory import Memories, Memory
from mcp_sim.types.observation import BrokenDelivery, Observation, RpcError, ToolResult
from mcp_sim.types.step import Decided, Erred, Outcome, Step
from mcp_sim.types.tool import Tool, Wording, plain_failure
from mcp_sim.types.turn import UNABLE, Attempt, Call, Instruction, Past, Proceed, Seen, Transition, Turn
from mcp_sim.types.values import Json, Key, Record
from mcp_sim.types.view import COMPARISONS, Bound, View, Written

__all__ = [
    "COMPARISONS",
    "UNABLE",
    "Attempt",
    "Bound",
    "BrokenDelivery",
    "Call",
    "Change",
    "Decided",
    "Due",
    "Erred",
    "Instruction",
    "Json",
    "Key",
    "Memories",
    "Memory",
    "Observation",
    "Outcome",
    "Past",
    "Proceed",
    "Record",
    "RpcError",
    "Seen",
    "Step",
    "Tool",
    "ToolResult",
    "Transition",
    "Turn",
    "View",
    "Wording",
    "Written",
    "plain_failure",
]
