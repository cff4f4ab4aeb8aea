"""The statements of a text, and the types of the columns that they return."""

import json

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

from mcp_sim.libraries.sql import first_word

CHANGING = ("INSERT", "UPDATE", "DELETE", "MERGE", "COPY")
DEFINING = ("DROP", "ALTER", "SET", "USE", "PRAGMA", "ATTACH", "DETACH")
NAMES = {
    "INT": "INTEGER", "TEXT": "VARCHAR", "CHAR": "VARCHAR", "REAL": "DOUBLE", "FLOAT": "FLOAT", "DATETIME": "TIMESTAMP",
    "DECIMAL": "DECIMAL(18,3)", "NULL": "INTEGER",
}  # fmt: skip
"""Name of a type in sqlglot or SQLite -> DuckDB's own."""
INTEGERS = ("INTEGER", "BIGINT", "SMALLINT", "TINYINT")


def split(sql):
    """Return the statements of a text."""
    try:
        ends = [token.start for token in sqlglot.tokenize(sql, read="duckdb") if token.text == ";"]
    except SqlglotError:
        return [sql]
    starts = [0, *(end + 1 for end in ends)]
    pieces = (sql[start:end].strip() for start, end in zip(starts, [*ends, len(sql)], strict=True))
    return [piece for piece in pieces if piece]


def kind_of(statement):
    """Return what a statement does: `changed`, `created`, `defined`, or `returned` for one with rows."""
    word = first_word(statement)
    if word in CHANGING and "RETURNING" not in statement.upper():
        return "changed"
    return "created" if word == "CREATE" else "defined" if word in DEFINING else "returned"


def typed_columns(world, table):
    """Return the types of the columns of a table or view by name."""
    columns = {row["name"]: type_name(row["type"]) for row in world.sql.columns(table)}
    view = world.sql.views.get(table)
    if view is None:
        return columns
    query = sqlglot.parse_one(view, read="sqlite").expression
    schema = {name: typed_columns(world, name) for name in world.sql.tables}
    known = _annotated(query, schema)
    return {name: known.get(name) or kind or "VARCHAR" for name, kind in columns.items()}


def type_name(text):
    name, bracket, rest = text.upper().partition("(")
    name = NAMES.get(name.strip(), name.strip()) if not bracket or name.strip() != "DECIMAL" else name
    return f"{name}({rest.replace(' ', '')}" if bracket and name == "DECIMAL" else name


def columns_of(statement, schema, result):
    """Return the types of the columns of a result; those that the statement does not show follow from the values."""
    try:
        query = sqlglot.parse_one(statement, read="duckdb")
    except SqlglotError:
        query = None
    known = _annotated(query, schema) if isinstance(query, exp.Query) else {}
    at = dict(zip(result.columns, known.values(), strict=False)) if len(known) == len(result.columns) else known
    return {name: at.get(name) or _of_values([row[name] for row in result.rows]) for name in result.columns}


def _annotated(query, schema):
    try:
        known = qualify(query.copy(), schema=schema, dialect="duckdb", validate_qualify_columns=False)
        known = annotate_types(known, schema=schema, dialect="duckdb")
    except SqlglotError:
        return {}
    return {column.alias_or_name: _typed(column.unalias()) for column in known.selects}


def _typed(column):
    if isinstance(column, exp.Sum) and _typed(column.this) in INTEGERS:
        return "HUGEINT"
    if isinstance(column, exp.Avg | exp.Median | exp.Div):
        return "DOUBLE"
    if isinstance(column, exp.ArrayAgg):
        return f"{_typed(column.this)}[]"
    if column.type is None or column.is_type(exp.DType.UNKNOWN):
        return ""
    return type_name(column.type.sql("duckdb"))


def _of_values(values):
    value = next((value for value in values if value is not None), None)
    kinds = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}
    return kinds.get(type(value), "VARCHAR")


def shown_value(value, kind):
    """Return a value of SQLite as DuckDB has it under a type."""
    if value is None:
        return None
    if kind == "BOOLEAN":
        return bool(value)
    if kind.endswith("[]"):
        return json.loads(value)
    if kind.startswith("DECIMAL") and isinstance(value, int | float):
        places = int(kind.rstrip(")").rpartition(",")[2]) if "," in kind else 3
        return f"{value:.{places}f}"
    return float(value) if kind in ("DOUBLE", "FLOAT") and isinstance(value, int) else value
