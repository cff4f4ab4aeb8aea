"""Operations on cells. Each raises `Refused` if the workbook or the sheet does not exist, or an address is invalid.

Cells are those of a `range` such as `A1:C4` or `B3`, which may name its sheet (`Data!A1`), or from `range` to `end`.
"""

from __future__ import annotations

from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.backends.spreadsheet import grids
from mcp_sim.backends.spreadsheet.calculation import check_formulas
from mcp_sim.backends.spreadsheet.request import SheetRequest
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list


def read_range(request: SheetRequest) -> Outcome:
    """Return the values of cells row by row, by default of the whole sheet; of a single cell, its value."""
    record, cells = request.area
    values = request.shown(record, cells)
    place = grids.address(grids.trim_to_values(record["rows"], cells))
    facts: Record = {"values": values, "sheet_name": record["name"], "range": place}
    text = "\n".join("\t".join("" if one is None else as_text(one) for one in row) for row in values)
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
    (record, cells), value = request.area, _value(request, "value")
    check_formulas([[value]])
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
    message = f"Cleared {request.address} of {record['name']}"
    return request.store({**record, "rows": rows}, message, range=request.address)


def copy_range(request: SheetRequest) -> Outcome:
    """Copy the cells of a `range` to the cell `target`, of the same sheet or of the sheet `new`."""
    record, cells = request.area
    values, target = grids.read(record["rows"], cells), request.required("target")
    sheet, place = grids.area(target)
    into = request.sheet_named(sheet or request.text("new", record["name"]))
    rows = grids.write_values(into["rows"], place.top, place.left, values)
    return request.store({**into, "rows": rows}, f"Copied {request.address} to {target}")


def check_formula(request: SheetRequest) -> Outcome:
    """Check the syntax of a `formula`. Raises `Refused` if it is invalid."""
    formula = _value(request, "formula")
    check_formulas([[formula]])
    return done("Formula is valid", valid=True, formula=request.get("formula"))


def check_range(request: SheetRequest) -> Outcome:
    """Check the address of a `range`, and return the range of all values. Raises `Refused` if it is invalid."""
    used = grids.used_range(request.area[0]["rows"])
    message = f"Range {request.address} is valid; the sheet holds data in {used}"
    return done(message, valid=True, range=request.address, data_range=used)


def _rows(request: SheetRequest) -> list[list[Json]]:
    rows = grids.as_rows(as_list(request.get("values")))
    check_formulas(rows)
    return rows


def _value(request: SheetRequest, role: str) -> Json:
    """Return the value of one cell. A missing `=` is added if the argument is for a formula."""
    value = request.get(role)
    is_bare = "formula" in request.named(role).lower() and isinstance(value, str) and not value.startswith("=")
    return f"={value}" if is_bare else value
