"""Tables of a given state: rows in any common shape, or CREATE TABLE statements."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from mcp_sim.backends.sql.tables import ROWID, column_definitions, column_type, described_columns, quoted, result_value
from mcp_sim.types import Json, Key, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.given_rows import rows_of, unwrap_rows
from mcp_sim.types.json_schema.shapes import as_list, as_object, type_name
from mcp_sim.types.lexicon.english import singular, snake

_HELD = frozenset({"columns", "rows", "data", "records"})
"""Names within an object that is one table, rather than a wrapper of tables."""


@dataclass(frozen=True, slots=True)
class Table:
    """A given table: the entity of its rows, the statement that creates it, and its rows as records."""

    entity: Entity
    statement: str
    records: Sequence[Record]


def read_given_tables(state: Json) -> tuple[list[Table], Json]:
    """Return the tables of a state, under any wrappers, and the rest of the state.

    A table is a list of objects, an object with one object for each key, or columns with rows. Columns are names, or
    objects with name and type, or types by name. Tables are under their names, or in a list of objects with a name.
    """
    scripts: list[str] = []
    found: dict[str, list[Record]] = {}
    rest = _take("", state, scripts, found)
    return list(_created(scripts, found)), rest


def _take(name: str, value: Json, scripts: list[str], found: dict[str, list[Record]]) -> Json:
    """Move the tables of a value into `scripts` and `found`. Return the rest; None if nothing is left."""
    value = _by_name(value)
    rows = _rows(value) if name else None
    if rows is not None:
        body = as_object(value)
        script = next(filter(_is_script, body.values()), None)
        scripts.append(_rows_statement(name, rows, body.get("columns")) if script is None else script)
        found[name] = rows
        return None
    if _is_script(value):
        scripts.append(value)
        return None
    body = as_object(value)
    if not body:
        return value
    parts = [(part, inner, _take(part, inner, scripts, found)) for part, inner in body.items()]
    return {part: rest for part, inner, rest in parts if rest is not None or inner is None} or None


def _rows(value: Json) -> list[Record] | None:
    """Return the rows of a table; None if the value is no table."""
    body = as_object(value)
    own = {part: one for part, one in body.items() if not _is_script(one)}
    held = value if _HELD.isdisjoint(own) else unwrap_rows(own)[0]
    rows = rows_of(held, "") if isinstance(held, list) else _keyed(as_object(held))
    return rows or ([] if isinstance(body.get("columns"), list | dict) else None)


def _keyed(body: Record) -> list[Record]:
    """Return the rows of an object with one object for each key; none if it is something else."""
    if not all(isinstance(one, dict) and _is_row(as_object(one)) for one in body.values()):
        return []
    are_numbers = all(map(str.isdecimal, body))
    rows = {int(key) if are_numbers else key: as_object(row) for key, row in body.items()}
    names = [column for row in rows.values() for column in row]
    named = (column for column in names if all(row.get(column) == key for key, row in rows.items()))
    name = next(named, "id")
    return [{name: key, **row} for key, row in rows.items()]


def _is_row(body: Record) -> bool:
    """Whether an object has plain values, and is no table itself."""
    is_table = not {"columns", "rows"}.isdisjoint(body) or any(map(_is_script, body.values()))
    return not is_table and any(not isinstance(one, dict | list) for one in body.values())


def _by_name(value: Json) -> Json:
    """Return a list of tables, which are objects with a name, as an object by name; other values as they are."""
    tables = [as_object(one) for one in as_list(value)]
    are_tables = all("name" in one and not {"columns", "rows"}.isdisjoint(one) for one in tables)
    return {str(one["name"]): one for one in tables} if tables and are_tables else value


def _is_script(value: Json) -> bool:
    return isinstance(value, str) and "create table" in value.lower()


def _created(scripts: Sequence[str], found: Mapping[str, list[Record]]) -> Iterator[Table]:
    """Create the tables in SQLite, and yield them. Tables with an invalid statement are created for their rows."""
    connection = sqlite3.connect(":memory:")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    for text in (*scripts, *(_rows_statement(name, rows) for name, rows in found.items() if rows)):
        with suppress(sqlite3.Error):
            connection.executescript(text)
    created = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for name, statement in connection.execute(created).fetchall():
        yield _read(connection, name, statement, found.get(name, ()))


def _read(connection: sqlite3.Connection, name: str, statement: str, rows: Sequence[Record]) -> Table:
    """Return a table with the given rows, or those that its statements inserted. They are numbered if none is a key."""
    described = connection.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
    keys, columns = [row[1] for row in described if row[5]], [row[1] for row in described]
    if not rows:
        stored = connection.execute(f"SELECT * FROM {quoted(name)}").fetchall()  # noqa: S608 (quoted)
        rows = [dict(zip(columns, map(result_value, row), strict=True)) for row in stored]
    every = dict.fromkeys((*columns, *(column for row in rows for column in row)))
    key = keys[0] if len(keys) == 1 else ROWID
    whole = [{column: row.get(column) for column in every} for row in rows]
    records = [{ROWID: at, **row} for at, row in enumerate(whole, 1)] if key == ROWID else whole
    return Table(Entity(name, key, None, {one: Field(one, {}) for one in every}, natural=True), statement, records)


# statements for rows --------------------------------------------------------------------------------------------------


def _rows_statement(name: str, rows: Sequence[Record], columns: Json = None) -> str:
    """Return the statement that creates a table for rows. What `columns` do not declare follows from the rows."""
    declared = {str(one.get("name")): one for one in described_columns(columns)}
    has_key = any("PRIMARY KEY" in one.upper() for one in column_definitions(list(declared.values())))
    key = None if has_key else _key_of(name, rows)
    described: list[Json] = [
        {"name": column, "type": _type_of(rows, column), "primary_key": column == key, **declared.get(column, {})}
        for column in dict.fromkeys((*declared, *(column for row in rows for column in row)))
    ]
    return f"CREATE TABLE {quoted(name)} ({', '.join(column_definitions(described))})"


def _key_of(name: str, rows: Sequence[Record]) -> str | None:
    """Return the key column by its name and values; None if there is none."""
    noun = singular(snake(name).rsplit("_", 1)[-1])
    known = {"id", "key", "uuid", f"{noun}_id", f"{noun}id", f"{singular(snake(name))}_id"}
    for column in dict.fromkeys(column for row in rows for column in row if snake(column) in known):
        values = [row.get(column) for row in rows]
        usable = all(isinstance(value, str | int) and not isinstance(value, bool) for value in values)
        if usable and len(set(cast("list[Key]", values))) == len(values):
            return column
    return None


def _type_of(rows: Sequence[Record], column: str) -> str:
    found = {type_name(row[column]) for row in rows if row.get(column) is not None}
    if found == {"integer", "number"}:
        return "REAL"
    return column_type(found.pop()) if len(found) == 1 else "TEXT"
