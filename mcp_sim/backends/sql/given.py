"""Tables of a given state: lists of rows, columns with rows, or CREATE TABLE statements."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import cast

from mcp_sim.backends.sql.tables import ROWID, result_value, rows_statement
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.json_schema.shapes import as_list, as_object


@dataclass(frozen=True, slots=True)
class Table:
    """A given table: its statement, its key (None if no single column is one), and its rows."""

    name: str
    statement: str
    key: str | None
    rows: list[Record]

    def entity(self) -> Entity:
        fields = {column: Field(column, {}) for column in self._columns()}
        return Entity(self.name, self.key or ROWID, None, fields, natural=True)

    def records(self) -> list[Record]:
        """Return the rows with all columns, numbered if no column is a key."""
        columns = self._columns()
        whole = [{column: row.get(column) for column in columns} for row in self.rows]
        return whole if self.key is not None else [{ROWID: at, **row} for at, row in enumerate(whole, 1)]

    def _columns(self) -> dict[str, None]:
        return dict.fromkeys(column for row in self.rows for column in row)


def read_given_tables(state: Json) -> tuple[list[Table], Json]:
    """Return the tables of a state, and the rest of the state."""
    script: list[str] = []
    found: dict[str, tuple[str | None, list[Record]]] = {}
    rest = _extract_tables("", state, script, found)
    return _create_tables(script, found), rest


def _extract_tables(
    name: str, value: Json, script: list[str], found: dict[str, tuple[str | None, list[Record]]]
) -> Json:
    if isinstance(value, str) and "create table" in value.lower():
        script.append(value)
        return None
    rows = _rows(value)
    if name and rows is not None:
        found[name] = (_statement(value), rows)
        return None
    if not isinstance(value, dict):
        return value
    left: Record = {}
    for part, inner in cast("Record", value).items():
        kept = _extract_tables(part, inner, script, found)
        if kept is not None or inner is None:
            left[part] = kept
    return left if left or not value else None


def _rows(value: Json) -> list[Record] | None:
    """Return the rows of a table; None if the value is no table."""
    if isinstance(value, list):
        rows = as_list(value)
        return cast("list[Record]", rows) if rows and all(isinstance(row, dict) for row in rows) else None
    body = as_object(value)
    held = next((body[name] for name in ("rows", "data", "records") if isinstance(body.get(name), list)), None)
    columns = [str(as_object(one).get("name", one)) for one in as_list(body.get("columns"))]
    if held is None or not (columns or _statement(value) or _rows(held)):
        return None
    return [row if isinstance(row, dict) else dict(zip(columns, as_list(row), strict=False)) for row in as_list(held)]


def _statement(value: Json) -> str | None:
    texts = [one for one in as_object(value).values() if isinstance(one, str) and "create table" in one.lower()]
    return texts[0] if texts else None


def _create_tables(script: list[str], found: dict[str, tuple[str | None, list[Record]]]) -> list[Table]:
    """Create the tables in SQLite and return them. Invalid statements are skipped."""
    connection = sqlite3.connect(":memory:")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    made: list[Table] = []
    for text in (*script, *(statement or rows_statement(name, rows) for name, (statement, rows) in found.items())):
        try:
            connection.executescript(text)
        except sqlite3.Error:
            continue
    for name, statement in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = connection.execute(f'PRAGMA table_info("{name}")').fetchall()
        keys = [row[1] for row in columns if row[5]]
        stored = connection.execute(f'SELECT * FROM "{name}"').fetchall()  # noqa: S608 (a name of sqlite_master)
        rows = [dict(zip([row[1] for row in columns], map(result_value, row), strict=True)) for row in stored]
        given = found[name][1] if name in found else []
        made.append(Table(name, statement, keys[0] if len(keys) == 1 else None, given or rows))
    return made
