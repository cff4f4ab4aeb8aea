"""Emulated catalogs of other databases, and the statements that query them: SHOW, DESCRIBE, SUMMARIZE."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcp_sim.backends.sql.tables import missing_table, quoted

VIEWS: Mapping[str, str] = {
    "information_schema.tables": (
        "SELECT 'main' AS table_catalog, 'public' AS table_schema, name AS table_name, "
        "CASE type WHEN 'table' THEN 'BASE TABLE' ELSE 'VIEW' END AS table_type "
        "FROM main.sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
    ),
    "information_schema.columns": (
        "SELECT 'main' AS table_catalog, 'public' AS table_schema, t.name AS table_name, c.name AS column_name, "
        "c.cid + 1 AS ordinal_position, c.dflt_value AS column_default, "
        "CASE c.\"notnull\" WHEN 1 THEN 'NO' ELSE 'YES' END AS is_nullable, lower(c.type) AS data_type, "
        "CASE c.pk WHEN 0 THEN '' ELSE 'PRI' END AS column_key "
        "FROM main.sqlite_master t, pragma_table_info(t.name) c "
        "WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%'"
    ),
    "information_schema.pg_tables": (
        "SELECT 'public' AS schemaname, name AS tablename, 'main' AS tableowner "
        "FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ),
}
"""The views that emulate catalogs of other databases, by name."""

_NAME = r'(?:\w+\.)?[`"\[]?(?P<table>\w+)[`"\]]?'
_SHOWS_TABLES = r"show( full)? tables\b.*"
_DESCRIBES = rf"(describe|desc|show( full)? (columns|fields) (from|in))( table)? {_NAME}"
_SUMMARIZES = rf"summarize( select \* from)? {_NAME}"

_TABLES = 'SELECT table_name AS "{}" FROM "information_schema.tables"'
_COLUMNS = "SELECT {} FROM \"information_schema.columns\" WHERE table_name = '{{table}}'"
_QUERIES: Mapping[str, str] = {
    _SHOWS_TABLES: _TABLES.format("Tables_in_main"),
    r"show (databases|schemas)\b.*": "SELECT 'main' AS \"Database\"",
    rf"show create table {_NAME}":
        'SELECT name AS "Table", sql AS "Create Table" FROM sqlite_master WHERE name = \'{table}\'',
    _DESCRIBES: _COLUMNS.format(
        'column_name AS "Field", data_type AS "Type", is_nullable AS "Null", column_key AS "Key", '
        'column_default AS "Default"'
    ),
}  # fmt: skip
"""Statement, in single spaces -> the query for it, as MySQL shows the result."""
_DUCKDB_QUERIES: Mapping[str, str] = {
    **_QUERIES,
    _SHOWS_TABLES: _TABLES.format("name"),
    _DESCRIBES: _COLUMNS.format(
        "column_name, CASE upper(data_type) WHEN 'TEXT' THEN 'VARCHAR' WHEN 'REAL' THEN 'DOUBLE' "
        "ELSE upper(data_type) END AS column_type, CASE column_key WHEN 'PRI' THEN 'NO' ELSE is_nullable END "
        'AS "null", NULLIF(column_key, \'\') AS "key", column_default AS "default", NULL AS extra'
    ),
}

_SUMMARY = (
    "SELECT {text} AS column_name, '{kind}' AS column_type, CAST(MIN({column}) AS TEXT) AS min, "
    "CAST(MAX({column}) AS TEXT) AS max, COUNT(DISTINCT {column}) AS approx_unique, {statistics}, COUNT(*) AS count, "
    "ROUND(100.0 * (COUNT(*) - COUNT({column})) / MAX(COUNT(*), 1), 2) AS null_percentage FROM {table}"
)
_STATISTICS: Mapping[str, str] = {
    "avg": "AVG({column})", "std": "STDDEV({column})", "q25": "PERCENTILE_CONT({column}, 0.25)",
    "q50": "PERCENTILE_CONT({column}, 0.5)", "q75": "PERCENTILE_CONT({column}, 0.75)",
}  # fmt: skip
_NUMBERS = frozenset({"INT", "BIGINT", "DOUBLE", "FLOAT", "DECIMAL", "SMALLINT", "TINYINT"})
"""Types of columns that have statistics, as sqlglot names them."""
_DUCKDB_TYPES: Mapping[str, str] = {"TEXT": "VARCHAR", "INT": "INTEGER"}


def catalog_query(statement: str, dialect: str, tables: Mapping[str, str]) -> str | None:
    """Return a query for a statement such as SHOW TABLES or DESCRIBE; None for other statements.

    Raises `Refused` if the table does not exist.
    """
    text, is_duckdb = " ".join(statement.rstrip("; \n").split()), dialect == "duckdb"
    queries = {**_DUCKDB_QUERIES, _SUMMARIZES: ""} if is_duckdb else _QUERIES
    for pattern, query in queries.items():
        found = re.fullmatch(pattern, text, re.IGNORECASE)
        if found is not None:
            table = found.groupdict().get("table")
            if table is not None and table not in tables:
                raise missing_table(table, tables)
            return query.format(table=table) or _summary(str(table), tables[str(table)])
    return None


def _summary(table: str, statement: str) -> str:
    """Return the query of SUMMARIZE: a row for each column, with statistics of those that are numbers."""
    rows: list[str] = []
    for name, kind in typed_columns(statement):
        column, text = quoted(name), name.replace("'", "''")
        found = {one: f"CAST({call} AS TEXT)" if kind in _NUMBERS else "NULL" for one, call in _STATISTICS.items()}
        statistics = ", ".join(f"{call} AS {one}" for one, call in found.items()).format(column=column)
        rows.append(_SUMMARY.format(text=f"'{text}'", kind=_DUCKDB_TYPES.get(kind, kind), column=column,
                                    statistics=statistics, table=quoted(table)))  # fmt: skip
    return " UNION ALL ".join(rows)


def typed_columns(statement: str) -> list[tuple[str, str]]:
    """Return the columns that a statement creates, each with its type as sqlglot names it; '' if it has none."""
    import sqlglot  # noqa: PLC0415 (for other dialects)

    columns = sqlglot.parse_one(statement, read="sqlite").find_all(sqlglot.exp.ColumnDef)
    return [(one.name, "" if one.kind is None else one.kind.this.name) for one in columns]
