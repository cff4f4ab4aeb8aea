"""Reads that find nothing."""

from __future__ import annotations

from collections.abc import Sequence

from mcp_sim.faults.results import ResultShape, change_values, no_reads
from mcp_sim.types import Json, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_values import replace_part, replace_shown
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations


@perturbations.register("empty_result")
class EmptyResult(Perturbation):
    """Return an empty result for a read: a list without rows, total 0 and no next page, or an empty object.

    No effect on calls that are not known to read.
    """

    stage = Stage.ANSWER
    visibility = "implicit"

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        return change_values(tool, domain, _emptied)

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        plan = ResultShape.of(tool, domain).plan
        return plan is None or plan.verb != "get"

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_reads(domain, tools)


def _emptied(_turn: Turn, value: Json, shape: ResultShape) -> Json:
    if not shape.is_read:
        return value
    rows = shape.rows(value)
    if rows is None:
        records = shape.records(value)
        return replace_part(value, records[0], {}) if records else value
    value = replace_part(value, rows, [])
    if shape.plan is not None:
        envelope = shape.plan.envelope
        for path, nothing in ((envelope.total, 0), (envelope.cursor, None), (envelope.more, False)):
            value = replace_shown(value, path, nothing)
    return value
