"""What do tools answer that read and write cells, and change sheets?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from mcp_sim.abilities import grids
from mcp_sim.abilities.refusal import Refused
from mcp_sim.claiming.fitting import Names
from mcp_sim.claiming.outcomes import Operate, Outcome, answering, done, plain, valued
from mcp_sim.domain import Domain, Plan
from mcp_sim.extensions import Answer
from mcp_sim.schemas import as_list, as_object
from mcp_sim.sheets.calculation import Calculation, check_formulas
from mcp_sim.sheets.recognition import MARKS, ONLY, SHEET, WHOLE, key_of, sheet_of
from mcp_sim.types import Change, Json, Record, Tool, Turn
from mcp_sim.words import snake, words

_NAMES: Names = {"value": ("values", "data", "sheets", "result", "rows")}


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """How a tool answers, of the workbooks that the calls name."""
    return answering(tool, domain, Sheets(tool, plan).outcome, _NAMES)


class Sheets:
    """The answers of one tool."""

    def __init__(self, tool: Tool, plan: Plan) -> None:
        self.tool, self.plan = tool, plan
        self.outcome: Operate = getattr(self, f"_{plan.operation}")

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
        if record is None:
            known = ", ".join(row["name"] for row in sheets)
            raise Refused("not_found", f"Sheet '{name}' not found. Available sheets: {known}", key=name, entity=SHEET)
        return record

    def _area(self, turn: Turn) -> tuple[Record, grids.Area]:
        """The sheet and the cells that a call means; everything where it names none."""
        address, start, end = (self._given(turn, role) for role in ("range", "start", "end"))
        text = address or (f"{start}:{end}" if start and end else start)
        if text is None:
            return self._found(turn), grids.Area(0, 0, None, None)
        named, cells = grids.area(str(text))
        is_open = (
            start is not None
            and end is None
            and address is None
            and ":" not in str(text)
            and "end" in self.plan.arguments
        )
        return self._found(turn, named), replace(cells, bottom=None, right=None) if is_open else cells

    def _kept(self, turn: Turn, record: Record, rows: list[list[Json]], sentence: str) -> Outcome:
        changed = {**record, "rows": rows}
        return self._put(turn, changed, sentence)

    def _put(self, turn: Turn, record: Record, sentence: str) -> Outcome:
        key = record["id"]
        change = Change("put", SHEET, key, record, expected=turn.view.version(SHEET, key))
        return done(sentence, change)

    def _read(self, turn: Turn) -> Outcome:
        record, cells = self._area(turn)
        values = self._shown(turn, record, cells)
        single = (cells.top, cells.left) == (cells.bottom, cells.right)
        value = (values[0][0] if values and values[0] else None) if single else values
        told = value if value is not None or not single else ""
        return valued(told, values=values, sheet_name=record["name"])

    def _shown(self, turn: Turn, record: Record, cells: grids.Area) -> list[list[Json]]:
        """What the cells show; where a tool reads formulas, what they hold."""
        if {"formula", "formulas"} & set(words(self.tool.name)):
            return grids.read(record["rows"], cells)
        return Calculation(lambda name: turn.view.get(SHEET, key_of(record["workbook"], name))).shown(record, cells)

    def _write(self, turn: Turn) -> Outcome:
        record, cells = self._area(turn)
        values = self._values(turn)
        rows = grids.written(record["rows"], cells.top, cells.left, values)
        count = sum(len(row) for row in values)
        place = f"{grids.letters(cells.left)}{cells.top + 1}"
        if self._given(turn, "values") is None:
            return self._kept(turn, record, rows, f"Set cell {place} of {record['name']} to '{values[0][0]}'")
        return self._kept(turn, record, rows, f"Wrote {count} cells to {record['name']} at {place}")

    def _values(self, turn: Turn) -> list[list[Json]]:
        given: Json = self._given(turn, "values")
        listed = as_list(given)
        if given is None:
            rows = [[self._value(turn)]]
        else:
            is_table = _is_table(listed)
            rows = [as_list(row) if isinstance(row, list) else [row] for row in listed] if is_table else [listed]
        check_formulas(rows)
        return rows

    def _value(self, turn: Turn) -> Json:
        """The value of one cell; a formula begins with `=`, also where that is left out."""
        value, name = self._given(turn, "value"), self.plan.arguments.get("value", "")
        is_bare = "formula" in name.lower() and isinstance(value, str) and not value.startswith("=")
        return f"={value}" if is_bare else value

    def _append(self, turn: Turn) -> Outcome:
        record, _ = self._area(turn)
        values = self._values(turn)
        rows = grids.written(record["rows"], len(record["rows"]), 0, values)
        return self._kept(turn, record, rows, f"Appended {len(values)} rows to {record['name']}")

    def _clear(self, turn: Turn) -> Outcome:
        record, cells = self._area(turn)
        return self._kept(
            turn, record, grids.cleared(record["rows"], cells), f"Cleared {self._called(turn)} of {record['name']}"
        )

    def _mark(self, turn: Turn) -> Outcome:
        """Formats and merges are kept as they were asked for."""
        record, _ = self._area(turn)
        asked = {name: value for name, value in turn.call.arguments.items() if name != self.plan.arguments.get("book")}
        marks = [*as_list(record.get("marks")), {"tool": self.tool.name, **asked, "cells": self._called(turn)}]
        kept = [one for one in marks if not (_is_of(one, "merge") and self._parts_again(one, turn))]
        place = self._called(turn)
        return self._put(turn, {**record, "marks": kept}, f"Cells {place} of '{record['name']}' {self._past()}")

    def _past(self) -> str:
        """What was done, in the word of the tool's name."""
        word = next((one for one in words(self.tool.name) if one in MARKS), "format")
        return {"format": "formatted", "style": "styled"}.get(word, f"{word.rstrip('e')}ed")

    def _called(self, turn: Turn) -> str:
        """The cells that a call means, as they are called."""
        address, start, end = (self._given(turn, role) for role in ("range", "start", "end"))
        return str(address or (f"{start}:{end}" if start and end else start or "")).upper()

    def _parts_again(self, mark: Json, turn: Turn) -> bool:
        """Is it a merge that this call takes back?"""
        return "unmerge" in words(self.tool.name) and as_object(mark).get("cells") == self._called(turn)

    def _merged(self, turn: Turn) -> Outcome:
        marks = as_list(self._found(turn).get("marks"))
        found: list[Json] = [as_object(one)["cells"] for one in marks if _is_of(one, "merge")]
        return valued(found)

    def _check(self, turn: Turn) -> Outcome:
        """Is a formula, or a range, one that could be?"""
        formula = self._given(turn, "value")
        if formula is not None:
            check_formulas([[self._value(turn)]])
            return done("Formula is valid", valid=True, formula=formula)
        record, _ = self._area(turn)
        used = grids.used(record["rows"])
        told = f"Range {self._called(turn)} is valid; the sheet holds data in {used}"
        return done(told, valid=True, range=self._called(turn), data_range=used)

    def _copy_cells(self, turn: Turn) -> Outcome:
        record, cells = self._area(turn)
        values = grids.read(record["rows"], cells)
        _, place = grids.area(str(self._given(turn, "target")))
        into = self._found(turn, self._given(turn, "new"))
        rows = grids.written(into["rows"], place.top, place.left, values)
        return self._kept(turn, into, rows, f"Copied {self._called(turn)} to {self._given(turn, 'target')}")

    def _insert_rows(self, turn: Turn) -> Outcome:
        return self._shift(turn, grids.with_rows, "Inserted", "row")

    def _delete_rows(self, turn: Turn) -> Outcome:
        return self._shift(turn, grids.without_rows, "Deleted", "row")

    def _insert_columns(self, turn: Turn) -> Outcome:
        return self._shift(turn, grids.with_columns, "Inserted", "column")

    def _delete_columns(self, turn: Turn) -> Outcome:
        return self._shift(turn, grids.without_columns, "Deleted", "column")

    def _shift(self, turn: Turn, change: Callable[..., list[list[Json]]], done: str, noun: str) -> Outcome:
        """Rows are counted from 1, unless an argument is called an index."""
        record = self._found(turn)
        first = 0 if "index" in snake(self.plan.arguments["at"]) else 1
        at, count = int(self._given(turn, "at")) - first, int(self._given(turn, "count", 1))
        if at < 0 or count < 1 or at + count > grids.MOST:
            raise Refused(
                "invalid", f"Invalid {noun}: {at + first}. The first {noun} is {first}, and at least one is needed"
            )
        rows = change(record["rows"], at, count)
        return self._kept(turn, record, rows, f"{done} {count} {noun}(s) at {noun} {at + first} of {record['name']}")

    def _create_book(self, turn: Turn) -> Outcome:
        name = str(self._given(turn, "book"))
        if turn.view.get(WHOLE, name) is not None:
            raise Refused("conflict", f"Workbook already exists: {name}")
        first = sheet_of(name, str(self._given(turn, "sheet", "Sheet1")), [])
        changes = (Change("put", WHOLE, name, {"name": name}), Change("put", SHEET, first["id"], first))
        return done(f"Created workbook {name}", *changes)

    def _create_sheet(self, turn: Turn) -> Outcome:
        name = str(self._given(turn, "sheet"))
        return self._added(turn, name, [], f"Sheet '{name}' created")

    def _copy_sheet(self, turn: Turn) -> Outcome:
        record, name = self._found(turn), str(self._given(turn, "new"))
        return self._added(turn, name, record["rows"], f"Sheet '{record['name']}' copied as '{name}'")

    def _rename_sheet(self, turn: Turn) -> Outcome:
        record = self._found(turn)
        name = str(self._given(turn, "new"))
        added = self._added(turn, name, record["rows"], f"Sheet '{record['name']}' renamed to '{name}'")
        gone = Change("remove", SHEET, record["id"], expected=turn.view.version(SHEET, record["id"]))
        return replace(added, changes=(gone, *added.changes)) if added.changes else added

    def _added(self, turn: Turn, name: str, rows: list[list[Json]], sentence: str) -> Outcome:
        book = self._book(turn)
        if turn.view.get(SHEET, key_of(book, name)) is not None:
            raise Refused("conflict", f"Sheet '{name}' already exists")
        return self._put(turn, sheet_of(book, name, rows), sentence)

    def _delete_sheet(self, turn: Turn) -> Outcome:
        record = self._found(turn)
        if len(self._of_book(turn, record["workbook"])) == 1:
            raise Refused("invalid", f"Cannot delete '{record['name']}': a workbook needs at least one sheet")
        change = Change("remove", SHEET, record["id"], expected=turn.view.version(SHEET, record["id"]))
        sentence = f"Sheet '{record['name']}' deleted"
        return done(sentence, change)

    def _sheets(self, turn: Turn) -> Outcome:
        book = self._book(turn)
        sheets = self._of_book(turn, book)
        names = [row["name"] for row in sheets]
        facts: Record = {"filename": book.rsplit("/", 1)[-1], "sheets": names}
        if not {"metadata", "info", "describe"} & {*words(self.tool.name)}:
            return valued(names, **facts, name=book)
        ranges = {row["name"]: grids.used(row["rows"]) for row in sheets}
        asked = turn.call.arguments
        wants = any(value is True and "range" in name.lower() for name, value in asked.items())
        facts |= {"used_ranges": ranges} if wants else {}
        return Outcome(plain(facts), facts, is_json=True)


def _is_of(mark: Json, word: str) -> bool:
    """Is it kept by a tool of this word?"""
    return word in words(str(as_object(mark).get("tool", "")))


def _is_table(rows: Sequence[Json]) -> bool:
    return any(isinstance(row, list) for row in rows)
