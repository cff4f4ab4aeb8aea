"""The types that all packages share. This module exports those of one call (`Turn`, `Transition`, `Observation`, ...)
and what nearly every module needs: `frozen` and a few functions on JSON values.

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
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.json_values import NOWHERE, Json, Key, Record, canonical, decode, encode, is_key, leaves
from mcp_sim.types.tools import (
    BrokenDelivery,
    FailureRenderer,
    Observation,
    RpcError,
    Tool,
    ToolResult,
    render_plain_failure,
)
from mcp_sim.types.views import COMPARISONS, Bound, Change, Due, View, Written, find_key, was_written

__all__ = [
    "COMPARISONS", "NOWHERE", "UNABLE", "Attempt", "Bound", "BrokenDelivery", "Call", "Change", "ConditionFailure",
    "Decision", "Due", "FailureRenderer", "Instruction", "Json", "Kept", "KeptAnswer", "Key", "Memories", "Memory",
    "Observation", "Outcome", "PastCall", "PastVersion", "Proceed", "Record", "RpcError", "Step", "Tool", "ToolResult",
    "Transition", "Turn", "View", "Written", "as_list", "as_object", "canonical", "decode", "encode", "find_key",
    "frozen", "is_key", "leaves", "render_plain_failure", "was_written",
]  # fmt: skip
