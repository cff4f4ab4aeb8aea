"""Operations that run SQL statements, or describe the tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.request import Request
from mcp_sim.backends.sql.copies import creates_table
from mcp_sim.backends.sql.database import Database, StatementResult
from mcp_sim.backends.sql.tables import missing_table, quoted
from mcp_sim.types import Json, Record

_READS = frozenset({"SELECT", "WITH", "VALUES", "EXPLAIN", "PRAGMA", "SHOW", "DESCRIBE", "DESC", "SUMMARIZE"})
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "CREATE", "DROP", "ALTER", "TRUNCATE", "MERGE"})
_COUNTED = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "COPY"})
_COMMENTS = re.compile(r"^(\s|--[^\n]*(\n|$)|/\*.*?\*/|\()*", re.DOTALL)


class SqlRequest(Request):
    """One call, and the database over the tables that it sees."""

    @cached_property
    def database(self) -> Database:
        """The database of the server. For calls from Python, it has the given tables and those that SQL created."""
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


def query(request: SqlRequest) -> Outcome:
    """Run a statement that reads, with `parameters`. Return its rows, at most `limit`. Raises `Refused` if it fails."""
    return result_outcome(_run(request, _READS), request.number("limit"))


def write(request: SqlRequest) -> Outcome:
    """Run statements that write, all or none. Return the number of changed rows. Raises `Refused` if one fails."""
    return result_outcome(_run(request, _WRITES))


def execute(request: SqlRequest) -> Outcome:
    """Run any statements, all or none. Return rows or the number of changed rows. Raises `Refused` if one fails."""
    return result_outcome(_run(request), request.number("limit"))


def create(request: SqlRequest) -> Outcome:
    """Run a CREATE statement. Raises `Refused` if it is invalid or another one, or the table exists."""
    _run(request, frozenset({"CREATE"}))
    return done("Table created successfully", affected_rows=0)


def tables(request: SqlRequest) -> Outcome:
    """List the tables; views too if the tool mentions them."""
    shown = [name for name, made in request.tables.items() if request.mentions(" view") or creates_table(made)]
    rows: list[Json] = [{"name": name} for name in shown]
    return Outcome(as_text(rows), {"tables": rows, "count": len(rows)}, "tables", is_json=True)


def describe(request: SqlRequest) -> Outcome:
    """List the columns of a table: name, type, default, whether required, whether a key. Raises `Refused` if none."""
    name = request.table
    rows = list(request.run([f"PRAGMA table_info({quoted(name)})"])[-1].rows)
    facts: Record = {"columns": rows, "name": name, "sql": request.tables[name], "count": len(rows)}
    return Outcome(as_text(rows), facts, "columns", is_json=True)


def schema(request: SqlRequest) -> Outcome:
    """Return the statements that create the tables."""
    facts: Record = {"tables": [{"name": name, "sql": sql} for name, sql in request.tables.items()]}
    return Outcome("\n\n".join(request.tables.values()) or "No tables", facts, "tables")


def info(request: SqlRequest) -> Outcome:
    """Return the number of tables and their names."""
    names: list[Json] = list(request.tables)
    facts: Record = {"exists": True, "table_count": len(names), "tables": names}
    return Outcome(f"{len(names)} tables: {', '.join(request.tables)}", facts, is_json=True)


def databases(_request: SqlRequest) -> Outcome:
    """List the databases: there is one, `main`."""
    return Outcome("main", {"databases": [{"name": "main"}], "count": 1}, "databases", is_json=True)


def result_outcome(results: Sequence[StatementResult], limit: int | None = None) -> Outcome:
    """Return the rows of the last statement, at most `limit`, else the number of rows that all of them changed."""
    last = results[-1]
    if last.columns:
        rows = list(last.rows)[:limit]
        facts = {"rows": rows, "columns": list(last.columns), "count": len(rows), "affected_rows": last.affected}
        return Outcome(as_text(rows), facts, "rows", is_json=True)
    affected = sum(one.affected for one in results)
    facts: Record = {"affected_rows": affected}
    if last.last is not None and affected:
        facts["last_insert_id"] = last.last
    return Outcome(f"{affected} row{'' if affected == 1 else 's'} affected", facts, is_json=True)


def _run(request: SqlRequest, allowed: frozenset[str] = frozenset()) -> Sequence[StatementResult]:
    """Run the statements of a call, in the dialect of its server. Raises `Refused` if their first words are others."""
    statements = [one.strip().rstrip(";") for one in request.texts("statement")]
    if not statements:
        raise Refused("invalid", "No statement was given")
    words = [re.split(r"\W", _COMMENTS.sub("", one, count=1), maxsplit=1)[0].upper() for one in statements]
    for word in words:
        if not word:
            raise Refused("invalid", "The statement is empty")
        if allowed and word not in allowed:
            raise Refused("invalid", f"{word} is not allowed with this tool; it takes {', '.join(sorted(allowed))}")
    dialect = request.text("dialect")
    if dialect:
        from mcp_sim.backends.sql.dialects import translate  # noqa: PLC0415 (sqlglot is for dialects)

        statements = [made for one in statements for made in translate(one, dialect, request.tables)]
    results = request.run(statements, request.get("parameters"))
    if dialect == "duckdb" and not results[-1].columns:
        rows: list[Record] = [{"Count": results[-1].affected}] if words[-1] in _COUNTED else []
        results[-1] = replace(results[-1], columns=["Count"], rows=rows)
    return results
