"""What do tools answer that look for cells by what they hold, or replace that?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from mcp_sim.backends.compute.text_changes import replaced
from mcp_sim.backends.patterns import holds_match
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Operate, Outcome, answering, done, plain, valued
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.backends.spreadsheet import grids
from mcp_sim.backends.spreadsheet.arguments import MAKES
from mcp_sim.backends.spreadsheet.calculation import check_formulas
from mcp_sim.backends.spreadsheet.entities import SHEET
from mcp_sim.backends.spreadsheet.matching import MARKS
from mcp_sim.backends.spreadsheet.request import Asking, address
from mcp_sim.backends.spreadsheet.whole_sheets import Wholes, is_of
from mcp_sim.types import Change, Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list, as_object, expanded, properties
from mcp_sim.types.kinds import Answer
from mcp_sim.types.lexicon.words import snake, words
from mcp_sim.types.plans import Plan


class Searching(Asking):
    """The answers about what cells hold."""

    def _find(self, turn: Turn) -> Outcome:
        """The cells that hold a text, of one sheet or of all."""
        holds = self._cell_test(turn, str(self._given(turn, "query")))
        found = [one for record in self._searched(turn) for one in self._hits(turn, record, holds)]
        if not self._is_by_sheet():
            rows: list[Json] = [{"sheet": sheet, "cell": cell, "value": value} for sheet, cell, value in found]
            return valued(rows, count=len(rows), matches=rows)
        by_sheet: Record = {sheet: {} for sheet, _, _ in found}
        for sheet, cell, value in found:
            by_sheet[sheet][cell] = value
        return Outcome(plain(by_sheet), {"matches": by_sheet, "count": len(found)}, "matches", is_json=True)

    def _hits(self, turn: Turn, record: Record, holds: Callable[[str], bool]) -> Iterator[tuple[str, str, Json]]:
        for at, line in enumerate(self._shown(turn, record, grids.Area(0, 0, None, None))):
            for place, value in enumerate(line):
                if value is not None and holds(plain(value)):
                    yield record["name"], f"{grids.letters(place)}{at + 1}", value

    def _is_by_sheet(self) -> bool:
        """Does its result hold the cells of each sheet under the sheet's name?"""
        shown = properties(expanded(self.tool.output_schema or {})).get("matches", {})
        return isinstance(shown.get("additionalProperties"), dict)

    def _searched(self, turn: Turn) -> list[Record]:
        """The sheet that is named, else all of the workbook."""
        named = self._given(turn, "sheet") is not None
        return [self._found(turn)] if named else self._of_book(turn, self._book(turn))

    def _cell_test(self, turn: Turn, query: str) -> Callable[[str], bool]:
        told = self.tool.description.lower()
        exact = any(turn.call.arguments.get(name) is True for name in ("exact", "exact_match", "whole_cell"))
        if "regex" in told or "regular expression" in told:
            return holds_match(query)
        if turn.call.arguments.get("case_sensitive") is True:
            return (lambda text: text == query) if exact else (lambda text: query in text)
        low = query.lower()
        return (lambda text: text.lower() == low) if exact else (lambda text: low in text.lower())

    def _replace(self, turn: Turn) -> Outcome:
        old, new = str(self._given(turn, "query")), str(self._given(turn, "new_text"))
        if not old:
            raise Refused("invalid", "The text to find must not be empty")
        held = [(one, _counted(one, old)) for one in self._searched(turn)]
        counts = {record["name"]: count for record, count in held if count}
        changes = [self._change(turn, _replaced(record, old, new)) for record, count in held if count]
        many = sum(counts.values())
        return done(f"Replaced '{old}' with '{new}' in {many} cells", *changes, replaced=counts, count=many)

    def _change(self, turn: Turn, record: Record) -> Change:
        return Change("put", SHEET, record["id"], record, expected=turn.view.version(SHEET, record["id"]))


def _counted(record: Record, old: str) -> int:
    """In how many cells does a text stand?"""
    return sum(1 for row in record["rows"] for value in row if isinstance(value, str) and old in value)


def _replaced(record: Record, old: str, new: str) -> Record:
    rows = [[replaced(one, old, new) if isinstance(one, str) else one for one in row] for row in record["rows"]]
    return {**record, "rows": rows}


_FIRST = re.compile(r"\b(0|1|zero|one)-(?:based|indexed)|(?:from|with|at|从) ?([01])\b", re.IGNORECASE)
"""How descriptions say where rows are counted from."""

_NAMES: Names = {"value": ("values", "data", "sheets", "result", "rows")}


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """How a tool answers, of the workbooks that the calls name."""
    return answering(tool, domain, Sheets(tool, plan).outcome, _NAMES)


class Sheets(Wholes, Searching):
    """The answers of one tool."""

    def __init__(self, tool: Tool, plan: Plan) -> None:
        super().__init__(tool, plan)
        self.outcome: Operate = getattr(self, f"_{plan.operation}")

    def _read(self, turn: Turn) -> Outcome:
        record, cells = self._area(turn)
        values = self._shown(turn, record, cells)
        single = (cells.top, cells.left) == (cells.bottom, cells.right)
        value = (values[0][0] if values and values[0] else None) if single else values
        told = value if value is not None or not single else ""
        place = address(grids.filled(record["rows"], cells))
        facts: Record = {"values": values, "sheet_name": record["name"], "range": place}
        if "values" in properties(expanded(self.tool.output_schema or {})):
            return Outcome(plain(values), facts, "values", is_json=True)
        return valued(told, **facts)

    def _write(self, turn: Turn) -> Outcome:
        record, cells = self._area(turn)
        values = self._values(turn)
        rows = grids.written(record["rows"], cells.top, cells.left, values)
        count = sum(len(row) for row in values)
        place = f"{grids.letters(cells.left)}{cells.top + 1}"
        if self._given(turn, "values") is None:
            told = f"Set cell {place} of {record['name']} to '{values[0][0]}'"
            return self._kept(turn, record, rows, told, cell=place)
        wide = max((len(row) for row in values), default=1)
        written = address(grids.Area(cells.top, cells.left, cells.top + len(values) - 1, cells.left + wide - 1))
        told = f"Wrote {count} cells to {record['name']} at {place}"
        return self._kept(turn, record, rows, told, range=written, cells_written=count)

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
        """Formats and merges, notes and charts are kept as they were asked for."""
        record, _ = self._area(turn)
        asked = {name: value for name, value in turn.call.arguments.items() if name != self.plan.arguments.get("book")}
        place = self._called(turn)
        marks = [*as_list(record.get("marks")), {"tool": self.tool.name, **asked, "cells": place}]
        kept = [one for one in marks if not (is_of(one, "merge") and self._parts_again(one, turn))]
        told = f"Cells {place} of '{record['name']}' {self._past()}"
        if not MARKS & set(words(self.tool.name)):
            told = f"{' '.join(words(self.tool.name)[1:]).capitalize()} of '{record['name']}' kept {place}".rstrip()
        return self._put(turn, {**record, "marks": kept}, told, range=place)

    def _past(self) -> str:
        """What was done, in the word of the tool's name."""
        word = next((one for one in words(self.tool.name) if one in MARKS), "format")
        return {"format": "formatted", "style": "styled"}.get(word, f"{word.rstrip('e')}ed")

    def _parts_again(self, mark: Json, turn: Turn) -> bool:
        """Is it a merge that this call takes back?"""
        return "unmerge" in words(self.tool.name) and as_object(mark).get("cells") == self._called(turn)

    def _merged(self, turn: Turn) -> Outcome:
        marks = as_list(self._found(turn).get("marks"))
        found: list[Json] = [as_object(one)["cells"] for one in marks if is_of(one, "merge")]
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
        into = self._found(turn, self._given(turn, "new") or record["name"])
        rows = grids.written(into["rows"], place.top, place.left, values)
        return self._kept(turn, into, rows, f"Copied {self._called(turn)} to {self._given(turn, 'target')}")

    def _insert_rows(self, turn: Turn) -> Outcome:
        shifted = self._shift(turn, grids.with_rows, "Inserted", "row")
        return self._filled(turn, shifted) if self._given(turn, "values") is not None else shifted

    def _filled(self, turn: Turn, shifted: Outcome) -> Outcome:
        """The new rows hold what is given for them."""
        record = as_object(shifted.changes[0].record)
        at = int(self._given(turn, "at")) - self._first()
        rows = grids.written(record["rows"], at, 0, self._values(turn))
        return replace(shifted, changes=(replace(shifted.changes[0], record={**record, "rows": rows}),))

    def _shift_by_axis(self, turn: Turn) -> Outcome:
        """Rows or columns, as an argument says."""
        noun = "column" if str(self._given(turn, "axis")).lower().startswith("c") else "row"
        puts_in = bool(MAKES & set(words(self.tool.name)))
        changes = {
            ("row", True): grids.with_rows, ("row", False): grids.without_rows,
            ("column", True): grids.with_columns, ("column", False): grids.without_columns,
        }  # fmt: skip
        return self._shift(turn, changes[noun, puts_in], "Inserted" if puts_in else "Deleted", noun)

    def _delete_rows(self, turn: Turn) -> Outcome:
        return self._shift(turn, grids.without_rows, "Deleted", "row")

    def _insert_columns(self, turn: Turn) -> Outcome:
        return self._shift(turn, grids.with_columns, "Inserted", "column")

    def _delete_columns(self, turn: Turn) -> Outcome:
        return self._shift(turn, grids.without_columns, "Deleted", "column")

    def _first(self) -> int:
        """What the first row is called: as is said of the argument, or by its name."""
        name = self.plan.arguments["at"]
        schema = as_object(properties(expanded(self.tool.input_schema)).get(name))
        told = f"{schema.get('description', '')} {self.tool.description}"
        said = _FIRST.search(told)
        return int((said[1] or said[2]) in {"1", "one"}) if said else 0 if "index" in snake(name) else 1

    def _shift(self, turn: Turn, change: Callable[..., list[list[Json]]], done: str, noun: str) -> Outcome:
        """Rows are counted from 1, unless an argument is called an index."""
        record = self._found(turn)
        first = self._first()
        at, count = int(self._given(turn, "at")) - first, int(self._given(turn, "count", 1))
        if at < 0 or count < 1 or at + count > grids.MOST:
            raise Refused(
                "invalid", f"Invalid {noun}: {at + first}. The first {noun} is {first}, and at least one is needed"
            )
        rows = change(record["rows"], at, count)
        return self._kept(turn, record, rows, f"{done} {count} {noun}(s) at {noun} {at + first} of {record['name']}")


def _is_table(rows: Sequence[Json]) -> bool:
    return any(isinstance(row, list) for row in rows)
