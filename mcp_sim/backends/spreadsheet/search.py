"""Operations that find and replace the contents of cells, in one sheet or in all sheets of a workbook."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from mcp_sim.backends.compute.text_changes import replace_text
from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.backends.patterns import search_test
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.spreadsheet import grids
from mcp_sim.backends.spreadsheet.request import SheetRequest
from mcp_sim.types import Json, Record


def find_cells(request: SheetRequest) -> Outcome:
    """Find the cells whose value contains the text `query`. Raises `Refused` if a regular expression is invalid."""
    found = [hit for record in _sheets(request) for hit in _hits(request, record)]
    lines = "\n".join(f"{sheet}!{cell}: {as_text(value)}" for sheet, cell, value in found) or "No cells found"
    if not isinstance(request.results.get("matches", {}).get("additionalProperties"), dict):
        rows: list[Json] = [{"sheet": sheet, "cell": cell, "value": value} for sheet, cell, value in found]
        return Outcome(lines, {"count": len(rows), "matches": rows, "value": rows}, "value", is_json=True)
    by_sheet: Record = {}
    for sheet, cell, value in found:
        by_sheet.setdefault(sheet, {})[cell] = value
    return Outcome(lines, {"matches": by_sheet, "count": len(found)}, "matches", is_json=True)


def replace_cells(request: SheetRequest) -> Outcome:
    """Replace the text `query` by `replacement` in all cells. Raises `Refused` if the text is empty."""
    old, new = request.text("query"), request.text("replacement")
    if not old:
        raise Refused("invalid", "The text to find must not be empty")
    counts: dict[str, int] = {}
    for record in _sheets(request):
        count = sum(isinstance(one, str) and old in one for row in record["rows"] for one in row)
        if count:
            counts[record["name"]] = count
            rows = [[replace_text(one, old, new) if isinstance(one, str) else one for one in row]
                    for row in record["rows"]]  # fmt: skip
            request.put(record["id"], {**record, "rows": rows})
    many = sum(counts.values())
    return done(f"Replaced '{old}' with '{new}' in {many} cells", replaced=counts, count=many)


def _sheets(request: SheetRequest) -> list[Record]:
    """Return the named sheet, by default all sheets of the workbook."""
    return request.sheets() if request.get("sheet") is None else [request.sheet]


def _hits(request: SheetRequest, record: Record) -> Iterator[tuple[str, str, Json]]:
    fits = _test(request)
    for at, row in enumerate(request.shown(record, grids.EVERYTHING)):
        for place, value in enumerate(row):
            if value is not None and fits(as_text(value)):
                yield record["name"], f"{grids.letters(place)}{at + 1}", value


def _test(request: SheetRequest) -> Callable[[str], bool]:
    """Return the test of a cell's text: as a regular expression, as a whole, or by case, as the call says."""
    query = request.text("query")
    if request.mentions("regex", "regular expression"):
        return search_test(query)
    fold = str if request.others.get("case_sensitive") is True else str.lower
    wanted = fold(query)
    if any(request.others.get(name) is True for name in ("exact", "exact_match", "whole_cell")):
        return lambda text: fold(text) == wanted
    return lambda text: wanted in fold(text)
