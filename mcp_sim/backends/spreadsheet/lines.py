"""Operations that insert and delete rows and columns. Later ones shift.

`at` counts from 1, unless the tool says otherwise. Each raises `Refused` if a number is out of range.
"""

from __future__ import annotations

import re

from mcp_sim.backends.outcome import Outcome
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.spreadsheet import grids
from mcp_sim.backends.spreadsheet.calculation import check_formulas
from mcp_sim.backends.spreadsheet.request import SheetRequest
from mcp_sim.types.json_schema.shapes import as_list, properties
from mcp_sim.types.lexicon.english import snake

_FIRST = re.compile(r"\b(0|1|zero|one)-(?:based|indexed)|(?:from|with|at|从) ?([01])\b", re.IGNORECASE)
"""Phrases of descriptions for the number of the first row."""

_SHIFTS = {
    ("Inserted", "row"): grids.insert_rows,
    ("Inserted", "column"): grids.insert_columns,
    ("Deleted", "row"): grids.delete_rows,
    ("Deleted", "column"): grids.delete_columns,
}


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


def _axis(request: SheetRequest) -> str:
    return "column" if request.text("axis").lower().startswith("c") else "row"


def _shift(request: SheetRequest, change: str, noun: str) -> Outcome:
    record, first = request.sheet, _first(request)
    at, count = (request.number("at") or 0) - first, request.number("count") or 1
    if at < 0 or count < 1 or at + count > grids.MOST:
        message = f"Invalid {noun}: {at + first}. The first {noun} is {first}, and at least one is needed"
        raise Refused("invalid", message)
    rows = _SHIFTS[change, noun](record["rows"], at, count)
    values = grids.as_rows(as_list(request.get("values")))
    if values:
        check_formulas(values)
        rows = grids.write_values(rows, at, 0, values)
    return request.store(
        {**record, "rows": rows}, f"{change} {count} {noun}(s) at {noun} {at + first} of {record['name']}"
    )


def _first(request: SheetRequest) -> int:
    """Return the number of the first row, from the description or the argument's name; by default 1."""
    if request.tool is None:
        return 1
    name = request.named("at")
    schema = properties(request.tool.input_schema).get(name, {})
    found = _FIRST.search(f"{schema.get('description', '')} {request.tool.description}")
    if found is not None:
        return int((found[1] or found[2]) in {"1", "one"})
    return 0 if "index" in snake(name) else 1
