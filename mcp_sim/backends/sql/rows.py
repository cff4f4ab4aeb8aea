"""Operations on the rows of a table without SQL, and on tables as a whole.

Conditions are required values of columns, lists of them, comparisons (`{"gt": 4}`), or the text of a WHERE clause.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mcp_sim.backends.outcome import Outcome, done
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.sql.statements import SqlRequest, result_outcome
from mcp_sim.backends.sql.tables import column_definitions, quoted
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

_COMPARED: Mapping[str, str] = {
    "eq": "=", "ne": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "like": "LIKE", "=": "=", "!=": "<>",
    "<>": "<>", ">": ">", ">=": ">=", "<": "<", "<=": "<=",
}  # fmt: skip


def insert(request: SqlRequest) -> Outcome:
    """Insert `data`: an object, a list of objects, or values of `columns`. Raises `Refused` if they do not fit."""
    table, rows = quoted(request.table), _given_rows(request)
    columns = list(_filled({name: None for row in rows for name in row}))
    places = ", ".join([f"({', '.join('?' * len(columns))})"] * len(rows))
    values: list[Json] = [row.get(name) for row in rows for name in columns]
    named = ", ".join(map(quoted, columns))
    return _run(request, f"INSERT INTO {table} ({named}) VALUES {places}", values)  # noqa: S608 (quoted)


def select(request: SqlRequest) -> Outcome:
    """Return the rows that meet `conditions`, in an `order`, from `offset`. Raises `Refused` if a name is unknown."""
    table, (where, values), end = quoted(request.table), _where(request), _end(request)
    return _run(request, f"SELECT {_columns(request)} FROM {table}{where}{end}", values)  # noqa: S608 (quoted)


def update(request: SqlRequest) -> Outcome:
    """Set the columns of `data` in the rows that meet `conditions`. Raises `Refused` if they do not fit."""
    table, data = quoted(request.table), _filled(as_object(request.get("data")))
    where, values = _where(request)
    assignments = ", ".join(f"{quoted(name)} = ?" for name in data)
    return _run(request, f"UPDATE {table} SET {assignments}{where}", [*data.values(), *values])  # noqa: S608 (quoted)


def delete(request: SqlRequest) -> Outcome:
    """Delete the rows that meet `conditions`. Raises `Refused` if the table or a column does not exist."""
    table, (where, values) = quoted(request.table), _where(request)
    return _run(request, f"DELETE FROM {table}{where}", values)  # noqa: S608 (quoted)


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


def _run(request: SqlRequest, statement: str, values: Sequence[Json]) -> Outcome:
    return result_outcome(request.run([statement], [*values]))


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
    return [as_object(one) or dict(zip(columns, as_list(one), strict=False)) for one in rows]


def _columns(request: SqlRequest) -> str:
    named = [name.strip() for one in request.texts("columns") for name in one.split(",")]
    plain = [name for name in named if name not in {"", "*"}]
    return ", ".join(quoted(name) if name.isidentifier() else name for name in plain) or "*"


def _end(request: SqlRequest) -> str:
    order, limit, offset = request.text("order"), request.number("limit"), request.number("offset")
    clauses = f" ORDER BY {order}" if order else ""
    if limit is not None or offset:
        clauses += f" LIMIT {-1 if limit is None else limit}"
    return clauses + (f" OFFSET {offset}" if offset else "")


def _where(request: SqlRequest) -> tuple[str, list[Json]]:
    """Return the WHERE clause of a call and its values."""
    given = request.get("conditions")
    if isinstance(given, str):
        return (f" WHERE {given}" if given.strip() else ""), as_list(request.get("parameters"))
    found = [_condition(name, value) for name, value in as_object(given).items()]
    clause = " WHERE " if found else ""
    return clause + " AND ".join(text for text, _ in found), [one for _, values in found for one in values]


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
