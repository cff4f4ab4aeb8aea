"""Existing records that are temporarily not found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from mcp_sim.faults.results import ResultShape, no_reads
from mcp_sim.plans.refusal import not_found
from mcp_sim.types import Observation, Proceed, Tool, ToolResult, Transition, Turn
from mcp_sim.types.call_matchers import argument_value
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import fill_message
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations


@perturbations.register("not_found_glitch")
class NotFoundGlitch(Perturbation):
    """Report an existing record as not found, with the tool's own error text, like a lagging replica.

    Affects reads of one record by its id; the next read finds it again. An agent that trusts the error creates the
    record once more.
    """

    stage = Stage.BEFORE

    message: str | None = Field(
        default=None, description="The error text. Default: the same as for a record that never existed."
    )

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_reads(domain, tools, ("get",))

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        plan = ResultShape.of(tool, domain).plan
        argument, entity = (plan.key or "", plan.entity or "record") if plan is not None else ("", "record")
        reads_one = plan is not None and plan.verb == "get"

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            transition = await proceed(turn)
            if not reads_one or not transition.observation.ok or transition.changes:
                return turn.no_effect(transition)
            if self.message is not None:
                text = fill_message(self.message, turn.call.arguments)
                error = Observation(ToolResult(text, form="text", is_error=True))
            else:
                error = not_found(tool, entity, argument_value(turn.call.arguments, argument), argument)
            return replace(transition, observation=error)

        return apply
