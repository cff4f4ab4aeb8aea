"""Which tools take a thought, and which argument is what to them?"""

from __future__ import annotations

from mcp_sim.backends.matching.arguments import kinds_of
from mcp_sim.backends.matching.operations import plan_of
from mcp_sim.backends.matching.purposes import Purpose
from mcp_sim.types.lexicon.words import snake
from mcp_sim.types.plans import Plan

LOG = "thinking"
_THOUGHTS = frozenset({"thought", "thoughts", "reasoning", "reflection"})


def recognised(purpose: Purpose) -> Plan | None:
    """The plan of a tool that takes a thought beside numbers that count, or nothing else."""
    thought = purpose.argument(_THOUGHTS, ("string",))
    if thought is None:
        return None
    named = {snake(name): name for name in purpose.arguments}
    roles = {
        "number": next((named[name] for name in ("thought_number", "step_number", "step") if name in named), None),
        "total": next((named[name] for name in ("total_thoughts", "total_steps") if name in named), None),
        "more": next((name for name in purpose.arguments if "needed" in snake(name)), None),
        "branch": named.get("branch_id"),
    }
    counts = roles["number"] is not None and kinds_of(purpose.arguments[roles["number"]]) & {"integer", "number"}
    if not counts and not (len(purpose.arguments) == 1 and purpose.says("think", "thinking", "thought")):
        return None
    arguments = {"thought": thought, **{role: name for role, name in roles.items() if name is not None}}
    reasons = (f"'{thought}' is written down and counted",)
    return plan_of(purpose, "think", "thinking_log", arguments, 0.85, reasons, verb="update", entity=LOG)
