"""Copies of entities as SQLite tables, updated incrementally.

Each table is filled once with the initial records. From then on it is moved from one view to the next by the records
written in either. Rows are ordered by the creation of their records.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from mcp_sim.backends.sql.tables import ROWID, quoted, to_sql
from mcp_sim.types import Key, Record, View, Written

Row: TypeAlias = tuple[Any, ...]
LOG = "written rows"
"""The table in which SQLite logs written rows: table and row number."""


@dataclass(slots=True)
class Copy:
    """A table in SQLite: its statement, columns, key column, and the key of each row."""

    name: str
    statement: str
    entity: str
    columns: tuple[str, ...]
    key: str | None
    sets_rowid: bool
    origin: Mapping[Key, Record] = field(default_factory=dict[Key, Record])
    positions: dict[Key, int] = field(default_factory=dict[Key, int])
    applied: Mapping[Key, Written] = field(default_factory=dict[Key, Written])
    keys: dict[int, Key] = field(default_factory=dict[int, Key])
    rows: dict[Key, int] = field(default_factory=dict[Key, int])


def create_copy(connection: sqlite3.Connection, name: str, statement: str, entity: str) -> Copy:
    """Return an empty copy of an existing SQLite table."""
    columns_info = connection.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
    keys = [row[1] for row in columns_info if row[5]]
    key = keys[0] if len(keys) == 1 else None
    columns = tuple(row[1] for row in columns_info)
    is_number = any(row[1] == key and str(row[2]).upper() == "INTEGER" for row in columns_info)
    has_rowid = any(column.lower() == ROWID for column in columns)
    return Copy(name, statement, entity, columns, key, sets_rowid=not is_number and not has_rowid)


def update_copy(connection: sqlite3.Connection, copy: Copy, view: View) -> None:
    """Update a table to the view."""
    origin = view.initial_records(copy.entity)
    if copy.origin is not origin or not copy.positions:
        _fill(connection, copy, origin)
    wanted = view.written(copy.entity)
    if wanted is copy.applied:
        return
    moved = [key for key in copy.applied.keys() | wanted.keys() if not _is_same(copy.applied.get(key), wanted.get(key))]
    gone = [copy.rows.pop(key) for key in moved if key in copy.rows]
    connection.executemany(f"DELETE FROM {quoted(copy.name)} WHERE _rowid_ = ?", ((rowid,) for rowid in gone))  # noqa: S608 (quoted)
    for rowid in gone:
        copy.keys.pop(rowid, None)
    _insert(connection, copy, _changed_rows(copy, wanted, moved))
    copy.applied = wanted


def rows_of(connection: sqlite3.Connection, copy: Copy) -> Iterator[tuple[int, Row]]:
    """Yield all rows with their numbers."""
    query = f"SELECT _rowid_, {_columns(copy)} FROM {quoted(copy.name)} ORDER BY _rowid_"  # noqa: S608 (quoted)
    for rowid, *row in connection.execute(query):
        yield rowid, tuple(row)


def row_of(connection: sqlite3.Connection, copy: Copy, rowid: int) -> Row | None:
    """Return the row with this number."""
    query = f"SELECT {_columns(copy)} FROM {quoted(copy.name)} WHERE _rowid_ = ?"  # noqa: S608 (quoted)
    return connection.execute(query, (rowid,)).fetchone()


def record_writes(connection: sqlite3.Connection, copy: Copy) -> None:
    """Log the rows that are written from now on."""
    for when, rows in (("INSERT", ("new",)), ("DELETE", ("old",)), ("UPDATE", ("old", "new"))):
        noted = f"INSERT INTO {quoted(LOG)} VALUES ({_quoted_text(copy.name)}"  # noqa: S608 (quoted)
        notes = " ".join(f"{noted}, {row}._rowid_);" for row in rows)
        trigger = quoted(f"{when} of {copy.name}")
        connection.execute(f"CREATE TEMP TRIGGER {trigger} AFTER {when} ON main.{quoted(copy.name)} BEGIN {notes} END")


def _is_same(one: Written | None, other: Written | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.record is other.record and one.born == other.born


def _fill(connection: sqlite3.Connection, copy: Copy, origin: Mapping[Key, Record]) -> None:
    connection.execute(f"DELETE FROM {quoted(copy.name)}")  # noqa: S608 (quoted)
    for when in ("INSERT", "DELETE", "UPDATE"):
        connection.execute(f"DROP TRIGGER IF EXISTS temp.{quoted(f'{when} of {copy.name}')}")
    copy.origin, copy.applied, copy.keys, copy.rows = origin, {}, {}, {}
    copy.positions = {key: at for at, key in enumerate(origin, 1)}
    _insert(connection, copy, ((copy.positions[key], key, record) for key, record in origin.items()))
    record_writes(connection, copy)


def _changed_rows(copy: Copy, wanted: Mapping[Key, Written], moved: Iterable[Key]) -> Iterator[tuple[int, Key, Record]]:
    """Yield the rows of records that were written or reverted."""
    for key in moved:
        written = wanted.get(key)
        if written is None:
            if key in copy.origin:
                yield copy.positions[key], key, copy.origin[key]
        elif written.record is not None:
            place = copy.positions[key] if written.born < 0 else len(copy.origin) + 1 + written.born
            yield place, key, written.record


def _insert(connection: sqlite3.Connection, copy: Copy, rows: Iterable[tuple[int, Key, Record]]) -> None:
    """Insert rows in order. A row whose key is an integer has it as its number."""
    named = f"_rowid_, {_columns(copy)}" if copy.sets_rowid else _columns(copy)
    marks = ", ".join("?" * (len(copy.columns) + copy.sets_rowid))
    statement = f"INSERT INTO {quoted(copy.name)} ({named}) VALUES ({marks})"  # noqa: S608 (quoted)
    for place, key, record in rows:
        values = tuple(to_sql(record.get(column)) for column in copy.columns)
        number: Any = key if copy.key is None else place
        cursor = connection.execute(statement, (number, *values) if copy.sets_rowid else values)
        rowid = cursor.lastrowid or 0
        copy.keys[rowid], copy.rows[key] = key, rowid


def _columns(copy: Copy) -> str:
    return ", ".join(quoted(column) for column in copy.columns)


def _quoted_text(name: str) -> str:
    escaped = name.replace("'", "''")
    return f"'{escaped}'"


def creates_table(statement: str) -> bool:
    """Return whether a statement creates a table, rather than a view or an index."""
    return bool(re.match(r"\s*create\s+table\b", statement, re.IGNORECASE))
