"""Fields that should be there are not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from pydantic import Field

from mcp_sim.backends.rendering.places import Anatomy, each_value, part, unknown_fields, with_part
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_text import canonical
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations


@perturbations.register("drop_fields")
class DropFields(Perturbation):
    """Take fields out of the records that an answer shows: they are absent, null, or empty.

    Without `fields`, each record loses one of its own: the same one every time it is shown, and never an id or a link.
    No effect where no record of the answer has such a field, or where it is null or empty anyway.
    """

    stage = Stage.ANSWER
    visibility = "implicit"

    fields: list[str] = Field(
        default_factory=list[str], description="Which fields. Default: one of each record, drawn.", examples=[["email"]]
    )
    leave: Literal["absent", "null", "empty"] = Field(
        default="absent", description="What is left: no field, null, or an empty value of its type."
    )

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        return each_value(tool, domain, self._dropped)

    def _dropped(self, turn: Turn, value: Json, anatomy: Anatomy) -> Json:
        dropped = value
        for path in anatomy.records(value):
            record = cast("Record", part(value, path))
            dropped = with_part(dropped, path, self._without(record, self._chosen(turn, record, anatomy)))
        return dropped

    def _chosen(self, turn: Turn, record: Record, anatomy: Anatomy) -> Sequence[str]:
        """The fields that this record loses."""
        if self.fields:
            return self.fields
        names = [name for name, value in record.items() if not anatomy.is_key(name) and value is not None]
        draws = turn.draws.about(f"{turn.owner}/{canonical(anatomy.key_of(record))}")
        return sorted(names, key=draws.unit)[:1]

    def _without(self, record: Record, names: Sequence[str]) -> Record:
        if self.leave == "absent":
            return {name: value for name, value in record.items() if name not in names}
        left = {name: _empty(record[name]) if self.leave == "empty" else None for name in names if name in record}
        return {**record, **left}

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return False

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        return unknown_fields(domain, tools, self.fields)


def _empty(value: Json) -> Json:
    """The empty value of the same type; null has none."""
    return None if value is None else type(value)()
