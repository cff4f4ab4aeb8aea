"""A simulated DuckDB with the tools of a public server: statements, tables, columns."""

from failures import Failed, explained
from sensors import STATEMENTS
from statements import columns_of, kind_of, shown_value, split, typed_columns

from mcp_sim.libraries.sql import SqlError, first_word
from mcp_sim.programs import Refused, initial, invalid_arguments, tool
from mcp_sim.programs.helpers import indented, pydantic_refusal

tables = {
    "connection": {"singleton": True, "fields": {"database": "greenhouse"}},
    "houses": {"natural": True, "fields": {"id": 0, "name": "", "square_metres": 0.5, "heated": True}},
    "crops": {"key": "code", "natural": True, "fields": {"code": "", "name": "", "days": 0, "price_per_kg": 0.5}},
    "plantings": {
        "natural": True, "links": {"house_id": "houses", "crop": "crops"},
        "fields": {"id": 0, "house_id": 0, "crop": "", "planted_on": "", "plants": 0},
    },
    "yields": {
        "natural": True, "links": {"planting_id": "plantings"},
        "fields": {"id": 0, "planting_id": 0, "picked_on": "", "kilograms": 0.5},
    },
}  # fmt: skip

MOST_ROWS = 1024


@initial
def begin(given, world):
    """Create the given tables, else those of a greenhouse."""
    name = given.get("database") if isinstance(given, dict) else None
    world.connection["database"] = name if isinstance(name, str) else "greenhouse"
    if not world.sql.load(given):
        for statement in STATEMENTS:
            world.sql.run(statement, dialect="duckdb")


def shown(body):
    return indented(body)


@tool(verb="update", entity="plantings")
def execute_query(world, sql):
    try:
        columns, types, rows = _executed(world, sql)
    except Failed as failure:
        body = {"success": False, "error": str(failure), "errorType": failure.kind}
        raise Refused(f"Error calling tool 'execute_query': {shown(body)}") from None
    body = {"success": True, "columns": columns, "columnTypes": types, "rows": rows[:MOST_ROWS]}
    body["rowCount"] = len(body["rows"])
    if len(rows) > MOST_ROWS:
        body["truncated"] = True
        body["warning"] = f"Results limited to {MOST_ROWS:,} rows. Query returned more data."
    return shown(body)


def _executed(world, sql):
    """Return the columns, types and rows of the last statement of a text. Raises `Failed`."""
    statements = split(sql)
    schema = {name: typed_columns(world, name) for name in (*world.sql.tables, *world.sql.views)}
    try:
        for statement in statements[:-1]:
            world.sql.run(statement, dialect="duckdb")
        last = statements[-1] if statements else ""
        result = world.sql.run(last, dialect="duckdb")
    except SqlError as error:
        raise explained(world, schema, sql, error) from None
    kind = kind_of(last)
    if kind == "changed":
        return ["Count"], ["BIGINT"], [[result.affected]]
    if kind == "created":
        return ["Count"], ["BIGINT"], []
    if kind == "defined":
        return ["Success"], ["BOOLEAN"], []
    types = columns_of(last, schema, result)
    rows = [[shown_value(row[name], types[name]) for name in result.columns] for row in result.rows]
    if first_word(last) == "SHOW":
        rows.sort()
    return [*result.columns], [types[name] for name in result.columns], rows


@tool(reads=True)
def list_databases(world):
    databases = [{"name": world.connection["database"], "type": "duckdb"}]
    return shown({"success": True, "databases": databases, "databaseCount": 1})


@tool(reads=True, verb="list", entity="sql_table")
def list_tables(world, database=None, schema=None):
    head = {"success": True, "database": database or world.connection["database"], "schema": schema or "all"}
    if head["database"] != world.connection["database"]:
        return missing(head, f"Database not found: {database}")
    kinds = {"table": [*world.sql.tables], "view": [*world.sql.views]}
    rows = [
        {"schema": "main", "name": name, "type": kind, "comment": None}
        for kind, names in kinds.items()
        for name in (sorted(names) if schema in (None, "main") else ())
    ]
    counts = {f"{kind}Count": sum(row["type"] == kind for row in rows) for kind in kinds}
    return shown({**head, "tables": rows, **counts})


@tool(reads=True, verb="get", entity="sql_table", key="table")
def list_columns(world, table, database=None, schema=None):
    head = {"success": True, "database": database or world.connection["database"], "schema": schema or "main"}
    head |= {"table": table}
    if head["database"] != world.connection["database"]:
        return missing(head, f"Database not found: {database}")
    columns = world.sql.columns(table) if head["schema"] == "main" else []
    if not columns:
        return missing(head, f"Table or view not found: {head['database']}.{head['schema']}.{table}")
    types = typed_columns(world, table)
    rows = [
        {
            "name": row["name"],
            "type": types[row["name"]],
            "nullable": not (row["notnull"] or row["pk"]),
            "comment": None,
        }
        for row in columns
    ]
    kind = "table" if table in world.sql.tables else "view"
    return shown({**head, "objectType": kind, "columns": rows, "columnCount": len(rows)})


def missing(head, reason):
    return shown({**head, "success": False, "error": reason, "errorType": "NotFoundError"})


@invalid_arguments
def invalid(world, tool, arguments, problems):
    return pydantic_refusal(world, tool, arguments, problems, fastmcp=True)
