"""Operations that run SQL statements, or describe the tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mcp_sim.backends.outcome import Outcome, as_text, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.sql.copies import creates_table
from mcp_sim.backends.sql.database import StatementResult
from mcp_sim.backends.sql.request import SqlRequest
from mcp_sim.backends.sql.tables import quoted
from mcp_sim.types import Json, Record

_READS = frozenset({"SELECT", "WITH", "VALUES", "EXPLAIN", "PRAGMA", "SHOW", "DESCRIBE", "DESC", "SUMMARIZE"})
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "CREATE", "DROP", "ALTER", "TRUNCATE", "MERGE"})
_COUNTED = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "COPY"})
_COMMENTS = re.compile(r"^(\s|--[^\n]*(\n|$)|/\*.*?\*/|\()*", re.DOTALL)
_WORD = re.compile(r"\w+")


def query(request: SqlRequest) -> Outcome:
    """Run a statement that reads, with `parameters`, and return its rows, at most `limit`.

    Raises `Refused` if the statement is invalid, writes, or is stopped.
    """
    return result_outcome(_run(request, _READS), request.number("limit"))


def write(request: SqlRequest) -> Outcome:
    """Run a statement that writes, or several, and return the number of changed rows.

    Raises `Refused` if one is invalid, only reads, or violates a constraint.
    """
    return result_outcome(_run(request, _WRITES))


def execute(request: SqlRequest) -> Outcome:
    """Run any statement, or several, all or none of them. Return rows or the number of changed rows.

    Raises `Refused` if one is invalid or violates a constraint.
    """
    return result_outcome(_run(request), request.number("limit"))


def create(request: SqlRequest) -> Outcome:
    """Run a CREATE statement. Raises `Refused` if it is invalid or another one, or the table exists."""
    _run(request, frozenset({"CREATE"}), counts=False)
    return done("Table created successfully", affected_rows=0)


def tables(request: SqlRequest) -> Outcome:
    """List the tables; views too if the tool mentions them."""
    shows_views = request.mentions(" view")
    rows: list[Json] = [
        {"name": name} for name, statement in request.tables.items() if shows_views or creates_table(statement)
    ]
    return Outcome(as_text(rows), {"tables": rows, "count": len(rows)}, "tables", is_json=True)


def describe(request: SqlRequest) -> Outcome:
    """List the columns of a table: name, type, default, and whether it is required or a key.

    Raises `Refused` if the table does not exist.
    """
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


def _run(
    request: SqlRequest, allowed: frozenset[str] = frozenset(), *, counts: bool = True
) -> Sequence[StatementResult]:
    """Run the requested statements, translated from the server's dialect."""
    statements, dialect = _requested(request, allowed), request.text("dialect")
    results = request.run(_translated(statements, dialect, request), request.get("parameters"))
    if dialect == "duckdb" and counts and not results[-1].columns:
        results[-1] = _as_rows(results[-1], _first_word(statements[-1]))
    return results


def _requested(request: SqlRequest, allowed: frozenset[str]) -> list[str]:
    """Return the statements of a call. Raises `Refused` if there is none, or one that the tool does not accept."""
    statements = [one.strip().rstrip(";") for one in request.texts("statement")]
    if not statements:
        raise Refused("invalid", "No statement was given")
    for statement in statements:
        word = _first_word(statement)
        if not word:
            raise Refused("invalid", "The statement is empty")
        if allowed and word not in allowed:
            raise Refused("invalid", f"{word} is not allowed with this tool; it takes {', '.join(sorted(allowed))}")
    return statements


def _first_word(statement: str) -> str:
    """Return the first word of a statement in upper case."""
    found = _WORD.match(_COMMENTS.sub("", statement, count=1))
    return found[0].upper() if found else ""


def _translated(statements: list[str], dialect: str, request: SqlRequest) -> list[str]:
    """Return the statements in SQLite's dialect; `dialect` is '' if they already are."""
    if not dialect:
        return statements
    from mcp_sim.backends.sql.dialects import translate  # noqa: PLC0415 (sqlglot is for dialects)

    return [made for one in statements for made in translate(one, dialect, request.tables)]


def _as_rows(result: StatementResult, word: str) -> StatementResult:
    """Return the result of a DuckDB statement without rows: a row with the number of changes, none for a definition."""
    rows: list[Record] = [{"Count": result.affected}] if word in _COUNTED else []
    return replace(result, columns=["Count"], rows=rows)
