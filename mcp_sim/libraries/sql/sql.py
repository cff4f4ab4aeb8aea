"""The database of a world."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mcp_sim.libraries.sql.copies import creates_table
from mcp_sim.libraries.sql.database import SCHEMA, Database
from mcp_sim.libraries.sql.errors import SqlError
from mcp_sim.libraries.sql.tables import quoted, read_given_tables
from mcp_sim.libraries.store import Store
from mcp_sim.types import Json, Record

_ENFORCING = frozenset({"postgres", "mysql", "duckdb", "tsql", "oracle"})
"""Dialects of databases that enforce foreign keys."""
_COMMENTS = re.compile(r"^(\s|--[^\n]*(\n|$)|/\*.*?\*/|\()*", re.DOTALL)


@dataclass(slots=True)
class Result:
    """The result of the last of some statements; `affected` counts the rows that all of them have changed."""

    columns: Sequence[str]
    """Empty for statements that return no rows."""
    rows: Sequence[Record]
    affected: int
    last_id: int | None
    """The number of the last inserted row."""


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
        last, affected = results[-1], sum(result.affected for result in results)
        return Result(last.columns, last.rows, affected, last.last)

    def load(self, given: Json) -> bool:
        """Create the tables of a given state. Returns whether it has some.

        A table is a list of objects, an object by key, `columns` with `rows`, or a CREATE TABLE statement, under its
        name and any wrappers.
        """
        tables = read_given_tables(given)
        for table in tables:
            name = table.entity.name
            self._store.put(SCHEMA, name, {"name": name, "sql": table.statement})
            for row in table.records:
                self._store.put(name, row[table.entity.key], row)
        return bool(tables)


def first_word(statement: str) -> str:
    """Return the first word of a statement, in upper case, after comments and brackets."""
    return re.split(r"\W", _COMMENTS.sub("", statement, count=1), maxsplit=1)[0].upper()
