"""Unrelated rows in lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import ClassVar, Literal, cast

from pydantic import Field

from mcp_sim.faults.results import ResultShape, change_values, no_reads
from mcp_sim.generate.keys import key_maker, next_key
from mcp_sim.plans.records.projection import projector
from mcp_sim.types import Change, Json, Key, Record, Tool, Turn
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import items, properties
from mcp_sim.types.json_values import get_part, replace_part
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count

LISTS = ("list", "search")
MOST_LOOKED_AT = 1_000  # the cost of a call must not grow with the records


@perturbations.register("noise_rows")
class NoiseRows(Perturbation):
    """Insert unrelated rows at random positions into a list or a search result; totals stay as they are.

    `source: world` takes existing records that are not on the page; `invented` copies real records under unused
    ids.
    """

    stage = Stage.ANSWER
    severities: ClassVar[tuple[str, ...]] = ("rows",)
    visibility = "implicit"

    rows: Count = Field(default=3, description="Number of rows to add.", examples=[3])
    source: Literal["world", "invented"] = Field(default="world", description="Where the rows come from.")

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        show = _shown_by(ResultShape.of(tool, domain))

        def mixed(turn: Turn, value: Json, shape: ResultShape) -> Json:
            rows = shape.rows(value)
            if rows is None or show is None or shape.entity is None or not shape.is_read:
                return value
            listed = cast("list[Json]", get_part(value, rows))
            chance = turn.draws.generator(f"{turn.owner}/rows")
            shown = [*listed]
            for stranger in self._strangers(turn, listed, shape.entity, chance):
                shown.insert(chance.randrange(len(shown) + 1), show(stranger))
            return replace_part(value, rows, shown)

        return change_values(tool, domain, mixed)

    def _strangers(self, turn: Turn, listed: Sequence[Json], entity: Entity, chance: Random) -> Sequence[Record]:
        known = {cast("Record", row).get(entity.key) for row in listed if isinstance(row, dict)}
        others = [
            row
            for row in islice(turn.view.rows(entity.name), MOST_LOOKED_AT)
            if row[0] not in known or self.source == "invented"
        ]
        chosen = chance.sample(others, min(self.rows, len(others)))
        if self.source == "world":
            return [record for _, record in chosen]
        return [
            {**model, entity.key: key}
            for model, key in zip([record for _, record in chosen], _free(turn, entity), strict=False)
        ]

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_reads(domain, tools, LISTS)


def _shown_by(shape: ResultShape) -> Callable[[Record], Json] | None:
    """Return how to show a record as a row of this tool; None if it does not list records."""
    if shape.plan is None or shape.entity is None or shape.plan.envelope.rows is None:
        return None
    schema = expanded(shape.tool.output_schema or {})
    for name in shape.plan.envelope.rows.split(".") if shape.plan.envelope.rows else ():
        schema = properties(schema).get(name, {})
    return projector(shape.entity, items(schema))


def _free(turn: Turn, entity: Entity) -> Iterator[Key]:
    """Yield unused ids."""
    view, keys, n = turn.view, key_maker(entity), 0
    while True:
        draws = turn.draws.about(f"{turn.draws.scope}/{turn.owner}/invented/{n}")
        key = next_key(entity, keys, view, draws)
        view, n = view.after([Change("reserve", entity.name, key)]), n + 1
        yield key
