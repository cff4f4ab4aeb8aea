"""What do the cells of a sheet show, where some hold formulas that look at others?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.spreadsheet.formula_functions import Failing, Value
from mcp_sim.backends.spreadsheet.formulas import compiled, is_formula, worked_out
from mcp_sim.backends.spreadsheet.grids import Area, filled, read
from mcp_sim.types import Json, Record

_MOST = 1_000_000
"""So many cells may the formulas of one answer look at together."""

Place: TypeAlias = tuple[str, int, int]
"""A sheet's name, a row, a column."""


class _Pending(Exception):
    """A formula looks at others that are not worked out yet."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = places


class Calculation:
    """The values of the sheets of a workbook, each formula worked out once, after those that it looks at.

    A formula that leads back to itself is `#REF!`; `sheet` finds a sheet by its name.
    """

    def __init__(self, sheet: Callable[[str], Record | None]) -> None:
        self._sheet = sheet
        self._sheets = dict[str, Record]()
        self._known = dict[Place, Json]()
        self._begun = dict[Place, Value]()
        self._looked_at = 0

    def shown(self, sheet: Record, cells: Area) -> list[list[Json]]:
        """What the cells of an area show."""
        rows = read(sheet["rows"], cells)
        self._sheets[str(sheet["name"])] = sheet
        for place in self._formulas(sheet, rows, cells):
            self._settle(place)
        return self._told(sheet, rows, cells)

    def _formulas(self, sheet: Record, rows: list[list[Json]], cells: Area) -> Iterator[Place]:
        """The places of the formulas that are not worked out yet."""
        for at, row in enumerate(rows):
            for beside, value in enumerate(row):
                place = (str(sheet["name"]), cells.top + at, cells.left + beside)
                if is_formula(value) and place not in self._known:
                    yield place

    def _told(self, sheet: Record, rows: list[list[Json]], cells: Area) -> list[list[Json]]:
        name = str(sheet["name"])
        return [
            [
                self._known.get((name, cells.top + at, cells.left + beside), "#REF!") if is_formula(value) else value
                for beside, value in enumerate(row)
            ]
            for at, row in enumerate(rows)
        ]

    def _settle(self, first: Place) -> None:
        """Work out a formula, and before it those that it waits for."""
        waiting = [first]
        while waiting:
            place = waiting[-1]
            try:
                found = self._known[place] if place in self._known else self._worked_out(place)
            except _Pending as pending:
                waiting.extend(pending.places)
            else:
                self._known[place] = found
                waiting.pop()

    def _worked_out(self, place: Place) -> Json:
        """What a formula comes to. Raises _Pending."""
        sheet = self._sheets[place[0]]
        if self._looked_at > _MOST:
            return "#REF!"
        try:
            if place not in self._begun:
                self._begun[place] = compiled(str(sheet["rows"][place[1]][place[2]]))
        except Refused:
            return "#NAME?"
        return worked_out(self._begun[place], lambda name, area: self._seen(sheet, name, area))

    def _seen(self, own: Record, name: str | None, area: Area) -> list[list[Json]]:
        """What a formula sees of an area. Raises _Pending, or Failing where there is no such sheet."""
        sheet = own if name is None else self._sheet(name)
        if sheet is None:
            raise Failing("#REF!")
        cells = filled(sheet["rows"], area)
        rows = read(sheet["rows"], cells)
        self._sheets[str(sheet["name"])] = sheet
        self._looked_at += sum(len(row) + 1 for row in rows)
        pending = [place for place in self._formulas(sheet, rows, cells) if place not in self._begun]
        if pending:
            raise _Pending(pending)
        return self._told(sheet, rows, cells)


def check_formulas(rows: Sequence[Sequence[Json]]) -> None:
    """Raises Refused where a cell holds a formula that is not understood."""
    for value in (value for row in rows for value in row):
        if is_formula(value):
            compiled(str(value))
