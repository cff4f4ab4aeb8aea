"""Plausible but wrong values in results."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import Field

from mcp_sim.faults.results import ResultShape, change_values, unknown_fields
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import Draws
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.json_values import canonical, get_part, is_number, replace_part
from mcp_sim.types.kinds import Apply, Perturbation, Stage, perturbations

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
TYPES: Mapping[str, Sequence[str]] = {
    "noise": ("integer", "number", "string"),
    "swap": ("array", "boolean", "integer", "number", "object", "string"),
    "off_by_one": ("integer", "number", "string"),
    "unit": ("integer", "number"),
    "encoding": ("string",),
}
"""The types of fields that can be corrupted in each way."""

_FACTORS = (0.001, 0.01, 100, 1000)  # the usual mistakes of units: thousands, and cents for whole amounts


@frozen
class _Cell:
    """A value of a record, and what its corruption depends on. `others` are the field's values in other records."""

    value: Json
    is_text: bool
    draws: Draws
    name: str
    others: Sequence[Json]
    amount: float


Corrupt: TypeAlias = Callable[[_Cell], Json]


@perturbations.register("corrupt_values")
class CorruptValues(Perturbation):
    """Corrupt values of the records in a result, but never ids or links. A record is always corrupted in the same way.

    `noise` changes numbers by up to `amount` and swaps letters in texts. `swap` shows the value of another record.
    `off_by_one` changes integers by 1 and dates by a day. `unit` shows cents instead of euros and the like. `encoding`
    decodes texts wrongly, or escapes them for HTML.
    """

    stage = Stage.ANSWER
    visibility = "implicit"

    how: Literal["noise", "swap", "off_by_one", "unit", "encoding"] = Field(
        default="noise", description="How values are corrupted.", examples=["noise"]
    )
    fields: list[str] = Field(
        default_factory=list[str], description="The fields to corrupt. Default: one of each record, at random."
    )
    amount: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.1, description="The maximum relative change of a number by `noise`."
    )

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        return change_values(tool, domain, self._corrupt)

    def _corrupt(self, turn: Turn, value: Json, shape: ResultShape) -> Json:
        corrupted = value
        for path in shape.records(value):
            corrupted = replace_part(corrupted, path, self._corrupted(turn, get_part(value, path), shape))
        return corrupted

    def _corrupted(self, turn: Turn, record: Record, shape: ResultShape) -> Record:
        draws = turn.draws.about(f"{turn.owner}/{canonical(shape.key_of(record))}")
        wrong = dict[str, Json]()
        for name in self.fields or record:
            if name in record and not shape.is_key(name):
                changed = HOW[self.how](self._cell(turn, record, name, shape, draws))
                if changed != record[name]:
                    wrong[name] = changed
        if wrong and not self.fields:
            name = min(wrong, key=draws.unit)
            wrong = {name: wrong[name]}
        return {**record, **wrong}

    def _cell(self, turn: Turn, record: Record, name: str, shape: ResultShape, draws: Draws) -> _Cell:
        others = _others(turn, record, name, shape) if self.how == "swap" else ()
        return _Cell(record[name], shape.is_text(name, record[name]), draws, name, others, self.amount)

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return False

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        keys = [
            f"{name} identifies a record or links to one; ids are never corrupted"
            for name in self.fields
            if tools and all(ResultShape.of(tool, domain).is_key(name) for tool in tools)
        ]
        known = [entity.fields for tool in tools if (entity := ResultShape.of(tool, domain).entity) is not None]
        types = {name: {main_type(fields[name].schema) for fields in known if name in fields} for name in self.fields}
        unfit = [
            f"{name}: {self.how} changes no {' or '.join(sorted(held))}"
            for name, held in types.items()
            if held and not held & {"", *TYPES[self.how]}
        ]
        return [*unknown_fields(domain, tools, self.fields), *keys, *unfit]


def _others(turn: Turn, record: Record, name: str, shape: ResultShape) -> list[Json]:
    """Return the first values that other records have in a field."""
    if shape.entity is None:
        return []
    values = list[Json]()
    for _, other in turn.view.rows(shape.entity.name):
        value = other.get(name)
        if value is not None and value != record[name] and value not in values:
            values.append(value)
        if len(values) == 20:
            break
    return values


def _noise(cell: _Cell) -> Json:
    if is_number(cell.value):
        moved = cell.value * (1 + cell.amount * (2 * cell.draws.unit(f"{cell.name}/noise") - 1))
        return round(moved) if isinstance(cell.value, int) else round(moved, 2)
    if not cell.is_text or len(cell.value) < 2:
        return cell.value
    at = int(cell.draws.unit(f"{cell.name}/noise") * (len(cell.value) - 1))
    text: str = cell.value
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]


def _swap(cell: _Cell) -> Json:
    return min(cell.others, key=lambda other: cell.draws.unit(canonical(other)), default=cell.value)


def _off_by_one(cell: _Cell) -> Json:
    step = 1 if cell.draws.unit(f"{cell.name}/step") < 0.5 else -1
    if isinstance(cell.value, int) and not isinstance(cell.value, bool):
        return cell.value + (1 if cell.value == 0 else step)
    if isinstance(cell.value, str) and _DAY.match(cell.value):
        try:
            day = date.fromisoformat(cell.value[:10]) + timedelta(days=step)
        except (ValueError, OverflowError):
            return cell.value
        return day.isoformat() + cell.value[10:]
    return cell.value


def _unit(cell: _Cell) -> Json:
    if not is_number(cell.value):
        return cell.value
    factors = [factor for factor in _FACTORS if factor > 1 or isinstance(cell.value, float)]
    return round(cell.value * cell.draws.choice(f"{cell.name}/unit", factors), 6)


def _encoding(cell: _Cell) -> Json:
    if not cell.is_text:
        return cell.value
    text: str = cell.value
    return html.escape(text) if text.isascii() else text.encode().decode("cp1252", "replace")


HOW: Mapping[Any, Corrupt] = cast(
    "Mapping[Any, Corrupt]",
    {"noise": _noise, "swap": _swap, "off_by_one": _off_by_one, "unit": _unit, "encoding": _encoding},
)
