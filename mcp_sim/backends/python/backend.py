"""Tools that a Python function of the spec's author answers."""

from __future__ import annotations

from mcp_sim.spec.python_functions import function
from mcp_sim.types import Json, Observation, Tool, ToolResult, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Answer, Backend, Invent, backends
from mcp_sim.types.plans import Plan


@backends.register("python")
class Python(Backend):
    """Calls the function that the plan's operation names, with the turn.

    It returns a value, an Observation (a failure, say) or a Transition with changes. Whatever it returns is validated
    and committed as the answer of any other tool; what it raises is a crash.
    """

    def compile(self, tool: Tool, plan: Plan, domain: Domain) -> Answer:
        compute, is_declared = function(plan.operation), tool.output_schema is not None

        def answer(turn: Turn, _invent: Invent) -> Transition:
            made = compute(turn)
            if isinstance(made, Transition):
                return made
            return Transition(made if isinstance(made, Observation) else _told(made, is_declared=is_declared))

        return answer


def _told(value: Json, *, is_declared: bool) -> Observation:
    if is_declared:
        return Observation(ToolResult(value))
    return Observation(ToolResult(value, form="text" if isinstance(value, str) else "json"))
