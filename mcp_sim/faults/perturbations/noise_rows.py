"""A list holds rows that do not belong to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import ClassVar, Literal, cast

from pydantic import Field

from mcp_sim.backends.records.showing import shown
from mcp_sim.backends.rendering.places import Anatomy, each_value, no_reads, part, with_part
from mcp_sim.generate.keys import keys_of, next_key
from mcp_sim.types import Change, Json, Key, Record, Tool, Turn, View
from mcp_sim.types.domain import Domain, Entity
from mcp_sim.types.json_schema.shapes import expanded, items, properties
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations
from mcp_sim.types.options import Count

LISTS = ("list", "search")
MOST_LOOKED_AT = 1_000


@perturbations.register("noise_rows")
class NoiseRows(Perturbation):
    """Put rows into a list or a search that do not belong there; totals say what they said.

    `source: world` takes records that exist and are not on the page; `source: invented` makes up records in the
    likeness of real ones, with ids that no record has. They stand among the others at places that are drawn. No effect
    on calls that list nothing, and where the world has no other record to show.
    """

    stage = Stage.ANSWER
    severities: ClassVar[tuple[str, ...]] = ("rows",)
    visibility = "implicit"

    rows: Count = Field(default=3, description="How many rows are added.", examples=[3])
    source: Literal["world", "invented"] = Field(
        default="world", description="Where they come from: other records, or nowhere."
    )

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        show = _shown_by(Anatomy.of(tool, domain), domain)

        def mixed(turn: Turn, value: Json, anatomy: Anatomy) -> Json:
            rows = anatomy.rows(value)
            if rows is None or show is None or anatomy.entity is None or not anatomy.is_read:
                return value
            listed = cast("list[Json]", part(value, rows))
            chance = turn.draws.generator(f"{turn.owner}/rows")
            strangers = self._strangers(turn, listed, anatomy.entity, chance)
            return with_part(value, rows, _mixed(listed, [show(record, turn.view) for record in strangers], chance))

        return each_value(tool, domain, mixed)

    def _strangers(self, turn: Turn, listed: Sequence[Json], entity: Entity, chance: Random) -> Sequence[Record]:
        known = {cast("Record", row).get(entity.key) for row in listed if isinstance(row, dict)}
        others = [row for row in _some(turn.view, entity.name) if row[0] not in known or self.source == "invented"]
        chosen = chance.sample(others, min(self.rows, len(others)))
        if self.source == "world":
            return [record for _, record in chosen]
        return _invented(turn, entity, [record for _, record in chosen])

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return no_reads(domain, tools, LISTS)


def _shown_by(anatomy: Anatomy, domain: Domain) -> Callable[[Record, View], Json] | None:
    """How a record looks as a row of this tool; None where it lists none."""
    if anatomy.plan is None or anatomy.entity is None or anatomy.plan.envelope.rows is None:
        return None
    schema = expanded(anatomy.tool.output_schema or {})
    for name in anatomy.plan.envelope.rows.split(".") if anatomy.plan.envelope.rows else ():
        schema = properties(schema).get(name, {})
    return shown(anatomy.entity, items(schema), domain.entities)


def _some(view: View, entity: str) -> list[tuple[Key, Record]]:
    return [row for _, row in zip(range(MOST_LOOKED_AT), view.rows(entity), strict=False)]


def _invented(turn: Turn, entity: Entity, models: Sequence[Record]) -> list[Record]:
    """Records like these under ids that nobody has."""
    return [{**model, entity.key: key} for model, key in zip(models, _free(turn, entity), strict=False)]


def _free(turn: Turn, entity: Entity) -> Iterator[Key]:
    """Ids that no record has, one after the other."""
    view, keys, n = turn.view, keys_of(entity), 0
    while True:
        draws = turn.draws.about(f"{turn.draws.scope}/{turn.owner}/invented/{n}")
        key = next_key(entity, keys, view, draws)
        view, n = view.after([Change("reserve", entity.name, key)]), n + 1
        yield key


def _mixed(listed: Sequence[Json], strangers: Sequence[Json], chance: Random) -> list[Json]:
    """The rows in their order, the strangers somewhere among them."""
    mixed = list(listed)
    for stranger in strangers:
        mixed.insert(chance.randrange(len(mixed) + 1), stranger)
    return mixed
