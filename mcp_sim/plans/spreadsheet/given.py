"""Workbooks and sheets as records, and those of a given state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcp_sim.plans.given import Given, is_named, take_matching, wrapped
from mcp_sim.plans.operation import read_names
from mcp_sim.plans.spreadsheet import grids
from mcp_sim.types import Json, Record
from mcp_sim.types.given_rows import column_names
from mcp_sim.types.json_schema.shapes import as_list, as_object

_WORDS = read_names(__name__)
SHEET = "sheet"
WORKBOOK = "workbook"
DEFAULT_NAME = "workbook"
"""Name of the only workbook if no tool names one."""

_BOOKS, _SHEETS = _WORDS.terms("book"), _WORDS.terms("sheet")
_NAMES = _WORDS.ordered("name")
"""Names of the field that holds the name of a sheet or a workbook."""
_ROWS = _WORDS.ordered("rows")
_COLUMNS = ("columns", "headers", "header")
_ADDRESS = re.compile(r"[A-Za-z]{1,3}[1-9]\d{0,4}")
_FILE = re.compile(r".+\.(?:xlsx|xlsm|xls|ods|csv)", re.IGNORECASE)

Sheets = Mapping[str, list[list[Json]]]


def key_of(workbook: str, sheet: str) -> str:
    """Return the key of a sheet."""
    return f"{workbook}!{sheet}"


def sheet_of(workbook: str, name: str, rows: list[list[Json]]) -> Record:
    """Return a sheet as a record."""
    return {"id": key_of(workbook, name), "workbook": workbook, "name": name, "rows": rows}


def given_sheets(state: Json, *, has_books: bool, is_whole: bool) -> Given:
    """Return the sheets and workbooks of a state, and the rest of it.

    A sheet is a list of rows, a list of objects, `{columns, rows}`, or values by address. Sheets are given by name or
    as a list of objects with a name; workbooks likewise. If no tool names a workbook (`has_books`), there is only one.
    """
    given = take_matching(state, [WORKBOOK], _found)
    books: Mapping[str, Sheets] = {book["name"]: book["sheets"] for book in given.records[WORKBOOK]}
    rest = given.rest
    if is_whole and not books:
        books = _whole(state)
        rest = None if books else state
    sheets = [sheet_of(name if has_books else DEFAULT_NAME, sheet, rows)
              for name, held in books.items() for sheet, rows in held.items()]  # fmt: skip
    names = books if has_books or not books else (DEFAULT_NAME,)
    return Given({SHEET: sheets, WORKBOOK: [{"name": name} for name in names]}, rest)


def _whole(state: Json) -> Mapping[str, Sheets]:
    """Return the workbooks of a state that holds nothing else, possibly inside wrappers."""
    workbooks = [_workbooks(inner) for inner in wrapped(state)]
    return next((books for books in workbooks if books), workbooks[0])


def _found(name: str, value: Json) -> Given | None:
    """Return the workbooks under a name; None if the name is for something else."""
    is_file = _FILE.fullmatch(name) is not None
    if is_named(name, _BOOKS) and not is_file:
        books = _workbooks(value)
    else:
        sheets = _sheets(value) if is_file or is_named(name, _SHEETS) else None
        books = {name if is_file else DEFAULT_NAME: sheets} if sheets else {}
    return Given({WORKBOOK: [{"name": book, "sheets": sheets} for book, sheets in books.items()]}) if books else None


def _workbooks(value: Json) -> dict[str, Sheets]:
    """Return workbooks by name: of an object by name, of a list of objects with a name, or of the sheets of one."""
    body = as_object(value)
    sheets = None if isinstance(value, list) or any(map(_FILE.fullmatch, body)) else _sheets(value)
    if sheets:
        return {DEFAULT_NAME: sheets}
    workbooks = {name: _sheets(held) for name, held in _named(value)}
    books = {name: sheets for name, sheets in workbooks.items() if sheets is not None}
    return books if len(books) == len(workbooks) else {}


def _sheets(value: Json) -> Sheets | None:
    """Return the sheets of a workbook by name; None if a value is not a workbook."""
    rows = _grid(value) if value else None
    if rows is not None:
        return {"Sheet1": rows}
    held: Json = next((inner for name, inner in as_object(value).items() if is_named(name, _SHEETS)), value)
    by_name = {name: _grid(inner) for name, inner in _named(held)}
    sheets = {name: rows for name, rows in by_name.items() if rows is not None}
    return sheets if len(sheets) == len(by_name) and isinstance(held, dict | list) else None


def _named(value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the entries of an object, or the names in a list, each with the fields of its object besides."""
    yield from as_object(value).items()
    for item in as_list(value):
        key = next((name for name in _NAMES if isinstance(as_object(item).get(name), str | int)), None)
        if key is not None:
            yield str(item[key]), {name: held for name, held in as_object(item).items() if name != key}
        elif isinstance(item, str):
            yield item, {}


def _grid(value: Json) -> list[list[Json]] | None:
    """Return the rows of a sheet; None if a value is not a sheet."""
    if isinstance(value, list) or value == {}:
        return _rows(as_list(value))
    body = as_object(value)
    if body and all(map(_ADDRESS.fullmatch, body)) and not _is_nested(body.values()):
        return _by_address(body)
    held, columns = _part(body, _ROWS), _part(body, _COLUMNS)
    rows = None if held is None else _grid(held)
    return rows if rows is None or columns is None or _has_objects(held) else [[*column_names(columns)], *rows]


def _part(body: Record, names: Sequence[str]) -> Json:
    return next((body[name] for name in names if isinstance(body.get(name), dict | list)), None)


def _rows(values: list[Json]) -> list[list[Json]] | None:
    """Return lists, or objects below a row with the names of their fields, as rows; None if it is not a table."""
    if _has_objects(values):
        names = [*dict.fromkeys(name for row in values for name in row)]
        rows = [names, *([row.get(name) for name in names] for row in values)]
        return None if any(map(_is_nested, rows)) else rows
    return [[*as_list(row)] for row in values] if all(isinstance(row, list) for row in values) else None


def _has_objects(value: Json) -> bool:
    return bool(as_list(value)) and all(isinstance(row, dict) for row in as_list(value))


def _is_nested(values: Iterable[Json]) -> bool:
    return any(isinstance(value, dict | list) for value in values)


def _by_address(body: Record) -> list[list[Json]]:
    """Return values by address (`B3`) as rows."""
    placed = sorted(((grids.cell(address), value) for address, value in body.items()), key=lambda pair: pair[0])
    rows: list[list[Json]] = [[] for _ in range(placed[-1][0][0] + 1)]
    for (row, column), value in placed:
        rows[row] += [*([None] * (column - len(rows[row]))), value]
    return rows
