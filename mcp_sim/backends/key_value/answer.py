"""Answer calls of tools that keep values under keys."""

from __future__ import annotations

from mcp_sim.backends.key_value.matching import ENTRY, judged
from mcp_sim.backends.key_value.operations import OPERATIONS, Store
from mcp_sim.backends.matching.operations import operation_chooser
from mcp_sim.backends.rendering.outcomes import Outcome, compile_answer
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.types import Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan

_NAMES: Names = {
    "value": ("data", "content"), "keys": ("items", "results", "names", "matches"),
    "entries": ("items", "data", "values", "settings"), "exists": ("found", "present"),
    "seconds": ("ttl", "expires_in", "ttl_seconds"), "deleted": ("removed",),
    "count": ("total", "size", "deleted_count"),
}  # fmt: skip


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Compile the answer of a tool."""
    choose = operation_chooser(tool, plan, OPERATIONS, judged)
    entity = plan.entity or ENTRY

    def operate(turn: Turn) -> Outcome:
        operation, roles = choose(turn.call.arguments)
        return OPERATIONS[operation](Store(turn.view, turn.now, entity, turn.call.arguments, roles, tool))

    return compile_answer(tool, domain, operate, _NAMES)
