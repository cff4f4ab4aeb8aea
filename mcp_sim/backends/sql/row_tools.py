"""Tools that work on the rows of a table without SQL, and the statements for them.

`insert_rows(table, data)`, `read_records(table, conditions, limit)`, `drop_table(table)`: conditions are required
values of columns, or the text of a WHERE clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mcp_sim.backends.matching.tool_profiles import ToolProfile, argument_types
from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.sql.tables import quoted, to_sql
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.lexicon.english import vocabulary

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
"""Role -> the names of arguments that have it, and their types."""

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


def row_operation(profile: ToolProfile) -> str | None:
    """Return the operation of a tool on the rows of a table or on the table, if its arguments suffice."""
    roles = row_roles(profile)
    found = next(_operations(profile), None) if "table" in roles or {"old", "new"} <= roles.keys() else None
    return found if found is not None and all(role in roles for role in _MUST[found]) else None


def _operations(profile: ToolProfile) -> Iterator[str]:
    is_bare = _BARE.issuperset(profile.words) and profile.has("insert", "update", "delete", "select")
    is_of_rows, is_of_tables = profile.has(*_ROWS), profile.has("table")
    does = _DOES if is_of_rows or (is_bare and not is_of_tables) else _TO_TABLES
    return (name for name, words in does.items() if profile.has(*words) and (does is _DOES or is_of_tables))


def row_roles(profile: ToolProfile) -> dict[str, str]:
    """Return role -> argument. Each argument has one role."""
    found: dict[str, str] = {}
    for role, (names, types) in _ROLES.items():
        free = [name for name in names if profile.argument((name,)) not in found.values()]
        argument = profile.argument(free)
        if argument is not None and (not types or {*types, ""} & argument_types(profile.arguments[argument])):
            found[role] = argument
    return found


def row_statement(operation: str, roles: Mapping[str, str], given: Mapping[str, Json]) -> tuple[str, list[Json]]:
    """Return the statement for a call, and its parameters. Raises `Refused` if something is missing."""
    args = {role: given.get(name) for role, name in roles.items()}
    table = str(args.get("table") or args.get("old") or "")
    match operation:
        case "insert":
            return _insertion(table, [as_object(one) for one in as_list(args["data"]) or [args["data"]]])
        case "modify":
            data = _filled(as_object(args["data"]))
            clauses, values = _where(args)
            assignments = ", ".join(f"{quoted(name)} = ?" for name in data)
            parameters = [*map(to_sql, data.values()), *values]
            return f"UPDATE {quoted(table)} SET {assignments}{clauses}", parameters  # noqa: S608 (quoted)
        case "remove":
            clauses, values = _where(args)
            return f"DELETE FROM {quoted(table)}{clauses}", values  # noqa: S608 (quoted)
        case "make":
            return f"CREATE TABLE {quoted(table)} ({', '.join(_definitions(args['columns']))})", []
        case "drop":
            return f"DROP TABLE {quoted(table)}", []
        case "rename":
            return f"ALTER TABLE {quoted(table)} RENAME TO {quoted(str(args['new']))}", []
        case _:
            clauses, values = _where(args)
            columns = _columns(args.get("columns"))
            return f"SELECT {columns} FROM {quoted(table)}{clauses}{_end(args)}", values  # noqa: S608 (quoted)


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


def _columns(given: Json) -> str:
    named = [str(one) for one in as_list(given)] if isinstance(given, list) else str(given or "").split(",")
    plain = [name.strip() for name in named if name.strip() not in {"", "*"}]
    return ", ".join(quoted(name) if name.isidentifier() else name for name in plain) or "*"


def _end(values: Mapping[str, Json]) -> str:
    order = f" ORDER BY {values['order']}" if values.get("order") else ""
    limit, offset = values.get("limit"), values.get("offset")
    clauses = f" LIMIT {int(limit)}" if isinstance(limit, int | float) else " LIMIT -1" if offset else ""
    return order + clauses + (f" OFFSET {int(offset)}" if isinstance(offset, int | float) and offset else "")


def _definitions(given: Json) -> Iterator[str]:
    """Yield the columns of a new table: objects with name and type, types by name, or SQL."""
    if isinstance(given, str):
        yield given
    for name, kind in as_object(given).items():
        yield f"{quoted(name)} {kind if isinstance(kind, str) else as_object(kind).get('type', '')}"
    for one in as_list(given) if isinstance(given, list) else ():
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


def _where(args: Mapping[str, Json]) -> tuple[str, list[Json]]:
    given = args.get("conditions")
    if isinstance(given, str):
        return (f" WHERE {given}" if given.strip() else ""), [to_sql(one) for one in as_list(args.get("parameters"))]
    found = [_condition(name, value) for name, value in as_object(given).items()]
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
        text = " AND ".join(f"{quoted(name)} {sign} ?" for sign in signs.values())
        return text, [to_sql(one) for one in as_object(value).values()]
    return f"{quoted(name)} = ?", [to_sql(value)]
