"""Operations that describe a database: its tables, their columns and statements."""

from __future__ import annotations

from mcp_sim.backends.outcome import Outcome, as_text
from mcp_sim.backends.sql.copies import creates_table
from mcp_sim.backends.sql.request import SqlRequest
from mcp_sim.backends.sql.tables import quoted
from mcp_sim.types import Json, Record


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
