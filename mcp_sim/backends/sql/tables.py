"""Convert records to rows of SQL tables and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import cast

from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json, Record
from mcp_sim.types.domain import Entity
from mcp_sim.types.json_schema.shapes import as_list, as_object, main_type
from mcp_sim.types.json_values import decode_strict, encode

SCHEMA = "sql_table"
"""The entity of tables that SQL created or a state gave."""
ROWID = "rowid"
"""Key of records whose table has no single-column primary key."""


def quoted(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def column_type(kind: str) -> str:
    """Return the type of a column for values of a JSON type."""
    return {"integer": "INTEGER", "number": "REAL", "boolean": "BOOLEAN"}.get(kind, "TEXT")


def entity_statement(name: str, entity: Entity, tables: Mapping[str, str]) -> str:
    """Return the statement that creates an entity's table. `tables` maps entities to table names."""
    columns: list[str] = []
    for field in entity.fields.values():
        if field.derived is None:
            kind, is_key = main_type(field.schema), field.name == entity.key
            column = _definition({"name": field.name, "type": column_type(kind), "pk": is_key, "notnull": is_key})
            target = None if kind == "array" or field.link is None else tables.get(field.link)
            columns.append(column if target is None else f"{column} REFERENCES {quoted(target)}")
    return f"CREATE TABLE {quoted(name)} ({', '.join(columns)})"


def column_definitions(columns: Json) -> list[str]:
    """Return the columns of a new table: of SQL texts, of objects with name and type, or of types by name."""
    if isinstance(columns, str):
        return [columns]
    listed = as_list(columns) or described_columns(columns)
    return [one if isinstance(one, str) else _definition(as_object(one)) for one in listed]


def described_columns(columns: Json) -> list[Record]:
    """Return columns as objects with a name: of a list of names or of such objects, or of types by name."""
    by_name = [{"name": name, **(as_object(kind) or {"type": kind})} for name, kind in as_object(columns).items()]
    return [as_object(one) or {"name": str(one)} for one in as_list(columns)] + by_name


def _definition(column: Record) -> str:
    facts = {name.lower().replace("_", ""): value for name, value in column.items()}
    clauses = {
        "PRIMARY KEY": 1 in (facts.get("primarykey"), facts.get("pk")),
        "NOT NULL": facts.get("notnull") == 1 or facts.get("nullable") is False,
        "UNIQUE": facts.get("unique") is True,
    }
    parts = (quoted(str(facts.get("name", ""))), str(facts.get("type", "")))
    return " ".join([*parts, *(clause for clause, holds in clauses.items() if holds)])


def missing_table(name: str, tables: Iterable[str]) -> Refused:
    """Return the failure of a call for a table that does not exist."""
    message = f"Table {name} not found; tables: {', '.join(tables) or 'none'}"
    return Refused("not_found", message, key=name, entity="table")


def to_sql(value: Json) -> str | float | None:
    """Return a JSON value for SQLite: booleans as 0 and 1, nested values as JSON text."""
    if isinstance(value, dict | list):
        return encode(value).decode()
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int):
        return int(value) if abs(value) < 2**63 else float(value)
    return cast("float | None", value)


def from_sql(value: object, like: str) -> Json:
    """Return a SQLite value as JSON; `like` is the type of the field in the record.

    Raises `Refused` for a binary value.
    """
    if isinstance(value, bytes):
        raise Refused("invalid", "Binary values cannot be stored here; store a text")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if like == "boolean" and value in (0, 1):
        return bool(value)
    if like in {"object", "array"} and isinstance(value, str):
        try:
            return decode_strict(value)
        except ValueError:
            return value
    return value


def result_value(value: object) -> Json:
    """Return a value of a result as JSON."""
    if isinstance(value, bytes):
        return value.hex()
    return None if isinstance(value, float) and not math.isfinite(value) else value
