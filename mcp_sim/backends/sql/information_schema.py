"""Emulated catalogs of other databases, and the statements that query them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcp_sim.backends.sql.tables import missing_table

_NAME = r"(?:\w+\.)?[`\"\[]?(?P<table>\w+)[`\"\]]?"
_DESCRIBES = re.compile(
    rf"\s*(?:describe|desc|show\s+(?:full\s+)?(?:columns|fields)\s+(?:from|in))\s+(?:table\s+)?{_NAME}\s*;?\s*",
    re.IGNORECASE,
)
_SHOWS_MAKING = re.compile(rf"\s*show\s+create\s+table\s+{_NAME}\s*;?\s*", re.IGNORECASE)
_SHOWS_TABLES = re.compile(r"\s*show\s+(?:full\s+)?tables\b.*", re.IGNORECASE | re.DOTALL)
_SHOWS_DATABASES = re.compile(r"\s*show\s+(?:databases|schemas)\b.*", re.IGNORECASE | re.DOTALL)
CATALOGS: Mapping[str, str] = {
    "tables": "information_schema.tables",
    "columns": "information_schema.columns",
    "pg_tables": "information_schema.pg_tables",
}
"""Catalog -> the view that emulates it."""

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


_SHOWN: Mapping[str, str] = {"duckdb": "name"}
"""The column name in which a database lists its tables, if other than MySQL's."""

_DUCK_TYPE = "CASE upper(data_type) WHEN 'TEXT' THEN 'VARCHAR' WHEN 'REAL' THEN 'DOUBLE' ELSE upper(data_type) END"
_DESCRIBED: Mapping[str, str] = {
    "Field": "column_name", "Type": "data_type", "Null": "is_nullable", "Key": "column_key",
    "Default": "column_default",
}  # fmt: skip
_DESCRIBED_AS: Mapping[str, Mapping[str, str]] = {
    "duckdb": {
        "column_name": "column_name", "column_type": _DUCK_TYPE,
        "null": "CASE column_key WHEN 'PRI' THEN 'NO' ELSE is_nullable END", "key": "NULLIF(column_key, '')",
        "default": "column_default", "extra": "NULL",
    },
}  # fmt: skip
"""Column of a table description -> its source, by dialect if other than MySQL's."""


def catalog_query(statement: str, dialect: str, tables: Mapping[str, str]) -> str | None:
    """Return a query for a statement such as SHOW TABLES or DESCRIBE; None for other statements.

    Raises `Refused` if the table does not exist.
    """
    if _SHOWS_TABLES.fullmatch(statement):
        name = _SHOWN.get(dialect, "Tables_in_main")
        return f'SELECT table_name AS "{name}" FROM "information_schema.tables"'  # noqa: S608 (a constant)
    if _SHOWS_DATABASES.fullmatch(statement):
        return "SELECT 'main' AS \"Database\""
    describes, making = _DESCRIBES.fullmatch(statement), _SHOWS_MAKING.fullmatch(statement)
    found = describes or making
    if found is None:
        return None
    table = found["table"]
    if table not in tables:
        raise missing_table(table, tables)
    if making is not None:
        return f'SELECT name AS "Table", sql AS "Create Table" FROM sqlite_master WHERE name = \'{table}\''  # noqa: S608 (a word)
    described = _DESCRIBED_AS.get(dialect, _DESCRIBED)
    selected = ", ".join(f'{column} AS "{name}"' for name, column in described.items())
    return f"SELECT {selected} FROM \"information_schema.columns\" WHERE table_name = '{table}'"  # noqa: S608 (a word)
