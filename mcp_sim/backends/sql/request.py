"""Requests of operations on SQL tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from mcp_sim.backends.request import Request
from mcp_sim.backends.sql.tables import missing_table
from mcp_sim.types import Json

if TYPE_CHECKING:
    from mcp_sim.backends.sql.database import Database, StatementResult


class SqlRequest(Request):
    """One call, and the database over the tables that it sees."""

    @cached_property
    def database(self) -> Database:
        """The database of the server. For calls from Python, it has the given tables and those that SQL created."""
        from mcp_sim.backends.sql.database import Database  # noqa: PLC0415 (SQLite is for calls)

        return self.binding.shared or Database({}, self.binding.prefix)

    @cached_property
    def tables(self) -> Mapping[str, str]:
        """The tables and views before this call: name -> the statement that creates it."""
        return self.database.tables(self.view)

    @cached_property
    def table(self) -> str:
        """The table that the call names. Raises `Refused` if there is none."""
        name = self.text("table")
        if name not in self.tables:
            raise missing_table(name, self.tables)
        return name

    def run(self, statements: Sequence[str], parameters: Json = None) -> list[StatementResult]:
        """Run statements of SQLite, all or none of them, and write what they change."""
        results, writes = self.database.run(self.view, self.now, self.draws, statements, parameters)
        for name, key, record in writes:
            entity = name.removeprefix(self.binding.prefix)
            if record is None:
                self.drop(key, entity)
            else:
                self.put(key, record, entity)
        return results
