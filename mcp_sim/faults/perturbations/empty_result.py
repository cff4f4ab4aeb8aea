"""The answer holds nothing, as if nothing were there."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.backends.rendering.places import Anatomy, each_value, no_reads, with_part, with_told
from mcp_sim.types import Json, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations


@perturbations.register("empty_result")
class EmptyResult(Perturbation):
    """Answer a read with nothing: a list without rows, a total of 0 and no next page; an empty object for one record.

    The agent sees a success, and may conclude that there are no such records. No effect on calls that are not known to
    read, and where nothing was found anyway.
    """

    stage = Stage.ANSWER
    visibility = "implicit"

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        return each_value(tool, domain, _emptied)

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        plan = Anatomy.of(tool, domain).plan
        return plan is None or plan.verb != "get"

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_reads(domain, tools)


def _emptied(_turn: Turn, value: Json, anatomy: Anatomy) -> Json:
    if not anatomy.is_read:
        return value
    rows = anatomy.rows(value)
    if rows is None:
        records = anatomy.records(value)
        return with_part(value, records[0], {}) if records else value
    value = with_part(value, rows, [])
    if anatomy.plan is not None:
        envelope = anatomy.plan.envelope
        for path, nothing in ((envelope.total, 0), (envelope.cursor, None), (envelope.more, False)):
            value = with_told(value, path, nothing)
    return value
