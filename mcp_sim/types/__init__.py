"""The words of one call: Call, Tool, View, Turn, Change, Observation, Transition.

What decides takes a `Turn`, what acts returns a `Transition`, and only a world writes state.
"""

from __future__ import annotations

from mcp_sim.types.calls import (
    UNABLE,
    Attempt,
    Call,
    ConditionFailure,
    Decision,
    Instruction,
    Memories,
    Memory,
    Outcome,
    PastCall,
    PastVersion,
    Proceed,
    Step,
    Transition,
    Turn,
)
from mcp_sim.types.json_values import Json, Key, Record
from mcp_sim.types.tools import (
    BrokenDelivery,
    FailureRenderer,
    Observation,
    RpcError,
    Tool,
    ToolResult,
    render_plain_failure,
)
from mcp_sim.types.views import COMPARISONS, Bound, Change, Due, View, Written

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
