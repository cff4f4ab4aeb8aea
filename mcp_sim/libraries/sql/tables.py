"""SQL tables: statements that create them, values of their rows, and tables of a given state."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Literal, cast

from mcp_sim.libraries.store import LibraryError
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity, Field
from mcp_sim.types.frozen import frozen
from mcp_sim.types.given_rows import rows_of, unwrap_rows
from mcp_sim.types.json_schema.shapes import as_list, as_object, type_name
from mcp_sim.types.json_values import decode_strict, encode
from mcp_sim.types.lexicon.english import last_word, singular, snake


class SqlError(LibraryError):
    """A statement that fails. Its text is the message of the database.

    `kind` is `constraint` for rows that a constraint forbids, `syntax` for what cannot be parsed, `forbidden` for what
    this database does not do or a limit, and `invalid` for the rest.
    """

    def __init__(self, message: str, kind: Literal["constraint", "syntax", "forbidden", "invalid"] = "invalid") -> None:
        super().__init__(message)
        self.kind = kind


_KEYS = ("id", "key", "uuid", "code", "slug", "number", "isbn", "sku", "symbol")
"""Last words of a first column that is the key."""
ROWID = "rowid"
"""Key of records whose table has no single-column primary key."""


def quoted(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def column_definitions(columns: Json) -> list[str]:
    """Return the columns of a new table: of SQL texts, of objects with name and type, or of types by name."""
    if isinstance(columns, str):
        return [columns]
    listed = as_list(columns) or described_columns(columns)
    return [column if isinstance(column, str) else _definition(as_object(column)) for column in listed]


def described_columns(columns: Json) -> list[Record]:
    """Return columns as objects with a name: of a list of names or of such objects, or of types by name."""
    by_name = [{"name": name, **(as_object(kind) or {"type": kind})} for name, kind in as_object(columns).items()]
    return [as_object(column) or {"name": str(column)} for column in as_list(columns)] + by_name


def _definition(column: Record) -> str:
    facts = {name.lower().replace("_", ""): value for name, value in column.items()}
    clauses = {
        "PRIMARY KEY": 1 in (facts.get("primarykey"), facts.get("pk")),
        "NOT NULL": facts.get("notnull") == 1 or facts.get("nullable") is False,
        "UNIQUE": facts.get("unique") is True,
    }
    parts = (quoted(str(facts.get("name", ""))), str(facts.get("type", "")))
    return " ".join([*parts, *(clause for clause, holds in clauses.items() if holds)])


def to_sql(value: Json) -> str | float | None:
    """Return a JSON value for SQLite: booleans as 0 and 1, nested values as JSON text."""
    if isinstance(value, dict | list):
        return encode(value).decode()
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int):
        return int(value) if abs(value) < 2**63 else float(value)
    return cast("float | None", value)


def from_sql(value: object, like: str) -> Json:
    """Return a SQLite value as JSON of a type, if it is one. Raises `SqlError` for a binary or infinite value."""
    if isinstance(value, bytes):
        raise SqlError("Binary values cannot be stored here; store a text")
    if isinstance(value, float) and not math.isfinite(value):
        raise SqlError("number out of range")
    if like == "boolean" and value in (0, 1):
        return bool(value)
    if like in {"object", "array"} and isinstance(value, str):
        try:
            return decode_strict(value)
        except ValueError:
            return value
    return result_value(value)


def result_value(value: object) -> Json:
    """Return a value of a result as JSON."""
    if isinstance(value, bytes):
        return value.hex()
    return None if isinstance(value, float) and not math.isfinite(value) else value


_HELD = frozenset({"columns", "rows", "data", "records"})
"""Names within an object that is one table, rather than a wrapper of tables."""


@frozen
class Table:
    """A given table: the entity of its rows, the statement that creates it, and its rows as records."""

    entity: Entity
    statement: str
    records: Sequence[Record]


def read_given_tables(state: Json) -> tuple[list[Table], dict[str, str]]:
    """Return the tables of a state, under any wrappers, and the statements of its views, indexes and triggers by name.

    A table is a list of objects, an object with one object for each key, columns with rows, or a CREATE TABLE
    statement. Columns are names, objects with name and type, or types by name. Tables are under their names, or in a
    list of objects with a name.
    """
    scripts: list[str] = []
    given_tables: dict[str, list[Record]] = {}
    _take("", state, scripts, given_tables)
    return _create(scripts, given_tables)


def _take(name: str, value: Json, scripts: list[str], taken: dict[str, list[Record]]) -> None:
    """Add the tables of a value to `scripts` and `taken`."""
    value = _by_name(value)
    body = as_object(value)
    rows = _rows(value) if name else None
    if rows is not None:
        script = next(filter(_is_script, body.values()), None)
        scripts.append(_rows_statement(name, rows, body.get("columns")) if script is None else script)
        taken[name] = rows
    elif _is_script(value):
        scripts.append(str(value))
    else:
        for inner_name, inner in body.items():
            _take(inner_name, inner, scripts, taken)


def _rows(value: Json) -> list[Record] | None:
    """Return the rows of a table; None if the value is not a table."""
    body = as_object(value)
    own = {field: inner for field, inner in body.items() if not _is_script(inner)}
    held = value if _HELD.isdisjoint(own) else unwrap_rows(own)[0]
    rows = rows_of(held, "") if isinstance(held, list) else _keyed(as_object(held))
    return rows or ([] if isinstance(body.get("columns"), list | dict) else None)


def _keyed(body: Record) -> list[Record]:
    """Return the rows of an object with one object for each key; none if it is something else, such as tables."""
    if not all(_is_row(as_object(item)) for item in body.values()):
        return []
    are_numbers = all(map(str.isdecimal, body))
    rows = {int(key) if are_numbers else key: as_object(row) for key, row in body.items()}
    names = [column for row in rows.values() for column in row]
    named = (column for column in names if all(row.get(column) == key for key, row in rows.items()))
    name = next(named, "id")
    return [{name: key, **row} for key, row in rows.items()]


def _is_row(body: Record) -> bool:
    is_table = not {"columns", "rows"}.isdisjoint(body) or any(map(_is_script, body.values()))
    return not is_table and not all(isinstance(item, dict | list) for item in body.values())


def _by_name(value: Json) -> Json:
    """Return a list of tables, which are objects with a name, as an object by name; other values as they are."""
    tables = [as_object(item) for item in as_list(value)]
    are_tables = all("name" in table and not {"columns", "rows"}.isdisjoint(table) for table in tables)
    if not (tables and are_tables):
        return value
    return {str(table["name"]): {key: table[key] for key in table if key != "name"} for table in tables}


def _is_script(value: Json) -> bool:
    return isinstance(value, str) and "create table" in value.lower()


def _create(scripts: Sequence[str], tables: Mapping[str, list[Record]]) -> tuple[list[Table], dict[str, str]]:
    """Create in SQLite what `read_given_tables` returns; for their rows only, tables with an invalid statement."""
    connection = sqlite3.connect(":memory:")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    for text in (*scripts, *(_rows_statement(name, rows) for name, rows in tables.items() if rows)):
        with suppress(sqlite3.Error):
            connection.executescript(text)
    created = "SELECT name, sql, type FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
    objects = connection.execute(created).fetchall()
    read = [_read(connection, name, sql, tables.get(name, ())) for name, sql, kind in objects if kind == "table"]
    return read, {name: sql for name, sql, kind in objects if kind != "table"}


def _read(connection: sqlite3.Connection, name: str, statement: str, rows: Sequence[Record]) -> Table:
    """Return a table with the given rows, or those that its statements inserted. They are numbered if none is a key."""
    described = connection.execute(f"PRAGMA table_info({quoted(name)})").fetchall()
    keys, columns = [row[1] for row in described if row[5]], [row[1] for row in described]
    if not rows:
        stored = connection.execute(f"SELECT * FROM {quoted(name)}").fetchall()  # noqa: S608 (quoted)
        rows = [dict(zip(columns, map(result_value, row), strict=True)) for row in stored]
    every = dict.fromkeys(chain(columns, *rows))
    key = keys[0] if len(keys) == 1 else ROWID
    whole = [{column: row.get(column) for column in every} for row in rows]
    records = [{ROWID: at, **row} for at, row in enumerate(whole, 1)] if key == ROWID else whole
    return Table(
        Entity(name, key, None, {column: Field(column, {}) for column in every}, natural=True), statement, records
    )


def _rows_statement(name: str, rows: Sequence[Record], columns: Json = None) -> str:
    """Return the statement that creates a table for rows. What `columns` do not declare follows from the rows."""
    declared = {str(described_column.get("name")): described_column for described_column in described_columns(columns)}
    has_key = any("PRIMARY KEY" in definition.upper() for definition in column_definitions(list(declared.values())))
    key = None if has_key else _key_of(name, rows)
    described: list[Json] = []
    for column in dict.fromkeys(chain(declared, *rows)):
        kinds = {type_name(row[column]) for row in rows if row.get(column) is not None}
        kind = "number" if kinds == {"integer", "number"} else "".join(kinds) if len(kinds) == 1 else ""
        kind = {"integer": "INTEGER", "number": "REAL", "boolean": "BOOLEAN"}.get(kind, "TEXT")
        described.append({"name": column, "type": kind, "primary_key": column == key, **declared.get(column, {})})
    return f"CREATE TABLE {quoted(name)} ({', '.join(column_definitions(described))})"


def _key_of(name: str, rows: Sequence[Record]) -> str | None:
    """Return the key column by its name and values, or None."""
    noun = singular(snake(name).rsplit("_", 1)[-1])
    columns = [*dict.fromkeys(column for row in rows for column in row)]
    known = {"id", "key", "uuid", f"{noun}_id", f"{noun}id", f"{singular(snake(name))}_id"}
    first = [column for column in columns[:1] if last_word(column) in _KEYS]
    for column in (*(wanted for wanted in columns if snake(wanted) in known), *first):
        values = [row.get(column) for row in rows]
        if all(type(value) in {str, int} for value in values) and len({*map(str, values)}) == len(values):
            return column
    return None
