"""Operations on cells, rows and columns.

Cells are those of a `range` such as `A1:C4` or `B3`, which may name its sheet (`Data!A1`), or from `range` to `end`.
Rows and columns count from 1, unless the tool says otherwise. Each operation raises `Refused` if the workbook or the
sheet does not exist, or an address or a number is out of range.
"""

from __future__ import annotations

from mcp_sim.plans.matching.positions import first_position
from mcp_sim.plans.outcome import Outcome, as_text, done
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.spreadsheet import grids
from mcp_sim.plans.spreadsheet.given import SHEET
from mcp_sim.plans.spreadsheet.request import SheetRequest
from mcp_sim.plans.text_changes import replace_text
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list

_SHIFTS = {
    ("Inserted", "row"): grids.insert_rows, ("Inserted", "column"): grids.insert_columns,
    ("Deleted", "row"): grids.delete_rows, ("Deleted", "column"): grids.delete_columns,
}  # fmt: skip


def read_range(request: SheetRequest) -> Outcome:
    """Return the values of cells row by row, by default of the whole sheet; of a single cell, its value."""
    record, cells = request.area
    values = grids.read(record["rows"], cells)
    place = grids.address(grids.trim_to_values(record["rows"], cells))
    facts: Record = {"values": values, "sheet_name": record["name"], "range": place}
    text = "\n".join("\t".join("" if item is None else as_text(item) for item in row) for row in values)
    if (cells.top, cells.left) != (cells.bottom, cells.right) or "values" in request.results:
        return Outcome(text or f"{record['name']} is empty", facts, "values", is_json=True)
    value = values[0][0] if values and values[0] and values[0][0] is not None else ""
    return Outcome(text, {**facts, "value": value}, "value")


def write_range(request: SheetRequest) -> Outcome:
    """Write rows of `values` from the first cell of a `range` on."""
    (record, cells), values = request.area, _rows(request)
    rows = grids.write_values(record["rows"], cells.top, cells.left, values)
    width, count = max((len(row) for row in values), default=1), sum(map(len, values))
    last = grids.Area(cells.top, cells.left, cells.top + len(values) - 1, cells.left + width - 1)
    message = f"Wrote {count} cells to {record['name']} at {grids.corner(cells)}"
    return request.store({**record, "rows": rows}, message, range=grids.address(last), cells_written=count)


def write_cell(request: SheetRequest) -> Outcome:
    """Write a `value` or a formula into the cell at `range`."""
    (record, cells), value = request.area, _value(request)
    rows = grids.write_values(record["rows"], cells.top, cells.left, [[value]])
    place = grids.corner(cells)
    return request.store({**record, "rows": rows}, f"Set cell {place} of {record['name']} to '{value}'", cell=place)


def append_rows(request: SheetRequest) -> Outcome:
    """Write rows of `values` below the last row of a sheet."""
    (record, _), values = request.area, _rows(request)
    rows = grids.write_values(record["rows"], len(record["rows"]), 0, values)
    return request.store({**record, "rows": rows}, f"Appended {len(values)} rows to {record['name']}")


def clear_range(request: SheetRequest) -> Outcome:
    """Remove the values of the cells of a `range`."""
    record, cells = request.area
    rows = grids.clear_cells(record["rows"], cells)
    message = f"Cleared {request.address.upper()} of {record['name']}"
    return request.store({**record, "rows": rows}, message, range=request.address.upper())


def copy_range(request: SheetRequest) -> Outcome:
    """Copy the cells of a `range` to the cell `target`, of the same sheet or of the sheet `new`."""
    record, cells = request.area
    values, target = grids.read(record["rows"], cells), request.required("target")
    sheet, place = grids.area(target)
    into = request.sheet_named(sheet or request.text("new", record["name"]))
    rows = grids.write_values(into["rows"], place.top, place.left, values)
    return request.store({**into, "rows": rows}, f"Copied {request.address.upper()} to {target}")


def find_cells(request: SheetRequest) -> Outcome:
    """Find the cells whose value contains the text `query`, in any case."""
    wanted = request.text("query").lower()
    cells: list[Record] = [
        {"sheet": record["name"], "cell": f"{grids.letters(column)}{at}", "value": value}
        for record in _sheets(request)
        for at, row in enumerate(record["rows"], 1)
        for column, value in enumerate(row)
        if value is not None and wanted in as_text(value).lower()
    ]
    lines = "\n".join(f"{cell['sheet']}!{cell['cell']}: {as_text(cell['value'])}" for cell in cells)
    text, facts = lines or "No cells found", Record(count=len(cells), matches=cells, value=cells)
    if not isinstance(request.results.get("matches", {}).get("additionalProperties"), dict):
        return Outcome(text, facts, "value", is_json=True)
    by_sheet: Record = {}
    for cell in cells:
        by_sheet.setdefault(cell["sheet"], {})[cell["cell"]] = cell["value"]
    return Outcome(text, {**facts, "matches": by_sheet}, "matches", is_json=True)


def replace_cells(request: SheetRequest) -> Outcome:
    """Replace the text `query` by `replacement` in all cells. Raises `Refused` if the text is empty."""
    old, new = request.text("query"), request.text("replacement")
    if not old:
        raise Refused("invalid", "The text to find must not be empty")
    counts: dict[str, int] = {}
    for record in _sheets(request):
        count = sum(isinstance(item, str) and old in item for row in record["rows"] for item in row)
        if count:
            counts[record["name"]] = count
            rows = [[replace_text(cell, old, new) if isinstance(cell, str) else cell for cell in row]
                    for row in record["rows"]]  # fmt: skip
            request.put(record["id"], {**record, "rows": rows}, SHEET)
    many = sum(counts.values())
    return done(f"Replaced '{old}' with '{new}' in {many} cells", replaced=counts, count=many)


def insert_rows(request: SheetRequest) -> Outcome:
    """Insert `count` rows, by default one, before the row `at`, with these `values` or empty."""
    return _shift(request, "Inserted", "row")


def insert_columns(request: SheetRequest) -> Outcome:
    """Insert `count` empty columns, by default one, before the column `at`."""
    return _shift(request, "Inserted", "column")


def delete_rows(request: SheetRequest) -> Outcome:
    """Delete `count` rows, by default one, from the row `at` on."""
    return _shift(request, "Deleted", "row")


def delete_columns(request: SheetRequest) -> Outcome:
    """Delete `count` columns, by default one, from the column `at` on."""
    return _shift(request, "Deleted", "column")


def insert_by_axis(request: SheetRequest) -> Outcome:
    """Insert rows or columns, as `axis` says."""
    return _shift(request, "Inserted", _axis(request))


def delete_by_axis(request: SheetRequest) -> Outcome:
    """Delete rows or columns, as `axis` says."""
    return _shift(request, "Deleted", _axis(request))


def _rows(request: SheetRequest) -> list[list[Json]]:
    """Return the values as rows: several rows if one of them is a list, else one row."""
    values = as_list(request.get("values"))
    if not any(isinstance(row, list) for row in values):
        values = [values] if values else []
    return [[*as_list(row)] if isinstance(row, list) else [row] for row in values]


def _value(request: SheetRequest) -> Json:
    """Return the value of one cell. A missing `=` is added if the argument is for a formula."""
    value = request.get("value")
    is_bare = "formula" in request.named("value").lower() and isinstance(value, str) and not value.startswith("=")
    return f"={value}" if is_bare else value


def _sheets(request: SheetRequest) -> list[Record]:
    """Return the named sheet, by default all sheets of the workbook."""
    return request.sheets() if request.get("sheet") is None else [request.sheet]


def _axis(request: SheetRequest) -> str:
    return "column" if request.text("axis").lower().startswith("c") else "row"


def _shift(request: SheetRequest, verb: str, noun: str) -> Outcome:
    record, number, count = request.sheet, request.number("at"), request.number("count")
    count = 1 if count is None else count
    first = first_position(request.tool, request.named("at"))
    at = -1 if number is None else number - first
    if at < 0 or count < 1 or at + count > grids.MOST:
        message = f"Invalid {noun}: {request.get('at')}. The first {noun} is {first}, and at least one is needed"
        raise Refused("invalid", message)
    rows, values = _SHIFTS[verb, noun](record["rows"], at, count), _rows(request)
    rows = grids.write_values(rows, at, 0, values) if values else rows
    return request.store({**record, "rows": rows}, f"{verb} {count} {noun}(s) at {noun} {number} of {record['name']}")
