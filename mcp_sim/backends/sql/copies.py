"""How does SQLite come to hold what a view holds, without being filled anew for every call?

Each table is a copy of an entity: filled once with what worlds begin with, and from then on brought from one view to
the next by what was written in either. A row stands at the place that its record has in the order of creation.
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
"""The table in which SQLite notes what a statement writes: table and row, each time."""


@dataclass(slots=True)
class Copy:
    """A table as it stands in SQLite: what made it, its columns, the column of the key, and the key of each row."""

    name: str
    statement: str
    entity: str
    columns: tuple[str, ...]
    key: str | None
    places: bool
    origin: Mapping[Key, Record] = field(default_factory=dict[Key, Record])
    positions: dict[Key, int] = field(default_factory=dict[Key, int])
    applied: Mapping[Key, Written] = field(default_factory=dict[Key, Written])
    keys: dict[int, Key] = field(default_factory=dict[int, Key])
    rows: dict[Key, int] = field(default_factory=dict[Key, int])


def copy_of(connection: sqlite3.Connection, name: str, statement: str, entity: str) -> Copy:
    """An empty copy, of a table that SQLite has."""
    told = connection.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
    keys = [row[1] for row in told if row[5]]
    key = keys[0] if len(keys) == 1 else None
    columns = tuple(row[1] for row in told)
    is_number = any(row[1] == key and str(row[2]).upper() == "INTEGER" for row in told)
    has_rowid = any(column.lower() == ROWID for column in columns)
    return Copy(name, statement, entity, columns, key, places=not is_number and not has_rowid)


def bring(connection: sqlite3.Connection, copy: Copy, view: View) -> None:
    """Make a table what the view has."""
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
    _insert(connection, copy, _placed(copy, wanted, moved))
    copy.applied = wanted


def rows_of(connection: sqlite3.Connection, copy: Copy) -> Iterator[tuple[int, Row]]:
    """All rows, by their number."""
    for rowid, *row in connection.execute(f"SELECT _rowid_, {_named(copy)} FROM {quoted(copy.name)} ORDER BY _rowid_"):  # noqa: S608 (quoted)
        yield rowid, tuple(row)


def row_of(connection: sqlite3.Connection, copy: Copy, rowid: int) -> Row | None:
    """The row of this number."""
    return connection.execute(f"SELECT {_named(copy)} FROM {quoted(copy.name)} WHERE _rowid_ = ?", (rowid,)).fetchone()  # noqa: S608 (quoted)


def note_writes(connection: sqlite3.Connection, copy: Copy) -> None:
    """From now on SQLite notes the rows that are written."""
    for when, rows in (("INSERT", ("new",)), ("DELETE", ("old",)), ("UPDATE", ("old", "new"))):
        noted = f"INSERT INTO {quoted(LOG)} VALUES ({_text(copy.name)}"  # noqa: S608 (quoted)
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
    note_writes(connection, copy)


def _placed(copy: Copy, wanted: Mapping[Key, Written], moved: Iterable[Key]) -> Iterator[tuple[int, Key, Record]]:
    """The rows of records that were written, or that are as they were at the beginning."""
    for key in moved:
        written = wanted.get(key)
        if written is None:
            if key in copy.origin:
                yield copy.positions[key], key, copy.origin[key]
        elif written.record is not None:
            place = copy.positions[key] if written.born < 0 else len(copy.origin) + 1 + written.born
            yield place, key, written.record


def _insert(connection: sqlite3.Connection, copy: Copy, rows: Iterable[tuple[int, Key, Record]]) -> None:
    """Rows at their places; a row whose key is a whole number stands at that."""
    named = f"_rowid_, {_named(copy)}" if copy.places else _named(copy)
    marks = ", ".join("?" * (len(copy.columns) + copy.places))
    statement = f"INSERT INTO {quoted(copy.name)} ({named}) VALUES ({marks})"  # noqa: S608 (quoted)
    for place, key, record in rows:
        values = tuple(to_sql(record.get(column)) for column in copy.columns)
        number: Any = key if copy.key is None else place
        cursor = connection.execute(statement, (number, *values) if copy.places else values)
        rowid = cursor.lastrowid or 0
        copy.keys[rowid], copy.rows[key] = key, rowid


def _named(copy: Copy) -> str:
    return ", ".join(quoted(column) for column in copy.columns)


def _text(name: str) -> str:
    escaped = name.replace("'", "''")
    return f"'{escaped}'"


def makes_table(statement: str) -> bool:
    """Does a statement make a table, rather than a view or an index?"""
    return bool(re.match(r"\s*create\s+table\b", statement, re.IGNORECASE))
