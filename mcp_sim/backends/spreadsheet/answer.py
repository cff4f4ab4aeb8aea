"""Answer the tools that read and write cells, search them, and change rows and columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from mcp_sim.backends.compute.text_changes import replace_text
from mcp_sim.backends.patterns import search_test
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Operate, Outcome, as_text, compile_answer, done, value_outcome
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.backends.spreadsheet import grids
from mcp_sim.backends.spreadsheet.arguments import MAKES
from mcp_sim.backends.spreadsheet.calculation import check_formulas
from mcp_sim.backends.spreadsheet.entities import SHEET
from mcp_sim.backends.spreadsheet.matching import MARKS
from mcp_sim.backends.spreadsheet.request import SheetTool, address
from mcp_sim.backends.spreadsheet.whole_sheets import WholeSheets, is_of
from mcp_sim.types import Change, Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_list, as_object, properties
from mcp_sim.types.kinds import Answer
from mcp_sim.types.lexicon.english import snake, words
from mcp_sim.types.plans import Plan


class CellSearch(SheetTool):
    """Operations that find or replace the content of cells."""

    def _find(self, turn: Turn) -> Outcome:
        """Find the cells that contain a text, in one sheet or in all."""
        holds = self._cell_test(turn, str(self._argument(turn, "query")))
        found = [one for record in self._searched_sheets(turn) for one in self._hits(turn, record, holds)]
        if not self._is_by_sheet():
            rows: list[Json] = [{"sheet": sheet, "cell": cell, "value": value} for sheet, cell, value in found]
            return value_outcome(rows, count=len(rows), matches=rows)
        by_sheet: Record = {sheet: {} for sheet, _, _ in found}
        for sheet, cell, value in found:
            by_sheet[sheet][cell] = value
        return Outcome(as_text(by_sheet), {"matches": by_sheet, "count": len(found)}, "matches", is_json=True)

    def _hits(self, turn: Turn, record: Record, holds: Callable[[str], bool]) -> Iterator[tuple[str, str, Json]]:
        for at, line in enumerate(self._shown_values(turn, record, grids.Area(0, 0, None, None))):
            for place, value in enumerate(line):
                if value is not None and holds(as_text(value)):
                    yield record["name"], f"{grids.letters(place)}{at + 1}", value

    def _is_by_sheet(self) -> bool:
        """Return whether the result holds the cells of each sheet under the sheet's name."""
        shown = properties(expanded(self.tool.output_schema or {})).get("matches", {})
        return isinstance(shown.get("additionalProperties"), dict)

    def _searched_sheets(self, turn: Turn) -> list[Record]:
        """Return the named sheet, by default all sheets of the workbook."""
        named = self._argument(turn, "sheet") is not None
        return [self._sheet(turn)] if named else self._sheets_of(turn, self._book(turn))

    def _cell_test(self, turn: Turn, query: str) -> Callable[[str], bool]:
        description = self.tool.description.lower()
        exact = any(turn.call.arguments.get(name) is True for name in ("exact", "exact_match", "whole_cell"))
        if "regex" in description or "regular expression" in description:
            return search_test(query)
        if turn.call.arguments.get("case_sensitive") is True:
            return (lambda text: text == query) if exact else (lambda text: query in text)
        low = query.lower()
        return (lambda text: text.lower() == low) if exact else (lambda text: low in text.lower())

    def _replace(self, turn: Turn) -> Outcome:
        old, new = str(self._argument(turn, "query")), str(self._argument(turn, "new_text"))
        if not old:
            raise Refused("invalid", "The text to find must not be empty")
        counted = [(one, _count_cells(one, old)) for one in self._searched_sheets(turn)]
        counts = {record["name"]: count for record, count in counted if count}
        changes = [self._change(turn, _replace_text(record, old, new)) for record, count in counted if count]
        many = sum(counts.values())
        return done(f"Replaced '{old}' with '{new}' in {many} cells", *changes, replaced=counts, count=many)

    def _change(self, turn: Turn, record: Record) -> Change:
        return Change("put", SHEET, record["id"], record, expected=turn.view.version(SHEET, record["id"]))


def _count_cells(record: Record, old: str) -> int:
    """Return how many cells contain a text."""
    return sum(1 for row in record["rows"] for value in row if isinstance(value, str) and old in value)


def _replace_text(record: Record, old: str, new: str) -> Record:
    rows = [[replace_text(one, old, new) if isinstance(one, str) else one for one in row] for row in record["rows"]]
    return {**record, "rows": rows}


_FIRST = re.compile(r"\b(0|1|zero|one)-(?:based|indexed)|(?:from|with|at|从) ?([01])\b", re.IGNORECASE)
"""Phrases of descriptions for the number of the first row."""

_NAMES: Names = {"value": ("values", "data", "sheets", "result", "rows")}


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Return the function that answers the calls of a tool."""
    return compile_answer(tool, domain, SheetOperations(tool, plan).outcome, _NAMES)


class SheetOperations(WholeSheets, CellSearch):
    """The operations of one tool. A method `_name` runs the operation `name`."""

    def __init__(self, tool: Tool, plan: Plan) -> None:
        super().__init__(tool, plan)
        self.outcome: Operate = getattr(self, f"_{plan.operation}")

    def _read(self, turn: Turn) -> Outcome:
        record, cells = self._area(turn)
        values = self._shown_values(turn, record, cells)
        single = (cells.top, cells.left) == (cells.bottom, cells.right)
        value = (values[0][0] if values and values[0] else None) if single else values
        shown = value if value is not None or not single else ""
        place = address(grids.trim_to_values(record["rows"], cells))
        facts: Record = {"values": values, "sheet_name": record["name"], "range": place}
        if "values" in properties(expanded(self.tool.output_schema or {})):
            return Outcome(as_text(values), facts, "values", is_json=True)
        return value_outcome(shown, **facts)

    def _write(self, turn: Turn) -> Outcome:
        record, cells = self._area(turn)
        values = self._values(turn)
        rows = grids.write_values(record["rows"], cells.top, cells.left, values)
        count = sum(len(row) for row in values)
        place = f"{grids.letters(cells.left)}{cells.top + 1}"
        if self._argument(turn, "values") is None:
            message = f"Set cell {place} of {record['name']} to '{values[0][0]}'"
            return self._store_rows(turn, record, rows, message, cell=place)
        width = max((len(row) for row in values), default=1)
        range_text = address(grids.Area(cells.top, cells.left, cells.top + len(values) - 1, cells.left + width - 1))
        message = f"Wrote {count} cells to {record['name']} at {place}"
        return self._store_rows(turn, record, rows, message, range=range_text, cells_written=count)

    def _values(self, turn: Turn) -> list[list[Json]]:
        given: Json = self._argument(turn, "values")
        listed = as_list(given)
        if given is None:
            rows = [[self._value(turn)]]
        else:
            is_table = _is_table(listed)
            rows = [as_list(row) if isinstance(row, list) else [row] for row in listed] if is_table else [listed]
        check_formulas(rows)
        return rows

    def _value(self, turn: Turn) -> Json:
        """Return the value of one cell. A missing `=` of a formula is added."""
        value, name = self._argument(turn, "value"), self.plan.arguments.get("value", "")
        is_bare = "formula" in name.lower() and isinstance(value, str) and not value.startswith("=")
        return f"={value}" if is_bare else value

    def _append(self, turn: Turn) -> Outcome:
        record, _ = self._area(turn)
        values = self._values(turn)
        rows = grids.write_values(record["rows"], len(record["rows"]), 0, values)
        return self._store_rows(turn, record, rows, f"Appended {len(values)} rows to {record['name']}")

    def _clear(self, turn: Turn) -> Outcome:
        record, cells = self._area(turn)
        return self._store_rows(
            turn, record, grids.clear_cells(record["rows"], cells), f"Cleared {self._address(turn)} of {record['name']}"
        )

    def _mark(self, turn: Turn) -> Outcome:
        """Store formats, merges, notes and charts as they were requested."""
        record, _ = self._area(turn)
        arguments = {
            name: value for name, value in turn.call.arguments.items() if name != self.plan.arguments.get("book")
        }
        place = self._address(turn)
        marks = [*as_list(record.get("marks")), {"tool": self.tool.name, **arguments, "cells": place}]
        kept = [one for one in marks if not (is_of(one, "merge") and self._is_undone(one, turn))]
        message = f"Cells {place} of '{record['name']}' {self._past_tense()}"
        if not MARKS & set(words(self.tool.name)):
            message = f"{' '.join(words(self.tool.name)[1:]).capitalize()} of '{record['name']}' kept {place}".rstrip()
        return self._store_sheet(turn, {**record, "marks": kept}, message, range=place)

    def _past_tense(self) -> str:
        """Return the past tense of the verb in the tool's name."""
        word = next((one for one in words(self.tool.name) if one in MARKS), "format")
        return {"format": "formatted", "style": "styled"}.get(word, f"{word.rstrip('e')}ed")

    def _is_undone(self, mark: Json, turn: Turn) -> bool:
        """Return whether this call undoes a merge."""
        return "unmerge" in words(self.tool.name) and as_object(mark).get("cells") == self._address(turn)

    def _merged(self, turn: Turn) -> Outcome:
        marks = as_list(self._sheet(turn).get("marks"))
        found: list[Json] = [as_object(one)["cells"] for one in marks if is_of(one, "merge")]
        return value_outcome(found)

    def _check(self, turn: Turn) -> Outcome:
        """Validate a formula or a range."""
        formula = self._argument(turn, "value")
        if formula is not None:
            check_formulas([[self._value(turn)]])
            return done("Formula is valid", valid=True, formula=formula)
        record, _ = self._area(turn)
        used_cells = grids.used_range(record["rows"])
        message = f"Range {self._address(turn)} is valid; the sheet holds data in {used_cells}"
        return done(message, valid=True, range=self._address(turn), data_range=used_cells)

    def _copy_cells(self, turn: Turn) -> Outcome:
        record, cells = self._area(turn)
        values = grids.read(record["rows"], cells)
        _, place = grids.area(str(self._argument(turn, "target")))
        into = self._sheet(turn, self._argument(turn, "new") or record["name"])
        rows = grids.write_values(into["rows"], place.top, place.left, values)
        return self._store_rows(turn, into, rows, f"Copied {self._address(turn)} to {self._argument(turn, 'target')}")

    def _insert_rows(self, turn: Turn) -> Outcome:
        shifted = self._shift(turn, grids.insert_rows, "Inserted", "row")
        return self._filled(turn, shifted) if self._argument(turn, "values") is not None else shifted

    def _filled(self, turn: Turn, shifted: Outcome) -> Outcome:
        """Write the given values into inserted rows."""
        record = as_object(shifted.changes[0].record)
        at = int(self._argument(turn, "at")) - self._first()
        rows = grids.write_values(record["rows"], at, 0, self._values(turn))
        return replace(shifted, changes=(replace(shifted.changes[0], record={**record, "rows": rows}),))

    def _shift_by_axis(self, turn: Turn) -> Outcome:
        """Insert or delete rows or columns, as an argument says."""
        noun = "column" if str(self._argument(turn, "axis")).lower().startswith("c") else "row"
        puts_in = bool(MAKES & set(words(self.tool.name)))
        changes = {
            ("row", True): grids.insert_rows, ("row", False): grids.delete_rows,
            ("column", True): grids.insert_columns, ("column", False): grids.delete_columns,
        }  # fmt: skip
        return self._shift(turn, changes[noun, puts_in], "Inserted" if puts_in else "Deleted", noun)

    def _delete_rows(self, turn: Turn) -> Outcome:
        return self._shift(turn, grids.delete_rows, "Deleted", "row")

    def _insert_columns(self, turn: Turn) -> Outcome:
        return self._shift(turn, grids.insert_columns, "Inserted", "column")

    def _delete_columns(self, turn: Turn) -> Outcome:
        return self._shift(turn, grids.delete_columns, "Deleted", "column")

    def _first(self) -> int:
        """Return the number of the first row, from the description or the argument's name."""
        name = self.plan.arguments["at"]
        schema = as_object(properties(expanded(self.tool.input_schema)).get(name))
        description = f"{schema.get('description', '')} {self.tool.description}"
        found = _FIRST.search(description)
        return int((found[1] or found[2]) in {"1", "one"}) if found else 0 if "index" in snake(name) else 1

    def _shift(self, turn: Turn, change: Callable[..., list[list[Json]]], done: str, noun: str) -> Outcome:
        """Insert or delete rows or columns, counted from 1 unless the argument is called an index."""
        record = self._sheet(turn)
        first = self._first()
        at, count = int(self._argument(turn, "at")) - first, int(self._argument(turn, "count", 1))
        if at < 0 or count < 1 or at + count > grids.MOST:
            raise Refused(
                "invalid", f"Invalid {noun}: {at + first}. The first {noun} is {first}, and at least one is needed"
            )
        rows = change(record["rows"], at, count)
        return self._store_rows(
            turn, record, rows, f"{done} {count} {noun}(s) at {noun} {at + first} of {record['name']}"
        )


def _is_table(rows: Sequence[Json]) -> bool:
    return any(isinstance(row, list) for row in rows)
