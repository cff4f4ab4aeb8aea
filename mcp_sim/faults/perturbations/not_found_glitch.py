"""A record that exists is not found, for once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import Field

from mcp_sim.backends.records.refusals import not_found
from mcp_sim.backends.rendering.places import Anatomy, no_reads
from mcp_sim.types import Observation, Proceed, Tool, ToolResult, Transition, Turn
from mcp_sim.types.call_matchers import argument_value
from mcp_sim.types.domain import Domain
from mcp_sim.types.error_templates import own_words
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations


@perturbations.register("not_found_glitch")
class NotFoundGlitch(Perturbation):
    """Say of a record that exists that it was not found, in the tool's own words, as a lagging replica does.

    Only where one record is read by its id: nothing changes, and the next look finds it again. No effect on lists and
    writes, and where the record really does not exist. An agent that believes it creates the record once more.
    """

    stage = Stage.BEFORE

    message: str | None = Field(
        default=None,
        description="What the agent reads. Default: what it reads of a record that never existed.",
    )

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_reads(domain, tools, ("get",))

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        plan = Anatomy.of(tool, domain).plan
        argument, entity = (plan.key or "", plan.entity or "record") if plan is not None else ("", "record")
        reads_one = plan is not None and plan.verb == "get"

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            transition = await proceed(turn)
            if not reads_one or not transition.observation.ok or transition.changes:
                return turn.no_effect(transition)
            if self.message is not None:
                text = own_words(self.message, turn.call.arguments)
                told = Observation(ToolResult(text, form="text", is_error=True))
            else:
                told = not_found(tool, entity, argument_value(turn.call.arguments, argument), argument)
            return replace(transition, observation=told)

        return apply
