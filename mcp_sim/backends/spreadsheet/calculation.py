"""Values of cells, including formulas that refer to other cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.spreadsheet.formula_functions import FormulaError, Value
from mcp_sim.backends.spreadsheet.formulas import compile_formula, evaluate, is_formula
from mcp_sim.backends.spreadsheet.grids import Area, read, trim_to_values
from mcp_sim.types import Json, Record

_MOST = 1_000_000
"""Maximum number of cells that the formulas of one answer may read."""

Place: TypeAlias = tuple[str, int, int]
"""Sheet name, row and column."""


class _Pending(Exception):
    """Raised when a formula needs others that are not evaluated yet."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = places


class Calculation:
    """The values of a workbook's sheets. Each formula is evaluated once, after those that it needs.

    A circular formula is `#REF!`. `sheet` finds a sheet by name.
    """

    def __init__(self, sheet: Callable[[str], Record | None]) -> None:
        self._sheet = sheet
        self._sheets = dict[str, Record]()
        self._known = dict[Place, Json]()
        self._compiled = dict[Place, Value]()
        self._looked_at = 0

    def shown(self, sheet: Record, cells: Area) -> list[list[Json]]:
        """Return the values of the cells in an area."""
        rows = read(sheet["rows"], cells)
        self._sheets[str(sheet["name"])] = sheet
        for place in self._formulas(sheet, rows, cells):
            self._settle(place)
        return self._values(sheet, rows, cells)

    def _formulas(self, sheet: Record, rows: list[list[Json]], cells: Area) -> Iterator[Place]:
        """Yield the places of formulas that are not evaluated yet."""
        for row_number, row in enumerate(rows):
            for column, value in enumerate(row):
                place = (str(sheet["name"]), cells.top + row_number, cells.left + column)
                if is_formula(value) and place not in self._known:
                    yield place

    def _values(self, sheet: Record, rows: list[list[Json]], cells: Area) -> list[list[Json]]:
        name = str(sheet["name"])
        return [
            [
                self._known.get((name, cells.top + row_number, cells.left + column), "#REF!")
                if is_formula(value)
                else value
                for column, value in enumerate(row)
            ]
            for row_number, row in enumerate(rows)
        ]

    def _settle(self, first: Place) -> None:
        """Evaluate a formula, after those that it needs."""
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
        """Evaluate the formula at a place. Raises `_Pending`."""
        sheet = self._sheets[place[0]]
        if self._looked_at > _MOST:
            return "#REF!"
        try:
            if place not in self._compiled:
                self._compiled[place] = compile_formula(str(sheet["rows"][place[1]][place[2]]))
        except Refused:
            return "#NAME?"
        return evaluate(self._compiled[place], lambda name, area: self._seen(sheet, name, area))

    def _seen(self, own: Record, name: str | None, area: Area) -> list[list[Json]]:
        """Return the values of an area for a formula. Raises `_Pending`, or `FormulaError` for an unknown sheet."""
        sheet = own if name is None else self._sheet(name)
        if sheet is None:
            raise FormulaError("#REF!")
        cells = trim_to_values(sheet["rows"], area)
        rows = read(sheet["rows"], cells)
        self._sheets[str(sheet["name"])] = sheet
        self._looked_at += sum(len(row) + 1 for row in rows)
        pending = [place for place in self._formulas(sheet, rows, cells) if place not in self._compiled]
        if pending:
            raise _Pending(pending)
        return self._values(sheet, rows, cells)


def check_formulas(rows: Sequence[Sequence[Json]]) -> None:
    """Raise `Refused` if a cell contains an invalid formula."""
    for value in (value for row in rows for value in row):
        if is_formula(value):
            compile_formula(str(value))
