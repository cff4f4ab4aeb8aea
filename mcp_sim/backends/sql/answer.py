"""Answer the tools that take SQL or work on tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.rendering.outcomes import Outcome, compile_answer
from mcp_sim.backends.rendering.structured import Names
from mcp_sim.backends.sql.copies import creates_table
from mcp_sim.backends.sql.database import Database, StatementResult
from mcp_sim.backends.sql.matching import SCHEMA
from mcp_sim.backends.sql.row_tools import row_statement
from mcp_sim.types import Json, Record, Tool, Turn
from mcp_sim.types.domain import Domain
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.kinds import Answer
from mcp_sim.types.plans import Plan

_NAMES: Names = {
    "rows": ("data", "results", "records", "result"),
    "columns": ("fields", "column_names", "schema"),
    "affected_rows": ("rows_affected", "row_count", "changes", "affected", "updated", "modified"),
    "count": ("row_count", "total", "num_rows", "rows_returned"),
    "last_insert_id": (
        "inserted_id",
        "row_id",
        "rowid",
        "id",
        "last_row_id",
        "lastrowid",
        "insert_id",
        "last_insert_rowid",
    ),
    "name": ("table_name", "table"),
    "tables": ("results", "table_names"),
    "notnull": ("not_null", "required"),
    "type": ("data_type", "column_type"),
}


_CREATING = frozenset({"create", "make"})
_PAST = {"create": "created", "make": "created", "drop": "dropped", "rename": "renamed"}
"""Past tense of the operations that only change a table."""

_COUNTED_WORDS = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "COPY"})


def answer(tool: Tool, plan: Plan, domain: Domain) -> Answer:
    """Return the function that answers the calls of a tool, from a copy of its server's tables.

    Raises `ValueError` if the operation is unknown.
    """
    if plan.operation not in _OPERATIONS:
        raise ValueError(f"{tool.id}: {plan.backend} has no operation {plan.operation!r}")
    prefix = (plan.entity or "").removesuffix(SCHEMA)
    others = {other.entity for other in domain.plans.values() if other.backend not in {"records", "sql", "schema_only"}}
    entities = {name: one for name, one in domain.entities.items() if name not in others}
    shared: Database | None = domain.kept.get(("sql", prefix))
    makes = any(other.operation in _CREATING and other.entity == plan.entity for other in domain.plans.values())
    database = domain.kept["sql", prefix] = (
        Database(entities, prefix, shows_entities=not makes) if shared is None else shared
    )
    operate = _OPERATIONS[plan.operation]
    return compile_answer(tool, domain, lambda turn: operate(database, turn, plan), _NAMES)


def _run(database: Database, turn: Turn, plan: Plan) -> Outcome:
    """Run the requested statements. Return the rows or the number of changed rows."""
    given = turn.call.arguments
    statements, tables = requested_statements(plan, given), database.tables(turn.view)
    parameters = given.get(plan.arguments.get("parameters", ""))
    dialect = str(plan.fixed.get("dialect", ""))
    results = database.run(turn, translate_all(statements, dialect, tables), parameters)
    if dialect == "duckdb" and not results[-1].has_rows and plan.operation not in _PAST:
        results[-1] = _as_rows(results[-1], first_word(statements[-1]))
    return _answer(results, plan)


def _as_rows(result: StatementResult, word: str) -> StatementResult:
    """Return the result of a DuckDB statement without rows: a row with the number of changes, none for a definition."""
    rows: list[Record] = [{"Count": result.affected}] if word in _COUNTED_WORDS else []
    return replace(result, columns=["Count"], rows=rows, has_rows=True)


def _run_on_rows(database: Database, turn: Turn, plan: Plan) -> Outcome:
    """Run an operation on the rows of a table."""
    given, tables = turn.call.arguments, database.tables(turn.view)
    table = str(given.get(plan.arguments.get("table", plan.arguments.get("old", ""))) or "")
    if plan.operation != "make" and table not in tables:
        raise _missing(table, tables)
    statement, values = row_statement(plan.operation, plan.arguments, given)
    return _answer(database.run(turn, [statement], values), plan)


def _missing(table: str, tables: Mapping[str, str]) -> Refused:
    message = f"Table {table} not found; tables: {', '.join(tables) or 'none'}"
    return Refused("not_found", message, key=table, entity="table")


def _answer(results: list[StatementResult], plan: Plan) -> Outcome:
    last = results[-1]
    changes = tuple(change for one in results for change in one.changes)
    if last.has_rows:
        rows = list(last.rows)
        text = "\n".join(" | ".join(str(value) for value in row.values()) for row in rows)
        facts = {"rows": rows, "columns": list(last.columns), "count": len(rows), "affected_rows": last.affected}
        return Outcome(text or "No rows", facts, "rows", is_json=True, changes=changes)
    if plan.operation in _PAST:
        return Outcome(f"Table {_PAST[plan.operation]} successfully", {"affected_rows": 0}, changes=changes)
    affected = sum(one.affected for one in results)
    facts: Record = {"affected_rows": affected}
    more: Json = {"last_insert_id": last.last} if last.last is not None and affected else {}
    return Outcome(f"{affected} rows affected", {**facts, **more}, is_json=True, changes=changes)


def _tables(database: Database, turn: Turn, plan: Plan) -> Outcome:
    """List the tables; views too if the tool mentions them."""
    known = database.tables(turn.view).items()
    names = [name for name, statement in known if creates_table(statement) or plan.fixed.get("views")]
    facts: Record = {"tables": [{"name": name} for name in names], "count": len(names)}
    return Outcome("\n".join(names) or "No tables", facts, "tables", is_json=True)


def _describe(database: Database, turn: Turn, plan: Plan) -> Outcome:
    name = str(turn.call.arguments.get(plan.arguments.get("table", ""), ""))
    tables = database.tables(turn.view)
    if name not in tables:
        raise _missing(name, tables)
    rows = database.columns(turn, name)
    text = "\n".join(f"{row['name']} {row['type']}" for row in rows)
    return Outcome(
        text, {"columns": rows, "name": name, "sql": tables[name], "count": len(rows)}, "columns", is_json=True
    )


def _info(database: Database, turn: Turn, _plan: Plan) -> Outcome:
    """Return facts about the database."""
    names: list[Json] = list(database.tables(turn.view))
    facts: Record = {"exists": True, "table_count": len(names), "tables": names}
    return Outcome(f"{len(names)} tables: {', '.join(names)}", facts, is_json=True)


def _databases(_database: Database, _turn: Turn, _plan: Plan) -> Outcome:
    return Outcome("main", {"databases": [{"name": "main"}], "count": 1}, "databases", is_json=True)


def _all(database: Database, turn: Turn, _plan: Plan) -> Outcome:
    tables = database.tables(turn.view)
    facts: Record = {"tables": [{"name": name, "sql": sql} for name, sql in tables.items()]}
    return Outcome("\n\n".join(tables.values()) or "No tables", facts, "tables")


_OPERATIONS: Mapping[str, Callable[[Database, Turn, Plan], Outcome]] = {
    "query": _run, "write": _run, "execute": _run, "create": _run, "tables": _tables, "describe": _describe,
    "schema": _all, "databases": _databases, "info": _info, "insert": _run_on_rows,
    "select": _run_on_rows, "modify": _run_on_rows, "remove": _run_on_rows, "make": _run_on_rows, "drop": _run_on_rows,
    "rename": _run_on_rows,
}  # fmt: skip


_READS = frozenset({"SELECT", "WITH", "VALUES", "EXPLAIN", "PRAGMA", "SHOW", "DESCRIBE", "DESC", "SUMMARIZE"})
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "CREATE", "DROP", "ALTER", "TRUNCATE", "MERGE"})
_ALLOWED: Mapping[str, frozenset[str]] = {"query": _READS, "write": _WRITES, "create": frozenset({"CREATE"})}
_COMMENTS = re.compile(r"^(\s|--[^\n]*(\n|$)|/\*.*?\*/|\()*", re.DOTALL)
_WORD = re.compile(r"\w+")


def requested_statements(plan: Plan, given: Mapping[str, Json]) -> list[str]:
    """Return the statements of a call. Raises `Refused` if there is none, or one that the tool does not accept."""
    batch = plan.arguments.get("batch")
    given_statements = as_list(given.get(batch)) if batch else [given.get(plan.arguments["statement"], "")]
    if not given_statements:
        raise Refused("invalid", "No statement was given")
    statements = [str(one).strip().rstrip(";") for one in given_statements]
    allowed = _ALLOWED.get(plan.operation, frozenset[str]())
    for statement in statements:
        word = first_word(statement)
        if not word:
            raise Refused("invalid", "The statement is empty")
        if allowed and word not in allowed:
            raise Refused("invalid", f"{word} is not allowed with this tool; it takes {', '.join(sorted(allowed))}")
    return statements


def first_word(statement: str) -> str:
    """Return the first word of a statement in upper case."""
    found = _WORD.match(_COMMENTS.sub("", statement, count=1))
    return found[0].upper() if found else ""


def translate_all(statements: list[str], dialect: str, tables: Mapping[str, str]) -> list[str]:
    """Return the statements in SQLite's dialect; `dialect` is '' if they already are."""
    if not dialect:
        return statements
    from mcp_sim.backends.sql.dialects import translate  # noqa: PLC0415 (sqlglot is for dialects)

    return [made for one in statements for made in translate(one, dialect, tables)]
