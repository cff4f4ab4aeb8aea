"""Which tools work on the rows of a table that they name, without SQL; and which statement says the same?

`insert_rows(table, data)`, `read_records(table, conditions, limit)`, `drop_table(table)`: what they need is in
arguments of their own, and conditions are values that columns must have, or what SQL has behind WHERE.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mcp_sim.backends.matching.tool_profiles import Purpose, kinds_of
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.sql.tables import quoted, to_sql
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.words import vocabulary

_TABLES = ("table", "table_name", "tablename")
_ROLES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "table": (_TABLES, ("string",)),
    "old": (("old_name", "old_table", "old_table_name", "current_name", "from_table"), ("string",)),
    "new": (("new_name", "new_table", "new_table_name", "to_table"), ("string",)),
    "data": (("data", "values", "record", "records", "row", "rows", "fields", "row_data", "updates", "set",
              "new_values", "item"), ("object", "array", "objects")),
    "conditions": (("conditions", "where", "filters", "filter", "condition", "criteria", "where_clause", "match",
                    "query"), ()),
    "columns": (("columns", "select", "column_names", "fields", "schema", "column_definitions"), ()),
    "order": (("order_by", "orderby", "sort", "sort_by", "order"), ("string",)),
    "limit": (("limit", "max_rows", "page_size"), ()),
    "offset": (("offset", "skip"), ()),
    "parameters": (("params", "parameters", "where_params", "args", "bindings", "where_args"), ("array", "strings")),
}  # fmt: skip
"""What is needed -> the names of arguments that give it, and their types."""

_ROWS = ("record", "row", "data", "entry", "item", "value", "content")
_DOES: Mapping[str, tuple[str, ...]] = {
    "insert": ("insert", "create", "add"), "modify": ("update", "modify", "edit"), "remove": ("delete", "remove"),
    "select": ("read", "select", "get", "list", "find", "query", "fetch", "retrieve"),
}  # fmt: skip
_BARE = vocabulary("insert update delete select query run execute")
_TO_TABLES: Mapping[str, tuple[str, ...]] = {
    "make": ("create", "make"), "drop": ("drop", "delete", "remove"), "rename": ("rename",)
}  # fmt: skip
_MUST: Mapping[str, tuple[str, ...]] = {
    "insert": ("data",), "modify": ("data", "conditions"), "remove": ("conditions",), "select": (),
    "make": ("columns",), "drop": (), "rename": ("new",),
}  # fmt: skip
_COMPARED: Mapping[str, str] = {
    "eq": "=", "ne": "<>", "gt": ">", "gte": ">=", "lt": "<", "lte": "<=", "like": "LIKE", "=": "=", "!=": "<>",
    "<>": "<>", ">": ">", ">=": ">=", "<": "<", "<=": "<=",
}  # fmt: skip


def row_operation(purpose: Purpose) -> str | None:
    """What a purpose does to the rows of a table, or to the table, if its arguments say all that there is to it."""
    roles = row_roles(purpose)
    found = next(_operations(purpose), None) if "table" in roles or {"old", "new"} <= roles.keys() else None
    return found if found is not None and all(role in roles for role in _MUST[found]) else None


def _operations(purpose: Purpose) -> Iterator[str]:
    is_bare = _BARE.issuperset(purpose.words) and purpose.has("insert", "update", "delete", "select")
    is_of_rows, is_of_tables = purpose.has(*_ROWS), purpose.has("table")
    does = _DOES if is_of_rows or (is_bare and not is_of_tables) else _TO_TABLES
    return (name for name, words in does.items() if purpose.has(*words) and (does is _DOES or is_of_tables))


def row_roles(purpose: Purpose) -> dict[str, str]:
    """What is needed -> the argument that gives it; each gives one thing."""
    found: dict[str, str] = {}
    for role, (names, types) in _ROLES.items():
        free = [name for name in names if purpose.argument((name,)) not in found.values()]
        argument = purpose.argument(free)
        if argument is not None and (not types or {*types, ""} & kinds_of(purpose.arguments[argument])):
            found[role] = argument
    return found


def row_statement(operation: str, roles: Mapping[str, str], given: Mapping[str, Json]) -> tuple[str, list[Json]]:
    """The statement that does what is asked for, and its parameters. Raises Refused where something is missing."""
    asked = {role: given.get(name) for role, name in roles.items()}
    table = str(asked.get("table") or asked.get("old") or "")
    match operation:
        case "insert":
            return _insertion(table, [as_object(one) for one in as_list(asked["data"]) or [asked["data"]]])
        case "modify":
            data = _filled(as_object(asked["data"]))
            behind, values = _where(asked)
            told = ", ".join(f"{quoted(name)} = ?" for name in data)
            return f"UPDATE {quoted(table)} SET {told}{behind}", [*map(to_sql, data.values()), *values]  # noqa: S608
        case "remove":
            behind, values = _where(asked)
            return f"DELETE FROM {quoted(table)}{behind}", values  # noqa: S608 (quoted)
        case "make":
            return f"CREATE TABLE {quoted(table)} ({', '.join(_definitions(asked['columns']))})", []
        case "drop":
            return f"DROP TABLE {quoted(table)}", []
        case "rename":
            return f"ALTER TABLE {quoted(table)} RENAME TO {quoted(str(asked['new']))}", []
        case _:
            behind, values = _where(asked)
            return f"SELECT {_columns(asked.get('columns'))} FROM {quoted(table)}{behind}{_end(asked)}", values  # noqa: S608


def _filled(data: Record) -> Record:
    if not data:
        raise Refused("invalid", "No values were given")
    return data


def _insertion(table: str, rows: Sequence[Record]) -> tuple[str, list[Json]]:
    columns = list(_filled({name: None for row in rows for name in row}))
    places = ", ".join([f"({', '.join('?' * len(columns))})"] * len(rows))
    names = ", ".join(map(quoted, columns))
    values = [to_sql(row.get(name)) for row in rows for name in columns]
    return f"INSERT INTO {quoted(table)} ({names}) VALUES {places}", values  # noqa: S608 (quoted)


def _columns(told: Json) -> str:
    named = [str(one) for one in as_list(told)] if isinstance(told, list) else str(told or "").split(",")
    plain = [name.strip() for name in named if name.strip() not in {"", "*"}]
    return ", ".join(quoted(name) if name.isidentifier() else name for name in plain) or "*"


def _end(asked: Mapping[str, Json]) -> str:
    order = f" ORDER BY {asked['order']}" if asked.get("order") else ""
    limit, offset = asked.get("limit"), asked.get("offset")
    behind = f" LIMIT {int(limit)}" if isinstance(limit, int | float) else " LIMIT -1" if offset else ""
    return order + behind + (f" OFFSET {int(offset)}" if isinstance(offset, int | float) and offset else "")


def _definitions(told: Json) -> Iterator[str]:
    """The columns of a table to be made: objects with a name and a type, types by name, or as SQL has them."""
    if isinstance(told, str):
        yield told
    for name, kind in as_object(told).items():
        yield f"{quoted(name)} {kind if isinstance(kind, str) else as_object(kind).get('type', '')}"
    for one in as_list(told) if isinstance(told, list) else ():
        body = {str(name).lower().replace("_", ""): value for name, value in as_object(one).items()}
        if not body:
            yield str(one)
            continue
        is_key = body.get("primarykey") is True or body.get("pk") is True
        must = body.get("notnull") is True or body.get("nullable") is False
        yield " ".join([
            quoted(str(body.get("name", ""))), str(body.get("type", "")), *(["PRIMARY KEY"] if is_key else []),
            *(["NOT NULL"] if must else []), *(["UNIQUE"] if body.get("unique") is True else []),
        ])  # fmt: skip


# conditions -----------------------------------------------------------------------------------------------------------


def _where(asked: Mapping[str, Json]) -> tuple[str, list[Json]]:
    told = asked.get("conditions")
    if isinstance(told, str):
        return (f" WHERE {told}" if told.strip() else ""), [to_sql(one) for one in as_list(asked.get("parameters"))]
    found = [_condition(name, value) for name, value in as_object(told).items()]
    if not found:
        return "", []
    return " WHERE " + " AND ".join(text for text, _ in found), [one for _, values in found for one in values]


def _condition(name: str, value: Json) -> tuple[str, list[Json]]:
    if value is None:
        return f"{quoted(name)} IS NULL", []
    if isinstance(value, list):
        return f"{quoted(name)} IN ({', '.join('?' * len(as_list(value)))})", [to_sql(one) for one in as_list(value)]
    if isinstance(value, dict):
        signs = {sign: _COMPARED.get(sign.lower().lstrip("$")) for sign in as_object(value)}
        if not signs or None in signs.values():
            raise Refused("invalid", f"Unknown comparison of {name}: {', '.join(signs)}; use {', '.join(_COMPARED)}")
        told = " AND ".join(f"{quoted(name)} {sign} ?" for sign in signs.values())
        return told, [to_sql(one) for one in as_object(value).values()]
    return f"{quoted(name)} = ?", [to_sql(value)]
