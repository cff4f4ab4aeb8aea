"""Missing fields in results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from pydantic import Field

from mcp_sim.faults.results import ResultShape, change_values, unknown_fields
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_values import canonical, get_part, replace_part
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations


@perturbations.register("drop_fields")
class DropFields(Perturbation):
    """Remove fields from the records in a result: they are absent, null, or empty. Ids and links stay."""

    stage = Stage.ANSWER
    visibility = "implicit"

    fields: list[str] = Field(
        default_factory=list[str],
        description="The fields to remove. Default: one of each record, at random.",
        examples=[["email"]],
    )
    leave: Literal["absent", "null", "empty"] = Field(
        default="absent", description="What remains; empty: an empty value of the same type."
    )

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        return change_values(tool, domain, self._dropped)

    def _dropped(self, turn: Turn, value: Json, shape: ResultShape) -> Json:
        dropped = value
        for path in shape.records(value):
            record = cast("Record", get_part(value, path))
            dropped = replace_part(dropped, path, self._without(record, self._chosen(turn, record, shape)))
        return dropped

    def _chosen(self, turn: Turn, record: Record, shape: ResultShape) -> Sequence[str]:
        """Return the fields that this record loses."""
        if self.fields:
            return self.fields
        names = [name for name, value in record.items() if not shape.is_key(name) and value is not None]
        draws = turn.draws.about(f"{turn.owner}/{canonical(shape.key_of(record))}")
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
    """Return the empty value of the same type; null for null."""
    return None if value is None else type(value)()
