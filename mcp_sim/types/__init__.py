"""The types that all packages share. This module exports those of one call: `Turn`, `Transition`, `Observation`, ...

A call reads a `Turn` and returns a `Transition`; only a world writes state. Imports no other package.
"""

from __future__ import annotations

from mcp_sim.types.calls import (
    UNABLE,
    Attempt,
    Call,
    ConditionFailure,
    Decision,
    Instruction,
    Kept,
    KeptAnswer,
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
    "COMPARISONS", "UNABLE", "Attempt", "Bound", "BrokenDelivery", "Call", "Change", "ConditionFailure", "Decision",
    "Due", "FailureRenderer", "Instruction", "Json", "Kept", "KeptAnswer", "Key", "Memories", "Memory", "Observation",
    "Outcome", "PastCall", "PastVersion", "Proceed", "Record", "RpcError", "Step", "Tool", "ToolResult", "Transition",
    "Turn", "View", "Written", "render_plain_failure",
]  # fmt: skip
