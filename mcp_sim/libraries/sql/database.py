"""The database of a world: SQL statements in SQLite, in a database that follows the view of each call.

Every statement is rolled back.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import filterfalse
from pkgutil import get_data
from threading import Lock
from typing import Any, TypeAlias, TypeVar

from mcp_sim.libraries.sql.copies import LOG, Copy, Row, creates_table, creates_trigger
from mcp_sim.libraries.sql.sandbox import MAX_CHARACTERS, MAX_ROWS, Sandbox
from mcp_sim.libraries.sql.tables import ROWID, SqlError, from_sql, quoted, read_given_tables, result_value, to_sql
from mcp_sim.libraries.store import Store
from mcp_sim.types import Json, Key, Record, View
from mcp_sim.types.json_schema.shapes import as_list, as_object, type_name
from mcp_sim.types.json_values import is_key

SCHEMA = "sql_table"
"""The table of the statements that created the tables."""

_Write: TypeAlias = tuple[str, Key, Record | None]
_Item = TypeVar("_Item")
_WORD = re.compile(r"\w+")
_REACHES = re.compile(r"\b(references|trigger|view)\b", re.IGNORECASE)
_INSERTS = re.compile(r"\s*(insert|replace)\b", re.IGNORECASE)
_WITHOUT = re.compile(r"\bwithout\s+rowid\b", re.IGNORECASE)
_WORDINGS = {
    "Incorrect number of bindings": "wrong number of parameters",
    "You did not supply a value for binding": "a parameter has no value",
    "Error binding parameter": "the type of a parameter is not supported",
    "user-defined function raised": "invalid argument of a function",
    "the query contains a null character": "unrecognized token",
    "Could not decode to UTF-8": "invalid byte sequence for encoding UTF-8",
}
"""The beginning of a message of Python's module for SQLite, and what is shown instead."""
_SYNTAX = re.compile(r"syntax error|incomplete input|unrecognized token")
_CREATES = re.compile(r"\s*create\b", re.IGNORECASE)
_OWN = re.compile(rf"\bsqlite_temp|{LOG}", re.IGNORECASE)
"""Names that statements must not use."""

_VIEWS = (get_data("mcp_sim.libraries.sql", "views.sql") or b"").decode()
VIEWS: Mapping[str, str] = dict(re.findall(r"-- (\S+)\n([^;]+);", _VIEWS))
"""The views that emulate catalogs of other databases, by name."""


@dataclass(slots=True)
class Result:
    """The result of the last of some statements; `affected` counts the rows that all of them have changed."""

    columns: Sequence[str] = ()
    """Empty for statements that return no rows."""
    rows: Sequence[Record] = ()
    affected: int = 0
    last_id: int | None = None
    """The number of the last inserted row."""


class Database:
    """SQLite over the tables of a world: those of the given state, and those that statements create."""

    def __init__(self, prefix: str = "") -> None:
        self._schema, self._prefix = prefix + SCHEMA, prefix
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._connection.text_factory = partial(str, encoding="utf-8", errors="replace")  # a CAST may make other bytes
        execute = self._connection.execute
        execute("PRAGMA recursive_triggers = ON")
        execute("PRAGMA temp_store = MEMORY")
        execute(f"CREATE TEMP TABLE {quoted(LOG)} (name, number)")
        for name, query in VIEWS.items():
            execute(f"CREATE TEMP VIEW {quoted(name)} AS {query}")
        self._sandbox = Sandbox(self._connection)
        self._lock = Lock()
        self._copies: dict[str, Copy] = {}
        self._made: Mapping[str, str] = {}
        """What was created in SQLite: table, view, index or trigger -> its statement."""

    def tables(self, view: View) -> dict[str, str]:
        """Return table -> the statement that creates it. Other records, such as generated ones, are left out."""
        known = {str(key): str(record["sql"]) for key, record in view.rows(self._schema)}
        return {name: text for name, text in known.items() if _CREATES.match(text)}

    def run(
        self, store: Store, statements: Sequence[str], parameters: Json = None, *, enforces_keys: bool = False
    ) -> list[Result]:
        """Run statements, all or none of them, and write the records that they change together.

        Raises `SqlError`. `enforces_keys`: whether foreign keys are enforced, as SQLite does only if it is asked to.
        """
        if any(map(_OWN.search, statements)):
            raise SqlError("sqlite_temp is not allowed here", "forbidden")
        tables = self.tables(store.view)  # the first read may run statements here, so it needs the lock
        with self._lock:
            self._update(store.view, tables, statements)
            return self._run(store, statements, parameters, enforces_keys)

    def _run(self, store: Store, statements: Sequence[str], parameters: Json, enforces_keys: bool) -> list[Result]:
        view = store.view
        self._connection.execute(f"PRAGMA foreign_keys = {'ON' if enforces_keys else 'OFF'}")
        self._connection.execute("BEGIN")
        try:
            self._connection.execute(f"DELETE FROM {quoted(LOG)}")  # noqa: S608 (quoted)
            # Triggers exist only here, since they would fire again when the copies of tables are updated.
            for statement in filter(creates_trigger, self._made.values()):
                self._connection.execute(statement)
            before = self._connection.total_changes
            results: list[Result] = []
            for statement in statements:
                self._sandbox.enter(store.now, store.draws)
                named = {name: to_sql(value) for name, value in as_object(parameters).items()}
                results.append(self._run_one(statement, named or [to_sql(value) for value in as_list(parameters)]))
            is_written = self._connection.total_changes != before or self._existing() != self._made
            writes = self._writes(view) if is_written else ()
            writes = _limited(writes, lambda pair: (pair[2] or {}).values(), "statement writes", "write fewer at once")
            for name, key, record in list(writes):
                table = name.removeprefix(self._prefix)
                if record is None:
                    store.remove(table, key)
                else:
                    store.put(table, key, record)
            return results
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _open(self, name: str, statement: str) -> Copy:
        """Return the copy behind an existing table."""
        return Copy(self._connection, name, statement, self._prefix + name)

    def _existing(self) -> dict[str, str]:
        """Return what SQLite has now: table, view, index or trigger -> its statement."""
        query = "SELECT name, sql FROM main.sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'"
        return dict(self._connection.execute(query).fetchall())

    def _update(self, view: View, tables: Mapping[str, str], statements: Sequence[str]) -> None:
        """Update the tables that the statements may read."""
        self._connection.execute("PRAGMA foreign_keys = OFF")
        if self._made != tables:
            self._reshape(tables)
        mentioned = {word.lower() for statement in statements for word in _WORD.findall(statement)}
        everything = any(map(_REACHES.search, tables.values()))
        for name, copy in self._copies.items():
            if everything or mentioned.intersection(_WORD.findall(name.lower())):
                try:
                    copy.update(view)
                except BaseException:
                    self._made = {}  # Half of the rows may be there: the next call creates the tables again.
                    raise

    def _reshape(self, tables: Mapping[str, str]) -> None:
        """Drop and create what changed. Unchanged tables stay filled."""
        definitions, self._made = self._made, {}
        objects = self._connection.execute("SELECT name, type FROM main.sqlite_master WHERE sql IS NOT NULL").fetchall()
        for name, kind in sorted(objects, key=lambda value: value[1] == "table"):
            if definitions.get(name) != tables.get(name) and name in self._existing():
                self._connection.execute(f"DROP {kind} {quoted(name)}")
                self._copies.pop(name, None)
        existing = self._existing()
        for name, statement in sorted(tables.items(), key=lambda pair: not creates_table(pair[1])):
            if name not in existing and not creates_trigger(statement):
                self._connection.execute(statement)
            if creates_table(statement) and name not in self._copies:
                self._copies[name] = self._open(name, statement)
        self._made = tables

    def _run_one(self, statement: str, parameters: Any) -> Result:
        before = self._connection.total_changes
        try:
            cursor = self._connection.execute(_WITHOUT.sub("", statement), parameters)
            columns = [pair[0] for pair in cursor.description or ()]
            fetched = _limited(cursor, tuple[object, ...], "result has", "add a LIMIT")
            rows = [dict(zip(columns, map(result_value, row), strict=True)) for row in fetched]
        except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
            raise self._error(error) from None
        finally:
            self._sandbox.leave()
        is_written = self._connection.total_changes != before
        affected = self._connection.execute("SELECT changes()").fetchone()[0] if is_written else 0
        last = cursor.lastrowid if _INSERTS.match(statement) else None
        return Result(columns, rows, affected, last)

    def _error(self, error: Exception) -> SqlError:
        """Return SQLite's error, or why the sandbox stopped the statement."""
        if self._sandbox.reason is not None:
            return SqlError(self._sandbox.reason, "forbidden")
        message = next((words for start, words in _WORDINGS.items() if str(error).startswith(start)), str(error))
        if isinstance(error, OverflowError):
            message = "integer out of range"
        elif isinstance(error, UnicodeError):
            message = "invalid byte sequence for encoding UTF-8"
        is_syntax = _SYNTAX.search(message) is not None
        is_constraint = isinstance(error, sqlite3.IntegrityError)
        return SqlError(message, "constraint" if is_constraint else "syntax" if is_syntax else "invalid")

    def _writes(self, view: View) -> Iterator[_Write]:
        """Yield the written records: entity, key, and the record; None if it is removed."""
        existing = self._existing()
        for name, statement in existing.items():
            if self._made.get(name) != statement:
                if self._prefix + name == self._schema:
                    raise SqlError(f"The name {name} is reserved", "forbidden")
                yield self._schema, name, {"name": name, "sql": statement}
        for name in filterfalse(existing.__contains__, self._made):
            yield self._schema, name, None
            if name in self._copies:
                entity = self._copies[name].entity
                yield from ((entity, key, None) for key, _ in view.rows(entity))
        for name in dict.fromkeys((*self._made, *existing)):
            if name in existing and creates_table(existing[name]):
                yield from self._rows_written(view, name, existing[name])

    def _rows_written(self, view: View, name: str, statement: str) -> Iterator[_Write]:
        old = self._copies.get(name)
        keys: Mapping[int, Key] = {} if old is None else old.keys
        if old is not None and old.statement == statement:
            copy, rows = old, old.logged_rows(MAX_ROWS + 1)
        else:
            copy = self._open(name, statement)
            rows = {**dict.fromkeys(sorted(keys)), **copy.rows()}
        put: dict[Key, Record] = {}
        for rowid, row in rows.items():
            if row is not None:
                key, record = self._record(view, copy, rowid, row, keys.get(rowid))
                put[key] = record
        gone = [keys[rowid] for rowid in rows if rowid in keys and keys[rowid] not in put]
        yield from ((copy.entity, key, None) for key in gone)
        yield from ((copy.entity, key, record) for key, record in put.items() if record != view.get(copy.entity, key))

    def _record(self, view: View, copy: Copy, rowid: int, row: Row, was: Key | None) -> tuple[Key, Record]:
        before: Record = (view.get(copy.entity, was) if was is not None else None) or {}
        present = {name: type_name(value) for name, value in before.items() if value is not None}
        columns = zip(copy.columns, row, strict=True)
        record: Record = {column: from_sql(value, present.get(column, "")) for column, value in columns}
        if copy.key is None:
            return rowid, {ROWID: rowid, **record}
        key: Json = record[copy.key]
        if was is not None and str(was) == str(key):
            return was, {**record, copy.key: was}
        if not is_key(key):
            raise SqlError(f"{copy.key} names the row: it must be a text or a whole number, not {key}", "constraint")
        return key, record


def _limited(items: Iterable[_Item], values: Callable[[_Item], Any], does: str, advice: str) -> Iterator[_Item]:
    """Yield the items. Raises `SqlError` if they are too many, or their values too large."""
    size = 0
    for count, item in enumerate(items, 1):
        size += sum(len(value) for value in values(item) if isinstance(value, str | bytes))
        if count > MAX_ROWS:
            raise SqlError(f"The {does} more than {MAX_ROWS:,} rows; {advice}", "forbidden")
        if size > MAX_CHARACTERS:
            raise SqlError(f"The {does} more than {MAX_CHARACTERS:,} characters; {advice}", "forbidden")
        yield item


_ENFORCING = frozenset({"postgres", "mysql", "duckdb", "tsql", "oracle"})
"""Dialects of databases that enforce foreign keys."""
_COMMENTS = re.compile(r"^(\s|--[^\n]*(\n|$)|/\*.*?\*/|\()*", re.DOTALL)


class Sql:
    """A database. Its tables are tables of the world under the same names; `sql_table` has their statements.

    Statements run in SQLite; those of another `dialect` (postgres, duckdb, mysql, ...) are translated. Refused are
    ATTACH, changing PRAGMAs, extensions, transactions over several calls, and statements that run too long.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        key = ("sql", store.prefix)
        if key not in store.kept:
            store.kept[key] = Database(store.prefix)
        self._database: Database = store.kept[key]

    @property
    def tables(self) -> dict[str, str]:
        """The statements that create the tables, by name."""
        return {name: text for name, text in self._created().items() if creates_table(text)}

    @property
    def views(self) -> dict[str, str]:
        """The statements that create the views, by name."""
        return {name: text for name, text in self._created().items() if text.upper().startswith("CREATE VIEW")}

    def _created(self) -> Mapping[str, str]:
        return self._database.tables(self._store.view)

    def columns(self, table: str) -> list[Record]:
        """Return the columns of a table or view: cid, name, type, notnull, dflt_value, pk. Empty if it is missing."""
        return [*self.run(f"PRAGMA table_info({quoted(table)})").rows]

    def run(self, statements: str | Sequence[str], parameters: Json = None, *, dialect: str = "") -> Result:
        """Run a statement, or several, all or none. Raises `SqlError` with the message of the database.

        `parameters` are values for the placeholders, by position or by name.
        """
        texts = [statements] if isinstance(statements, str) else [*statements]
        texts = [text.strip().rstrip(";") for text in texts]
        if not all(map(first_word, texts)) or not texts:
            raise SqlError("The statement is empty", "syntax")
        if dialect and dialect != "sqlite":
            from mcp_sim.libraries.sql.dialects import translate  # noqa: PLC0415 (sqlglot is for dialects)

            known = self._created()
            texts = [translated for text in texts for translated in translate(text, dialect, known)]
        results = self._database.run(self._store, texts, parameters, enforces_keys=dialect in _ENFORCING)
        return replace(results[-1], affected=sum(result.affected for result in results))

    def load(self, given: Json) -> bool:
        """Create the tables of a given state. Returns whether it has some.

        A table is a list of objects, an object by key, `columns` with `rows`, or a CREATE TABLE statement, under its
        name and any wrappers. The text of that statement may also create views, indexes and triggers.
        """
        tables, others = read_given_tables(given)
        for name, statement in ({table.entity.name: table.statement for table in tables} | others).items():
            self._store.put(SCHEMA, name, {"name": name, "sql": statement})
        for table in tables:
            for row in table.records:
                self._store.put(table.entity.name, row[table.entity.key], row)
        return bool(tables)


def first_word(statement: str) -> str:
    """Return the first word of a statement, in upper case, after comments and brackets."""
    return re.split(r"\W", _COMMENTS.sub("", statement, count=1), maxsplit=1)[0].upper()
