"""Backend for tools that store and count an agent's thoughts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.backends.matching.operations import operation_plan
from mcp_sim.backends.matching.tool_profiles import ToolProfile, argument_types, profiles_of_tools
from mcp_sim.types import Key, Record, Tool
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, Tables, backends
from mcp_sim.types.lexicon.english import snake
from mcp_sim.types.plans import Plan

LOG = "thinking"
_THOUGHTS = frozenset({"thought", "thoughts", "reasoning", "reflection"})


def match_tool(profile: ToolProfile) -> Plan | None:
    """Return the plan of a tool that takes a thought, alone or with numbers that count; None for other tools."""
    thought = profile.argument(_THOUGHTS, ("string",))
    if thought is None:
        return None
    named = {snake(name): name for name in profile.arguments}
    roles = {
        "number": next((named[name] for name in ("thought_number", "step_number", "step") if name in named), None),
        "total": next((named[name] for name in ("total_thoughts", "total_steps") if name in named), None),
        "more": next((name for name in profile.arguments if "needed" in snake(name)), None),
        "branch": named.get("branch_id"),
    }
    counts = roles["number"] is not None and argument_types(profile.arguments[roles["number"]]) & {"integer", "number"}
    if not counts and not (len(profile.arguments) == 1 and profile.mentions("think", "thinking", "thought")):
        return None
    arguments = {"thought": thought, **{role: name for role, name in roles.items() if name is not None}}
    reasons = (f"'{thought}' is written down and counted",)
    return operation_plan(profile, "think", "thinking_log", arguments, 0.85, reasons, verb="update", entity=LOG)


@backends.register("thinking_log")
class ThinkingLog(Backend):
    """A thought is stored; the result shows its number, the branches, and the number of thoughts.

    Evidence: an argument `thought` beside numbers that count (`thoughtNumber`, `totalThoughts`), or as the only
    argument. A number beyond the total raises the total.
    """

    order = 140

    def match(self, evidence: ServerEvidence) -> Match | None:
        plans = [plan for profile in evidence.once(profiles_of_tools) if (plan := match_tool(profile)) is not None]
        anything: Record = {"type": ["array", "null"]}
        log = Entity(LOG, LOG, fields={"thoughts": Field("thoughts", anything)}, singleton=True)
        return Match(plans, [log], {LOG: [{"thoughts": []}]}, evidence.state) if plans else None

    def complete_tables(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Start with an empty log."""
        completed: dict[str, Mapping[Key, Record]] = dict(tables)
        completed[LOG] = {LOG: {"thoughts": []}}
        return completed

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.thinking_log.answer import answer

        return answer(tool, plan, domain)
