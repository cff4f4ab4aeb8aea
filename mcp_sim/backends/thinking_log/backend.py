"""Which tools take a thought, and which argument is what to them?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.backends.matching.operations import plan_of
from mcp_sim.backends.matching.tool_profiles import Purpose, kinds_of, whole_purposes
from mcp_sim.types import Key, Record, Tool
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.kinds import Answer, Backend, Match, ServerEvidence, Tables, backends
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


@backends.register("thinking_log")
class ThinkingLog(Backend):
    """A thought is kept; the answer tells its number, the branches, and how many there are by now.

    Known by an argument `thought` beside numbers that count (`thoughtNumber`, `totalThoughts`), or as the only thing
    that the tool takes. A number beyond the total raises the total.
    """

    order = 140

    def match(self, evidence: ServerEvidence) -> Match | None:
        plans = [plan for purpose in evidence.once(whole_purposes) if (plan := recognised(purpose)) is not None]
        anything: Record = {"type": ["array", "null"]}
        log = Entity(LOG, LOG, fields={"thoughts": Field("thoughts", anything)}, singleton=True)
        return Match(plans, [log], {LOG: [{"thoughts": []}]}, evidence.state) if plans else None

    def complete_tables(self, tables: Tables, plans: Sequence[Plan], seed: int) -> Tables:
        """Nothing was thought before the world began."""
        begun: dict[str, Mapping[Key, Record]] = dict(tables)
        begun[LOG] = {LOG: {"thoughts": []}}
        return begun

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        from mcp_sim.backends.thinking_log.answer import answer

        return answer(tool, plan, domain)
