"""What do the cells of a sheet show, where some hold formulas that look at others?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mcp_sim.abilities.formulas import Failing, compiled, is_formula, worked_out
from mcp_sim.abilities.grids import Area, read
from mcp_sim.abilities.refusal import Refused
from mcp_sim.types import Json, Record

_DEEPEST = 50
_MOST = 100_000


class Calculation:
    """The values of the sheets of a workbook, each formula worked out once.

    A formula that leads back to itself is `#REF!`; `sheet` finds a sheet by its name.
    """

    def __init__(self, sheet: Callable[[str], Record | None]) -> None:
        self._sheet = sheet
        self._known: dict[tuple[str, int, int], Json] = {}
        self._under_way: list[tuple[str, int, int]] = []
        self._looked_at = 0

    def shown(self, sheet: Record, cells: Area) -> list[list[Json]]:
        """What the cells of an area show."""
        rows = read(sheet["rows"], cells)
        self._looked_at += sum(len(row) for row in rows)
        return [
            [self._value(sheet, value, cells.top + at, cells.left + beside) for beside, value in enumerate(row)]
            for at, row in enumerate(rows)
        ]

    def _value(self, sheet: Record, value: Json, row: int, column: int) -> Json:
        if not is_formula(value):
            return value
        place = (str(sheet["name"]), row, column)
        if place in self._under_way or len(self._under_way) > _DEEPEST or self._looked_at > _MOST:
            return "#REF!"
        if place not in self._known:
            self._under_way.append(place)
            self._known[place] = self._worked_out(sheet, str(value))
            self._under_way.pop()
        return self._known[place]

    def _worked_out(self, sheet: Record, formula: str) -> Json:
        def cells(name: str | None, area: Area) -> list[list[Json]]:
            found = sheet if name is None else self._sheet(name)
            if found is None:
                raise Failing("#REF!")
            return self.shown(found, area)

        try:
            return worked_out(compiled(formula), cells)
        except Refused:
            return "#NAME?"


def check_formulas(rows: Sequence[Sequence[Json]]) -> None:
    """Raises Refused where a cell holds a formula that is not understood."""
    for value in (value for row in rows for value in row):
        if is_formula(value):
            compiled(str(value))
