"""What does one call ask of workbooks: which one, which sheet, which cells, and how is it kept?"""

from __future__ import annotations

import re
from dataclasses import replace

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done
from mcp_sim.backends.spreadsheet import grids
from mcp_sim.backends.spreadsheet.calculation import Calculation
from mcp_sim.backends.spreadsheet.entities import ONLY, SHEET, WHOLE, key_of, sheet_of
from mcp_sim.types import Change, Json, Record, Tool, Turn
from mcp_sim.types.lexicon.words import words
from mcp_sim.types.plans import Plan

_NAME_ALONE = re.compile(r"[Rr]eturns? the (?:\w+ ){0,3}(?:name|path)\b")


class Asking:
    """One tool, and what its calls mean."""

    def __init__(self, tool: Tool, plan: Plan) -> None:
        self.tool, self.plan = tool, plan

    def _given(self, turn: Turn, role: str, otherwise: Json = None) -> Json:
        name = self.plan.arguments.get(role)
        value = turn.call.arguments.get(name) if name is not None else None
        return otherwise if value is None else value

    def _book(self, turn: Turn) -> str:
        name = str(self._given(turn, "book", ONLY))
        if turn.view.get(WHOLE, name) is None:
            raise Refused("not_found", f"Workbook not found: {name}", key=name, entity=WHOLE)
        return name

    def _of_book(self, turn: Turn, book: str) -> list[Record]:
        return [row for _, row in turn.view.find(SHEET, "workbook", book)]

    def _found(self, turn: Turn, named: str | None = None) -> Record:
        book = self._book(turn)
        sheets = self._of_book(turn, book)
        name = named or self._given(turn, "sheet")
        if name is None and sheets:
            return sheets[0]
        record = turn.view.get(SHEET, key_of(book, str(name)))
        if record is None and name is not None and self._given(turn, "make") is True:
            return sheet_of(book, str(name), [])
        if record is None:
            known = ", ".join(row["name"] for row in sheets)
            raise Refused("not_found", f"Sheet '{name}' not found. Available sheets: {known}", key=name, entity=SHEET)
        return record

    def _area(self, turn: Turn) -> tuple[Record, grids.Area]:
        """The sheet and the cells that a call means; everything where it names none."""
        address, start, end = (self._given(turn, role) for role in ("range", "start", "end"))
        text = address or (f"{start}:{end}" if start and end else start)
        if text is None:
            return self._found(turn), self._bounds(turn)
        named, cells = grids.area(str(text))
        is_open = (
            start is not None
            and end is None
            and address is None
            and ":" not in str(text)
            and "end" in self.plan.arguments
        )
        return self._found(turn, named), replace(cells, bottom=None, right=None) if is_open else cells

    def _bounds(self, turn: Turn) -> grids.Area:
        """The rows and columns from one number to another, counted from 1; everything where none is said."""
        top, left, bottom, right = (self._number(turn, role) for role in ("top", "left", "bottom", "right"))
        return grids.Area(max((top or 1) - 1, 0), max((left or 1) - 1, 0), _last(bottom), _last(right))

    def _number(self, turn: Turn, role: str) -> int | None:
        value = self._given(turn, role)
        return int(value) if isinstance(value, int | float) else None

    def _kept(self, turn: Turn, record: Record, rows: list[list[Json]], sentence: str, **facts: Json) -> Outcome:
        changed = {**record, "rows": rows}
        return self._put(turn, changed, sentence, **facts)

    def _put(self, turn: Turn, record: Record, sentence: str, **facts: Json) -> Outcome:
        key, name = record["id"], record["name"]
        change = Change("put", SHEET, key, record, expected=turn.view.version(SHEET, key))
        return done(sentence, change, sheet=name, sheet_name=name, **facts)

    def _shown(self, turn: Turn, record: Record, cells: grids.Area) -> list[list[Json]]:
        """What the cells show; where a tool reads formulas, what they hold."""
        if self._reads_formulas(turn):
            return grids.read(record["rows"], cells)
        return Calculation(lambda name: turn.view.get(SHEET, key_of(record["workbook"], name))).shown(record, cells)

    def _called(self, turn: Turn) -> str:
        """The cells that a call means, as they are called."""
        address, start, end = (self._given(turn, role) for role in ("range", "start", "end"))
        return str(address or (f"{start}:{end}" if start and end else start or "")).upper()

    def _told(self, sentence: str, name: str) -> str:
        """What was done; the name alone where that is said to be returned."""
        return name if _NAME_ALONE.search(self.tool.description) else sentence

    def _reads_formulas(self, turn: Turn) -> bool:
        """Does the tool, or a mode that the call chooses, speak of formulas?"""
        asked = turn.call.arguments
        chosen = any(value in {"formula", "formulas"} for value in asked.values() if isinstance(value, str))
        wanted = any(value is True and "formula" in name.lower() for name, value in asked.items())
        return chosen or wanted or bool({"formula", "formulas"} & set(words(self.tool.name)))


def _last(number: int | None) -> int | None:
    return None if number is None else number - 1


def address(cells: grids.Area) -> str:
    """The cells as they are called: `B3`, or `A1:C4`."""
    first = f"{grids.letters(cells.left)}{cells.top + 1}"
    if cells.bottom is None or cells.right is None or (cells.top, cells.left) == (cells.bottom, cells.right):
        return first
    return f"{first}:{grids.letters(cells.right)}{cells.bottom + 1}"
