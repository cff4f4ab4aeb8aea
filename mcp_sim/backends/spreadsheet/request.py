"""Arguments of one call on workbooks."""

from __future__ import annotations

import re
from dataclasses import replace

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.backends.spreadsheet import grids
from mcp_sim.backends.spreadsheet.calculation import Calculation
from mcp_sim.backends.spreadsheet.entities import DEFAULT_NAME, SHEET, WORKBOOK, key_of, sheet_of
from mcp_sim.types import Change, Json, Record, Tool, Turn
from mcp_sim.types.lexicon.english import words
from mcp_sim.types.plans import Plan

_NAME_ALONE = re.compile(r"[Rr]eturns? the (?:\w+ ){0,3}(?:name|path)\b")


class SheetTool:
    """One tool, and how to read its calls."""

    def __init__(self, tool: Tool, plan: Plan) -> None:
        self.tool, self.plan = tool, plan

    def _argument(self, turn: Turn, role: str, otherwise: Json = None) -> Json:
        name = self.plan.arguments.get(role)
        value = turn.call.arguments.get(name) if name is not None else None
        return otherwise if value is None else value

    def _book(self, turn: Turn) -> str:
        name = str(self._argument(turn, "book", DEFAULT_NAME))
        if turn.view.get(WORKBOOK, name) is None:
            raise Refused("not_found", f"Workbook not found: {name}", key=name, entity=WORKBOOK)
        return name

    def _sheets_of(self, turn: Turn, book: str) -> list[Record]:
        return [row for _, row in turn.view.find(SHEET, "workbook", book)]

    def _sheet(self, turn: Turn, named: str | None = None) -> Record:
        book = self._book(turn)
        sheets = self._sheets_of(turn, book)
        name = named or self._argument(turn, "sheet")
        if name is None and sheets:
            return sheets[0]
        record = turn.view.get(SHEET, key_of(book, str(name)))
        if record is None and name is not None and self._argument(turn, "make") is True:
            return sheet_of(book, str(name), [])
        if record is None:
            known = ", ".join(row["name"] for row in sheets)
            raise Refused("not_found", f"Sheet '{name}' not found. Available sheets: {known}", key=name, entity=SHEET)
        return record

    def _area(self, turn: Turn) -> tuple[Record, grids.Area]:
        """Return the sheet and the cells of a call, by default all cells."""
        address, start, end = (self._argument(turn, role) for role in ("range", "start", "end"))
        text = address or (f"{start}:{end}" if start and end else start)
        if text is None:
            return self._sheet(turn), self._bounds(turn)
        named, cells = grids.area(str(text))
        is_open = (
            start is not None
            and end is None
            and address is None
            and ":" not in str(text)
            and "end" in self.plan.arguments
        )
        return self._sheet(turn, named), replace(cells, bottom=None, right=None) if is_open else cells

    def _bounds(self, turn: Turn) -> grids.Area:
        """Return the rows and columns between given numbers, counted from 1; by default all."""
        top, left, bottom, right = (self._number(turn, role) for role in ("top", "left", "bottom", "right"))
        return grids.Area(max((top or 1) - 1, 0), max((left or 1) - 1, 0), _last(bottom), _last(right))

    def _number(self, turn: Turn, role: str) -> int | None:
        value = self._argument(turn, role)
        return int(value) if isinstance(value, int | float) else None

    def _store_rows(self, turn: Turn, record: Record, rows: list[list[Json]], sentence: str, **facts: Json) -> Outcome:
        changed = {**record, "rows": rows}
        return self._store_sheet(turn, changed, sentence, **facts)

    def _store_sheet(self, turn: Turn, record: Record, sentence: str, **facts: Json) -> Outcome:
        key, name = record["id"], record["name"]
        change = Change("put", SHEET, key, record, expected=turn.view.version(SHEET, key))
        return done(sentence, change, sheet=name, sheet_name=name, **facts)

    def _shown_values(self, turn: Turn, record: Record, cells: grids.Area) -> list[list[Json]]:
        """Return the values of cells, or their formulas if the tool reads formulas."""
        if self._reads_formulas(turn):
            return grids.read(record["rows"], cells)
        return Calculation(lambda name: turn.view.get(SHEET, key_of(record["workbook"], name))).shown(record, cells)

    def _address(self, turn: Turn) -> str:
        """Return the address of the cells as the call gives it."""
        address, start, end = (self._argument(turn, role) for role in ("range", "start", "end"))
        return str(address or (f"{start}:{end}" if start and end else start or "")).upper()

    def _message(self, sentence: str, name: str) -> str:
        """Return the message; only the name if the tool promises that."""
        return name if _NAME_ALONE.search(self.tool.description) else sentence

    def _reads_formulas(self, turn: Turn) -> bool:
        """Return whether the tool, or a mode that the call chooses, mentions formulas."""
        arguments = turn.call.arguments
        chosen = any(value in {"formula", "formulas"} for value in arguments.values() if isinstance(value, str))
        wanted = any(value is True and "formula" in name.lower() for name, value in arguments.items())
        return chosen or wanted or bool({"formula", "formulas"} & set(words(self.tool.name)))


def _last(number: int | None) -> int | None:
    return None if number is None else number - 1


def address(cells: grids.Area) -> str:
    """Return the address of cells: `B3` or `A1:C4`."""
    first = f"{grids.letters(cells.left)}{cells.top + 1}"
    if cells.bottom is None or cells.right is None or (cells.top, cells.left) == (cells.bottom, cells.right):
        return first
    return f"{first}:{grids.letters(cells.right)}{cells.bottom + 1}"
