"""Pages of rows: their order, and where they begin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from mcp_sim.programs.results import Refused
from mcp_sim.programs.rows import Row
from mcp_sim.types import Json
from mcp_sim.types.frozen import frozen


@frozen
class Page:
    """One page of rows."""

    rows: list[Row]
    total: int
    """How many rows there are on all pages."""
    offset: int
    """The position of the first row, from 0."""
    cursor: str | None
    """The cursor of the next page; None on the last one."""

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __bool__(self) -> bool:
        return True

    @property
    def more(self) -> bool:
        """Whether there is another page."""
        return self.cursor is not None


def sort_rows(rows: list[Row], sort: str | Callable[[Row], Any], *, descending: bool) -> None:
    """Sort rows in place. Missing values come last in both directions."""
    if callable(sort):
        rows.sort(key=sort, reverse=descending)
        return
    there = [row for row in rows if _raw(row, sort) is not None]
    missing = [row for row in rows if _raw(row, sort) is None]
    there.sort(key=lambda row: _comparable(_raw(row, sort)), reverse=descending)
    rows[:] = [*there, *missing]


def _raw(row: Mapping[str, Json], name: str) -> Json:
    """Return a value for comparison, without taking a copy of it."""
    return row.raw(name) if isinstance(row, Row) else row.get(name)


def offset_of(cursor: str) -> int:
    """Return the place of the first row of a page. Raises `Refused` for what is not a cursor."""
    if cursor.isascii() and cursor.isdecimal() and len(cursor) < 10:
        return int(cursor)
    raise Refused(f"Invalid cursor: {cursor}")


def _comparable(value: Json) -> tuple[int, Any]:
    """Return a value that can be compared with those of other types: numbers come before texts, these before others."""
    if isinstance(value, bool | int | float):
        return 0, value
    return (1, value) if isinstance(value, str) else (2, str(value))
