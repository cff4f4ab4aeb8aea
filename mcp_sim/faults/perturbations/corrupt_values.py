"""Values in the answer are wrong, and look right."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Annotated, Any, Literal, TypeAlias, cast

from pydantic import Field

from mcp_sim.backends.rendering.places import Anatomy, each_value, part, unknown_fields, with_part
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_schema.shapes import main_type
from mcp_sim.types.json_text import canonical
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

_FACTORS = (0.001, 0.01, 100, 1000)


@dataclass(frozen=True, slots=True)
class _Cell:
    """A value of a record under way, and what may be asked about it. `others` are the field's values elsewhere."""

    value: Json
    is_text: bool
    draws: Draws
    name: str
    others: Sequence[Json]
    amount: float


Corrupt: TypeAlias = Callable[[_Cell], Json]


@perturbations.register("corrupt_values")
class CorruptValues(Perturbation):
    """Change values in the records that an answer shows, never ids or links; the same record is wrong in the same way.

    `noise` moves numbers by up to `amount` and swaps letters in texts; `swap` shows the value of another record;
    `off_by_one` moves whole numbers by 1 and dates by a day; `unit` shows numbers in another unit (cents for euros);
    `encoding` shows texts as if their bytes had been read in the wrong encoding, or escaped for HTML. Without `fields`,
    one field of each record that can be corrupted so is drawn. No effect where an answer has no such field.
    """

    stage = Stage.ANSWER
    visibility = "implicit"

    how: Literal["noise", "swap", "off_by_one", "unit", "encoding"] = Field(
        default="noise", description="In which way.", examples=["noise"]
    )
    fields: list[str] = Field(
        default_factory=list[str], description="Which fields. Default: one of each record, drawn."
    )
    amount: Annotated[float, Field(gt=0, le=1)] = Field(
        default=0.1, description="How far `noise` moves a number at most, as a part of it."
    )

    def compile(self, tool: Tool, domain: Domain) -> Apply:
        return each_value(tool, domain, self._corrupt)

    def _corrupt(self, turn: Turn, value: Json, anatomy: Anatomy) -> Json:
        corrupted = value
        for path in anatomy.records(value):
            corrupted = with_part(corrupted, path, self._corrupted(turn, part(value, path), anatomy))
        return corrupted

    def _corrupted(self, turn: Turn, record: Record, anatomy: Anatomy) -> Record:
        draws = turn.draws.about(f"{turn.owner}/{canonical(anatomy.key_of(record))}")
        wrong = dict[str, Json]()
        for name in self.fields or record:
            if name in record and not anatomy.is_key(name):
                changed = HOW[self.how](self._cell(turn, record, name, anatomy, draws))
                if changed != record[name]:
                    wrong[name] = changed
        if wrong and not self.fields:
            name = min(wrong, key=draws.unit)
            wrong = {name: wrong[name]}
        return {**record, **wrong}

    def _cell(self, turn: Turn, record: Record, name: str, anatomy: Anatomy, draws: Draws) -> _Cell:
        others = _others(turn, record, name, anatomy) if self.how == "swap" else ()
        return _Cell(record[name], anatomy.is_text(name, record[name]), draws, name, others, self.amount)

    def keeps_schema(self, tool: Tool, domain: Domain) -> bool:
        return False

    def problems(self, domain: Domain, tools: Sequence[Tool]) -> Sequence[str]:
        keys = [
            f"{name} identifies a record or links to one; ids are never corrupted"
            for name in self.fields
            if tools and all(Anatomy.of(tool, domain).is_key(name) for tool in tools)
        ]
        known = [entity.fields for tool in tools if (entity := Anatomy.of(tool, domain).entity) is not None]
        types = {name: {main_type(one[name].schema) for one in known if name in one} for name in self.fields}
        unfit = [
            f"{name}: {self.how} changes no {' or '.join(sorted(found))}"
            for name, found in types.items()
            if found and not found & {"", *TYPES[self.how]}
        ]
        return [*unknown_fields(domain, tools, self.fields), *keys, *unfit]


def _others(turn: Turn, record: Record, name: str, anatomy: Anatomy) -> list[Json]:
    """The first values that other records have in a field."""
    if anatomy.entity is None:
        return []
    found = list[Json]()
    for _, other in turn.view.rows(anatomy.entity.name):
        value = other.get(name)
        if value is not None and value != record[name] and value not in found:
            found.append(value)
        if len(found) == 20:
            break
    return found


def _number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _noise(cell: _Cell) -> Json:
    if _number(cell.value):
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
    if not _number(cell.value):
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
