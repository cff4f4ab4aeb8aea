"""Operations that run SQL statements, describe the tables, or work on rows without SQL."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from mcp_sim.plans.outcome import Outcome, as_text, done
from mcp_sim.plans.refusal import Refused
from mcp_sim.plans.request import Request
from mcp_sim.plans.sql.copies import creates_table
from mcp_sim.plans.sql.database import Database, StatementResult
from mcp_sim.plans.sql.tables import column_definitions, missing_table, quoted
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

_READS = frozenset({"SELECT", "WITH", "VALUES", "EXPLAIN", "PRAGMA", "SHOW", "DESCRIBE", "DESC", "SUMMARIZE"})
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "CREATE", "DROP", "ALTER", "TRUNCATE", "MERGE"})
_COUNTED = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "COPY"})
_COMMENTS = re.compile(r"^(\s|--[^\n]*(\n|$)|/\*.*?\*/|\()*", re.DOTALL)
_COMPARED: Mapping[str, str] = {
    "eq": "=", "ne": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "like": "LIKE", "=": "=", "!=": "<>",
    "<>": "<>", ">": ">", ">=": ">=", "<": "<", "<=": "<=",
}  # fmt: skip


class SqlRequest(Request):
    """One call, and the database over the tables that it sees."""

    @cached_property
    def database(self) -> Database:
        """The database of the server. For calls from Python, it has the given tables and those that SQL created."""
        return self.binding.shared

    @cached_property
    def tables(self) -> Mapping[str, str]:
        """The tables and views before this call: name -> the statement that creates it."""
        return self.database.tables(self.view)

    @cached_property
    def table(self) -> str:
        """The table that the call names. Raises `Refused` if it does not exist."""
        name = self.text("table")
        if name not in self.tables:
            raise missing_table(name, self.tables)
        return name

    def run(self, statements: Sequence[str], parameters: Json = None) -> list[StatementResult]:
        """Run statements of SQLite, all or none of them, and write what they change."""
        return self.database.run(self, statements, parameters)


def query(request: SqlRequest) -> Outcome:
    """Run a statement that reads, with `parameters`. Return its rows, at most `limit`. Raises `Refused` if it fails."""
    return _outcome(_run(request, _READS), request.number("limit"))


def write(request: SqlRequest) -> Outcome:
    """Run statements that write, all or none. Return the number of changed rows. Raises `Refused` if one fails."""
    return _outcome(_run(request, _WRITES))


def execute(request: SqlRequest) -> Outcome:
    """Run any statements, all or none. Return rows or the number of changed rows. Raises `Refused` if one fails."""
    return _outcome(_run(request), request.number("limit"))


def create(request: SqlRequest) -> Outcome:
    """Run a CREATE statement. Raises `Refused` if it is invalid or another one, or the table exists."""
    _run(request, frozenset({"CREATE"}))
    return done("Table created successfully", affected_rows=0)


def tables(request: SqlRequest) -> Outcome:
    """List the tables; views too if the tool mentions them."""
    shown = [name for name, table in request.tables.items() if request.mentions(" view") or creates_table(table)]
    rows: list[Json] = [{"name": name} for name in shown]
    return Outcome(as_text(rows), {"tables": rows, "count": len(rows)}, "tables", is_json=True)


def describe(request: SqlRequest) -> Outcome:
    """List the columns of a table: name, type, default, whether required, whether a key. Raises `Refused`."""
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


def insert(request: SqlRequest) -> Outcome:
    """Insert `data`: an object, a list of objects, or values of `columns`. Raises `Refused` if they do not fit."""
    table, rows = quoted(request.table), _given_rows(request)
    columns = list(_filled({name: None for row in rows for name in row}))
    places = ", ".join([f"({', '.join('?' * len(columns))})"] * len(rows))
    values: list[Json] = [row.get(name) for row in rows for name in columns]
    named = ", ".join(map(quoted, columns))
    return _run_one(request, f"INSERT INTO {table} ({named}) VALUES {places}", values)  # noqa: S608 (quoted)


def select(request: SqlRequest) -> Outcome:
    """Return the rows that meet `conditions`, in an `order`, from `offset`. Raises `Refused` if a name is unknown."""
    table, (where, values), end = quoted(request.table), _where(request), _end(request)
    named = [name.strip() for text in request.texts("columns") for name in text.split(",")]
    shown = [quoted(name) if name.isidentifier() else name for name in named if name not in {"", "*"}]
    return _run_one(request, f"SELECT {', '.join(shown) or '*'} FROM {table}{where}{end}", values)  # noqa: S608 (quoted)


def update(request: SqlRequest) -> Outcome:
    """Set the columns of `data` in the rows that meet `conditions`. Raises `Refused` if they do not fit."""
    table, data = quoted(request.table), _filled(as_object(request.get("data")))
    where, values = _where(request)
    assignments = ", ".join(f"{quoted(name)} = ?" for name in data)
    return _run_one(request, f"UPDATE {table} SET {assignments}{where}", [*data.values(), *values])  # noqa: S608 (quoted)


def delete(request: SqlRequest) -> Outcome:
    """Delete the rows that meet `conditions`. Raises `Refused` if the table or a column does not exist."""
    table, (where, values) = quoted(request.table), _where(request)
    return _run_one(request, f"DELETE FROM {table}{where}", values)  # noqa: S608 (quoted)


def create_table(request: SqlRequest) -> Outcome:
    """Create a table with `columns`: texts, objects with a name, or types by name. Raises `Refused` if it exists."""
    columns = ", ".join(column_definitions(request.get("columns")))
    return _changed(request, f"CREATE TABLE {quoted(request.required('table'))} ({columns})", "created")


def drop_table(request: SqlRequest) -> Outcome:
    """Drop a table with its rows. Raises `Refused` if it does not exist."""
    return _changed(request, f"DROP TABLE {quoted(request.table)}", "dropped")


def rename_table(request: SqlRequest) -> Outcome:
    """Rename a table to `new_name`. Raises `Refused` if it does not exist, or the new name is taken."""
    name = quoted(request.required("new_name"))
    return _changed(request, f"ALTER TABLE {quoted(request.table)} RENAME TO {name}", "renamed")


def _outcome(results: Sequence[StatementResult], limit: int | None = None) -> Outcome:
    """Return the rows of the last statement, at most `limit`, else the number of rows that all of them changed."""
    last = results[-1]
    if last.columns:
        rows = list(last.rows)[:limit]
        facts = {"rows": rows, "columns": list(last.columns), "count": len(rows), "affected_rows": last.affected}
        return Outcome(as_text(rows), facts, "rows", is_json=True)
    affected = sum(result.affected for result in results)
    inserted: Record = {"last_insert_id": last.last} if last.last is not None and affected else {}
    text = f"{affected} row{'' if affected == 1 else 's'} affected"
    return Outcome(text, {"affected_rows": affected, **inserted}, is_json=True)


def _run(request: SqlRequest, allowed: frozenset[str] = frozenset()) -> Sequence[StatementResult]:
    """Run the statements of a call, in the dialect of its server. Raises `Refused` if their first words are others."""
    statements = [text.strip().rstrip(";") for text in request.texts("statement")]
    if not statements:
        raise Refused("invalid", "No statement was given")
    words = [re.split(r"\W", _COMMENTS.sub("", statement, count=1), maxsplit=1)[0].upper() for statement in statements]
    for word in words:
        _check(word, allowed)
    dialect = request.text("dialect")
    if dialect:
        from mcp_sim.plans.sql.dialects import translate  # noqa: PLC0415 (sqlglot is for dialects)

        statements = [
            translated for statement in statements for translated in translate(statement, dialect, request.tables)
        ]
    results = request.run(statements, request.get("parameters"))
    if dialect == "duckdb" and not results[-1].columns:
        rows: list[Record] = [{"Count": results[-1].affected}] if words[-1] in _COUNTED else []
        results[-1] = replace(results[-1], columns=["Count"], rows=rows)
    return results


def _check(word: str, allowed: frozenset[str]) -> None:
    if not word:
        raise Refused("invalid", "The statement is empty")
    if allowed and word not in allowed:
        raise Refused("invalid", f"{word} is not allowed with this tool; it takes {', '.join(sorted(allowed))}")


def _run_one(request: SqlRequest, statement: str, values: Sequence[Json]) -> Outcome:
    return _outcome(request.run([statement], [*values]))


def _changed(request: SqlRequest, statement: str, past: str) -> Outcome:
    request.run([statement])
    return done(f"Table {past} successfully", affected_rows=0)


def _filled(data: Record) -> Record:
    if not data:
        raise Refused("invalid", "No values were given")
    return data


def _given_rows(request: SqlRequest) -> list[Record]:
    rows, columns = as_list(request.get("data")) or [request.get("data")], request.texts("columns")
    if columns and rows and not isinstance(rows[0], dict | list):
        rows = [rows]
    return [as_object(row) or dict(zip(columns, as_list(row), strict=False)) for row in rows]


def _end(request: SqlRequest) -> str:
    order, limit, offset = request.text("order"), request.number("limit"), request.number("offset")
    clauses = f" ORDER BY {order}" if order else ""
    if limit is not None or offset:
        clauses += f" LIMIT {-1 if limit is None else limit}"
    return clauses + (f" OFFSET {offset}" if offset else "")


def _where(request: SqlRequest) -> tuple[str, list[Json]]:
    """Return the WHERE clause of a call and its values.

    Conditions are values of columns, lists of them, comparisons (`{"gt": 4}`), or the text of the clause.
    """
    given = request.get("conditions")
    if isinstance(given, str):
        return (f" WHERE {given}" if given.strip() else ""), as_list(request.get("parameters"))
    conditions = [_condition(name, value) for name, value in as_object(given).items()]
    clause = " WHERE " if conditions else ""
    return clause + " AND ".join(text for text, _ in conditions), [
        value for _, values in conditions for value in values
    ]


def _condition(name: str, value: Json) -> tuple[str, list[Json]]:
    if value is None:
        return f"{quoted(name)} IS NULL", []
    if isinstance(value, list):
        return f"{quoted(name)} IN ({', '.join('?' * len(as_list(value)))})", as_list(value)
    if not isinstance(value, dict):
        return f"{quoted(name)} = ?", [value]
    compared = as_object(value)
    signs = [_COMPARED.get(sign.lower().lstrip("$")) for sign in compared]
    if not signs or None in signs:
        raise Refused("invalid", f"Unknown comparison of {name}: {', '.join(compared)}; use {', '.join(_COMPARED)}")
    return " AND ".join(f"{quoted(name)} {sign} ?" for sign in signs), [*compared.values()]
