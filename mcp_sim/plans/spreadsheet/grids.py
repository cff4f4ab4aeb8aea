"""Cell addresses such as `B3` and `A1:C4`, and changes of rows and columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mcp_sim.plans.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.frozen import frozen

Rows = Sequence[Sequence[Json]]
MOST = 100_000
"""Maximum number of rows and of columns."""

MOST_CELLS = 1_000_000
"""Maximum number of cells in a sheet, and of one read."""

_CELL = re.compile(r"\$?([A-Za-z]{1,3})\$?([1-9]\d{0,6})")
_ROW = re.compile(r"[1-9]\d{0,6}")


@frozen
class Area:
    """Cells from the first to the last row and column, counted from 0; None extends to the end."""

    top: int
    left: int
    bottom: int | None
    right: int | None


def cell(address: str) -> tuple[int, int]:
    """Return the row and column of an address, counted from 0. Raises `Refused`."""
    match = _CELL.fullmatch(address.strip())
    if match is None or int(match[2]) > MOST:
        raise Refused("invalid", f"Invalid cell reference: {address!r}. Expected a column and a row, such as B3")
    return int(match[2]) - 1, column(match[1])


def column(letters: str) -> int:
    """Return the number of a column: `A` is 0, `Z` 25, `AA` 26."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number - 1


def letters(number: int) -> str:
    """Return the letters of a column number."""
    text, number = "", number + 1
    while number:
        number, rest = divmod(number - 1, 26)
        text = chr(65 + rest) + text
    return text


def used_range(rows: Rows) -> str:
    """Return the range of all values, `A1:A1` for an empty sheet."""
    width, height = max((len(row) for row in rows), default=0), len(rows)
    return f"A1:{letters(max(width, 1) - 1)}{max(height, 1)}"


def corner(cells: Area) -> str:
    """Return the address of the first cell of an area."""
    return f"{letters(cells.left)}{cells.top + 1}"


def address(cells: Area) -> str:
    """Return the address of an area: `B3` or `A1:C4`."""
    if cells.bottom is None or cells.right is None or (cells.top, cells.left) == (cells.bottom, cells.right):
        return corner(cells)
    return f"{corner(cells)}:{letters(cells.right)}{cells.bottom + 1}"


def area(address: str) -> tuple[str | None, Area]:
    """Return the sheet of an address, if named, and its cells: `Data!A1:C4`, `A:C`, `2:5`, `B3`."""
    sheet, mark, cells = address.rpartition("!")
    first, _, last = cells.strip().partition(":")
    if re.fullmatch(r"[A-Za-z]{1,3}", first) and re.fullmatch(r"[A-Za-z]{1,3}", last):
        span = Area(0, column(first), None, column(last))
    elif _ROW.fullmatch(first) and _ROW.fullmatch(last):
        span = Area(int(first) - 1, 0, int(last) - 1, None)
    else:
        top, left = cell(first)
        bottom, right = cell(last) if last else (top, left)
        span = Area(min(top, bottom), min(left, right), max(top, bottom), max(left, right))
    return (sheet.strip("'") if mark else None), span


def read(rows: Rows, cells: Area) -> list[list[Json]]:
    """Return the values of an area. Empty cells are null; empty rows at the end are left out."""
    bottom, right = _last(rows, cells)
    right = right if cells.right is None else cells.right
    _check_cells((bottom + 1 - cells.top) * (right + 1 - cells.left), "The range has")
    columns = range(cells.left, right + 1)
    return [[row[at] if at < len(row) else None for at in columns] for row in rows[cells.top : bottom + 1]]


def trim_to_values(rows: Rows, cells: Area) -> Area:
    """Return the part of an area that contains values."""
    bottom, right = _last(rows, cells)
    return replace(cells, bottom=bottom, right=right if cells.right is None else min(right, cells.right))


def _last(rows: Rows, cells: Area) -> tuple[int, int]:
    """Return the last row and column of an area that contain values."""
    bottom = len(rows) - 1 if cells.bottom is None else min(len(rows) - 1, cells.bottom)
    return bottom, max((len(row) for row in rows[cells.top : bottom + 1]), default=0) - 1


def write_values(rows: Rows, top: int, left: int, values: Rows) -> list[list[Json]]:
    """Return the rows with these values written from a cell on."""
    _check_rows(top + len(values))
    before = (len(rows[top + at]) if top + at < len(rows) else 0 for at in range(len(values)))
    _check_growth(rows, sum(max(0, left + len(line) - held) for line, held in zip(values, before, strict=True)))
    changed = [[*row] for row in rows] + [[] for _ in range(top + len(values) - len(rows))]
    for row, line in zip(changed[top:], values, strict=False):
        row.extend([None] * (left + len(line) - len(row)))
        row[left : left + len(line)] = line
    return changed


def clear_cells(rows: Rows, cells: Area) -> list[list[Json]]:
    """Return the rows without the values of an area."""
    lines = range(cells.top, MOST if cells.bottom is None else cells.bottom + 1)
    columns = slice(cells.left, None if cells.right is None else cells.right + 1)
    changed = [[*row] for row in rows]
    for row in (row for at, row in enumerate(changed) if at in lines):
        row[columns] = [None] * len(row[columns])
    return changed


def insert_rows(rows: Rows, at: int, count: int) -> list[list[Json]]:
    """Return the rows with `count` empty rows inserted before an index."""
    _check_rows(max(len(rows), at) + count)
    fitting = [[*row] for row in rows] + [[] for _ in range(max(0, at - len(rows)))]
    return fitting[:at] + [[] for _ in range(count)] + fitting[at:]


def delete_rows(rows: Rows, at: int, count: int) -> list[list[Json]]:
    """Return the rows without `count` rows from an index on."""
    return [[*row] for row in [*rows[:at], *rows[at + count :]]]


def insert_columns(rows: Rows, at: int, count: int) -> list[list[Json]]:
    """Return the rows with `count` empty columns inserted before an index."""
    _check_growth(rows, sum(count for row in rows if len(row) > at))
    return [[*row[:at], *([None] * count), *row[at:]] if len(row) > at else [*row] for row in rows]


def delete_columns(rows: Rows, at: int, count: int) -> list[list[Json]]:
    """Return the rows without `count` columns from an index on."""
    return [[*row[:at], *row[at + count :]] for row in rows]


def _check_rows(number: int) -> None:
    if number > MOST:
        raise Refused("invalid", f"Row {number} is beyond the sheet, which has {MOST} rows")


def _check_growth(rows: Rows, more: int) -> None:
    if more:
        _check_cells(more + sum(map(len, rows)), "The sheet would have")


def _check_cells(number: int, having: str) -> None:
    if number > MOST_CELLS:
        raise Refused("invalid", f"{having} {number:,} cells; at most {MOST_CELLS:,} are possible")
