"""The words of one call: Call, Tool, View, Turn, Change, Observation, Transition.

Everything that decides takes a `Turn`; everything that acts returns a `Transition`; only the world writes state.
"""

from __future__ import annotations

from mcp_sim.types.change import Change, Due
from mcp_sim.types.memory import Memories, Memory
from mcp_sim.types.observation import BrokenDelivery, Observation, RpcError, ToolResult
from mcp_sim.types.step import ConditionFailure, Decision, Outcome, Step
from mcp_sim.types.tool import FailureRenderer, Tool, render_plain_failure
from mcp_sim.types.turn import UNABLE, Attempt, Call, Instruction, PastCall, PastVersion, Proceed, Transition, Turn
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
    "ConditionFailure",
    "Decision",
    "Due",
    "FailureRenderer",
    "Instruction",
    "Json",
    "Key",
    "Memories",
    "Memory",
    "Observation",
    "Outcome",
    "PastCall",
    "PastVersion",
    "Proceed",
    "Record",
    "RpcError",
    "Step",
    "Tool",
    "ToolResult",
    "Transition",
    "Turn",
    "View",
    "Written",
    "render_plain_failure",
]
