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
        rows = self._read(sheet, cells)
        for place in self._unknown(sheet, rows, cells):
            self._settle(place)
        return self._values(sheet, rows, cells)

    def _read(self, sheet: Record, cells: Area) -> list[list[Json]]:
        self._sheets[str(sheet["name"])] = sheet
        return read(sheet["rows"], cells)

    def _unknown(self, sheet: Record, rows: list[list[Json]], cells: Area) -> Iterator[Place]:
        """Yield the places of formulas that are not evaluated yet."""
        for at, row in enumerate(rows, cells.top):
            for column, value in enumerate(row, cells.left):
                if is_formula(value) and (str(sheet["name"]), at, column) not in self._known:
                    yield str(sheet["name"]), at, column

    def _values(self, sheet: Record, rows: list[list[Json]], cells: Area) -> list[list[Json]]:
        name, known = str(sheet["name"]), self._known
        return [[known.get((name, at, column), "#REF!") if is_formula(value) else value
                 for column, value in enumerate(row, cells.left)]
                for at, row in enumerate(rows, cells.top)]  # fmt: skip

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
        rows = self._read(sheet, cells)
        self._looked_at += sum(len(row) + 1 for row in rows)
        pending = [place for place in self._unknown(sheet, rows, cells) if place not in self._compiled]
        if pending:
            raise _Pending(pending)
        return self._values(sheet, rows, cells)
