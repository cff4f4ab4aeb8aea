"""What do tools answer that look for cells by what they hold, or replace that?"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mcp_sim.backends.compute.replacing import replaced
from mcp_sim.backends.patterns import holds_match
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, done, plain, valued
from mcp_sim.backends.spreadsheet import grids
from mcp_sim.backends.spreadsheet.asking import Asking
from mcp_sim.backends.spreadsheet.entities import SHEET
from mcp_sim.types import Change, Json, Record, Turn
from mcp_sim.types.json_schema.shapes import expanded, properties


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
