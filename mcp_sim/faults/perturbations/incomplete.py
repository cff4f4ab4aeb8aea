"""Results that silently miss some of what there is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Annotated, ClassVar

from pydantic import Field

from mcp_sim.faults.results import ResultShape, no_reads, proceed_twice
from mcp_sim.types import Change, Proceed, Tool, Transition, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations

LISTS = ("list", "search")
MOST_LOOKED_AT = 20_000  # the cost of a call must not grow with the records


@perturbations.register("incomplete")
class Incomplete(Perturbation):
    """Leave out some records of a list or a search, like an index that has not seen all of them.

    Counts and pages agree with the rest. Another query, or the same one later, misses other records. A read by id
    always finds its record.
    """

    stage = Stage.ANSWER
    visibility = "implicit"
    severities: ClassVar[tuple[str, ...]] = ("share",)

    share: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.3, description="The share of the records that are left out.", examples=[0.3]
    )

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        shape = ResultShape.of(tool, domain)
        is_list = shape.plan is not None and shape.plan.verb in LISTS
        entity = shape.entity.name if shape.entity is not None and is_list else None

        async def apply(turn: Turn, proceed: Proceed) -> Transition:
            if entity is None:
                return turn.no_effect(await proceed(turn))
            truth, partial = await proceed_twice(turn, proceed, turn.after(self._left_out(turn, entity)))
            if truth.changes or partial.observation == truth.observation:
                return turn.no_effect(truth)
            return replace(truth, observation=partial.observation)

        return apply

    def _left_out(self, turn: Turn, entity: str) -> Iterator[Change]:
        draws = turn.draws.about(f"{turn.draws.scope}/{turn.draws.occurrence}/{turn.owner}")
        for key, _ in islice(turn.view.rows(entity), MOST_LOOKED_AT):
            if draws.unit(str(key)) < self.share:
                yield Change("remove", entity, key)

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_reads(domain, tools, LISTS)
