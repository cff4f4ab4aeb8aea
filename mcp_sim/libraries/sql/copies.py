"""Copies of entities as SQLite tables, updated incrementally.

Each table is filled once with the initial records. From then on it is moved from one view to the next by the records
written in either. Rows are ordered by the creation of their records.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from mcp_sim.libraries.sql.tables import ROWID, quoted, to_sql
from mcp_sim.libraries.store import moved_keys
from mcp_sim.types import Key, Record, View, Written

Row: TypeAlias = tuple[Any, ...]
LOG = "written rows"
"""The table in which SQLite logs written rows: table and row number."""

_LOGGED: Mapping[str, tuple[str, ...]] = {"INSERT": ("new",), "DELETE": ("old",), "UPDATE": ("old", "new")}
"""Kind of a write -> the rows that it logs."""


class Copy:
    """A table of SQLite that has a row for each record of an entity."""

    def __init__(self, connection: sqlite3.Connection, name: str, statement: str, entity: str) -> None:
        """Open an existing table. It is empty, or its rows were not copied from records."""
        self._connection = connection
        self.name, self.statement, self.entity = name, statement, entity
        described = connection.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
        self.columns = tuple(row[1] for row in described)
        keys = [row for row in described if row[5]]
        self.key: str | None = keys[0][1] if len(keys) == 1 else None
        """The column of the key, None if no single column is one."""
        is_number = self.key is not None and str(keys[0][2]).upper() == "INTEGER"
        self._sets_rowid = not is_number and ROWID not in map(str.lower, self.columns)
        self._columns = ", ".join(map(quoted, self.columns))
        self.keys: dict[int, Key] = {}
        """Number of a row -> the key of its record."""
        self._numbers: dict[Key, int] = {}
        self._origin: Mapping[Key, Record] = {}
        self._positions: dict[Key, int] = {}
        self._applied: Mapping[Key, Written] = {}

    def update(self, view: View) -> None:
        """Move the rows to a view."""
        origin, wanted = view.initial_records(self.entity), view.written(self.entity)
        if self._origin is not origin:
            execute, name = self._connection.execute, quoted(self.name)
            for when in _LOGGED:
                execute(f"DROP TRIGGER IF EXISTS temp.{quoted(f'{when} of {self.name}')}")
            execute(f"DELETE FROM {name}")  # noqa: S608 (quoted)
            self._origin, self._applied, self.keys, self._numbers = origin, wanted, {}, {}
            self._positions = {key: at for at, key in enumerate(origin, 1)}
            # Initial records that were written again may lack columns that were added since.
            self._insert({**origin, **wanted}, wanted)
            literal = self.name.replace("'", "''")
            for when, rows in _LOGGED.items():
                notes = " ".join(f"INSERT INTO {quoted(LOG)} VALUES ('{literal}', {row}._rowid_);" for row in rows)  # noqa: S608 (quoted)
                trigger = quoted(f"{when} of {self.name}")
                execute(f"CREATE TEMP TRIGGER {trigger} AFTER {when} ON main.{name} BEGIN {notes} END")
        if wanted is self._applied:
            return
        moved = moved_keys(self._applied, wanted)
        gone = [self._numbers.pop(key) for key in moved if key in self._numbers]
        delete = f"DELETE FROM {quoted(self.name)} WHERE _rowid_ = ?"  # noqa: S608 (quoted)
        self._connection.executemany(delete, ((number,) for number in gone))
        for number in gone:
            self.keys.pop(number, None)
        self._insert(moved, wanted)
        self._applied = wanted

    def rows(self) -> dict[int, Row | None]:
        """Return all rows by number."""
        query = f"SELECT _rowid_, {self._columns} FROM {quoted(self.name)} ORDER BY _rowid_"  # noqa: S608 (quoted)
        return {number: tuple(row) for number, *row in self._connection.execute(query)}

    def logged_rows(self, limit: int) -> dict[int, Row | None]:
        """Return the rows that were written, by number, at most `limit`; None for a deleted one."""
        query = (
            f"SELECT log.number, its._rowid_, its.{', its.'.join(map(quoted, self.columns))} FROM "  # noqa: S608 (quoted)
            f"(SELECT DISTINCT number FROM {quoted(LOG)} WHERE name = ? ORDER BY number LIMIT ?) AS log "
            f"LEFT JOIN {quoted(self.name)} AS its ON its._rowid_ = log.number ORDER BY log.number"
        )
        logged_rows = self._connection.execute(query, (self.name, limit))
        return {number: None if present is None else tuple(row) for number, present, *row in logged_rows}

    def _insert(self, keys: Iterable[Key], wanted: Mapping[Key, Written]) -> None:
        """Insert the rows of records in order. A row whose key is an integer has it as its number."""
        named = f"_rowid_, {self._columns}" if self._sets_rowid else self._columns
        marks = ", ".join("?" * (len(self.columns) + self._sets_rowid))
        statement = f"INSERT INTO {quoted(self.name)} ({named}) VALUES ({marks})"  # noqa: S608 (quoted)
        for key in keys:
            written = wanted.get(key)
            record = self._origin.get(key) if written is None else written.record
            if record is None:
                continue
            born = -1 if written is None else written.born
            place = self._positions[key] if born < 0 else len(self._origin) + 1 + born
            values = tuple(to_sql(record.get(column)) for column in self.columns)
            number: Any = key if self.key is None else place
            cursor = self._connection.execute(statement, (number, *values) if self._sets_rowid else values)
            rowid = cursor.lastrowid or 0
            self.keys[rowid], self._numbers[key] = key, rowid


def creates_table(statement: str) -> bool:
    """Return whether a statement creates a table, rather than a view or an index."""
    return statement.upper().startswith("CREATE TABLE")


def creates_trigger(statement: str) -> bool:
    """Return whether a statement, as SQLite stores it, creates a trigger."""
    return statement.upper().startswith("CREATE TRIGGER")
