"""A simulated PostgreSQL with the tools of a public server: schemas, objects, statements, plans, health.

As its server does, it reports failures in ordinary results that begin with `Error:`, and shows rows as Python does.
"""

from catalog import Catalog, Failed, constraints_of
from plans import plan_of
from shop import shop
from statements import run

from mcp_sim.programs import Result, initial, tool

tables = {
    "pg_relation": {
        "key": "name", "natural": True,
        "fields": {"name": "", "kind": "BASE TABLE", "oid": 0, "columns": {"type": "array", "default": []},
                   "constraints": {"type": "array", "default": []}, "indexes": {"type": "array", "default": []}},
    },
    "pg_sequence": {
        "key": "name", "natural": True,
        "fields": {"name": "", "table": "", "column": "", "type": "integer", "last": 0},
    },
    "customers": {
        "natural": True,
        "fields": {"id": 0, "name": "", "email": "", "city": "", "created_at": ""},
    },
    "products": {
        "key": "sku", "natural": True,
        "fields": {"sku": "", "title": "", "price": 0.5, "stock": 0, "active": 1},
    },
    "orders": {
        "natural": True, "links": {"customer_id": "customers"},
        "fields": {"id": 0, "customer_id": 0, "status": "", "placed_at": "", "note": ""},
    },
    "order_items": {
        "natural": True, "links": {"order_id": "orders", "sku": "products"},
        "fields": {"id": 0, "order_id": 0, "sku": "", "quantity": 0, "unit_price": 0.5},
    },
}  # fmt: skip

SCHEMAS = [
    ("information_schema", "postgres", "System Information Schema"), ("pg_catalog", "postgres", "System Schema"),
    ("pg_toast", "postgres", "System Schema"), ("public", "pg_database_owner", "User Schema"),
]  # fmt: skip
NO_HYPOPG = (
    "The **hypopg** extension is not available on this PostgreSQL server.\n\nTo install HypoPG, add the package "
    "`postgresql-15-hypopg` to the server, then connect to the database and run: `CREATE EXTENSION hypopg;`"
)
NO_STATISTICS = (
    "The pg_stat_statements extension is required to report slow queries, but it is not currently installed.\n\n"
    "You can install it by running: `CREATE EXTENSION pg_stat_statements;`"
)
HEALTH = {
    "index": "Invalid index check: No invalid indexes found.\nDuplicate index check: No duplicate indexes found.\n"
             "Index bloat: No bloated indexes found.\nUnused index check: No unused indexes found.\n",
    "connection": "Connection health: Connections healthy: 7 total, 0 idle\n",
    "vacuum": "Vacuum health: No tables found with transaction ID wraparound danger.\n",
    "sequence": "Sequence health: All sequences have healthy usage levels.\n",
    "replication": "Replication health: This is a primary database.\nNo active replicas connected.\n\n"
                   "No replication slots found.\n",
    "buffer": "Buffer health for indexes: Index cache hit rate: 99.2% (above 95.0% threshold)\n"
              "Buffer health for tables: Table cache hit rate: 98.7% (above 95.0% threshold)\n",
    "constraint": "Constraint health: No invalid constraints found.\n",
}  # fmt: skip
TOO_DEEP = (
    'stack depth limit exceeded\nHINT:  Increase the configuration parameter "max_stack_depth" (currently 2048kB), '
    "after ensuring the platform's stack depth limit is adequate."
)
NO_SEQUENCES = "Sequence health: No sequences found in the database.\n"
MOST_QUERIES = 10


def shown(value):
    """Return the result with a value as Python shows it: one block of text, which is the structured content too."""
    text = str(value)
    return Result(
        text=text, structured={"result": [{"type": "text", "text": text, "annotations": None, "_meta": None}]}
    )


def reported(prefix, make):
    """Return the result with a text, or with the reason why PostgreSQL refuses it."""
    try:
        return shown(make())
    except Failed as failure:
        return shown(f"Error: {prefix}{failure}")
    except RecursionError:
        return shown(f"Error: {prefix}{TOO_DEEP}")


@tool(reads=True)
def list_schemas(_world):
    return shown([{"schema_name": name, "schema_owner": owner, "schema_type": kind} for name, owner, kind in SCHEMAS])


@tool(verb="list", entity="pg_relation")
def list_objects(world, schema_name, object_type="table"):
    if object_type == "extension":
        return shown([{"name": "plpgsql", "version": "1.0", "relocatable": False}])
    if object_type == "sequence":
        rows = [{"schema": "public", "name": row["name"], "data_type": row["type"]} for row in world.pg_sequence]
    elif object_type in ("table", "view"):
        kind = "BASE TABLE" if object_type == "table" else "VIEW"
        rows = [{"schema": "public", "name": row["name"], "type": kind} for row in world.pg_relation.find(kind=kind)]
    else:
        return shown(f"Error: Unsupported object type: {object_type}")
    return shown(sorted(rows, key=lambda row: row["name"]) if schema_name == "public" else [])


@tool(verb="get", entity="pg_relation", key="object_name")
def get_object_details(world, schema_name, object_name, object_type="table"):
    is_here = schema_name == "public"
    if object_type == "extension":
        known = {"name": "plpgsql", "version": "1.0", "relocatable": False}
        return shown(known if object_name == "plpgsql" else {})
    if object_type == "sequence":
        row = world.pg_sequence.get(object_name) if is_here else None
        return shown({"schema": "public", "name": row["name"], "data_type": row["type"], "start_value": "1",
                      "increment": "1"} if row else {})  # fmt: skip
    if object_type not in ("table", "view"):
        return shown(f"Error: Unsupported object type: {object_type}")
    row = world.pg_relation.get(object_name) if is_here else None
    columns = [
        {"column": column["name"], "data_type": column["type"], "is_nullable": "YES" if column["nullable"] else "NO",
         "default": column["default"]} for column in (row["columns"] if row else ())
    ]  # fmt: skip
    return shown({
        "basic": {"schema": schema_name, "name": object_name, "type": object_type},
        "columns": columns,
        "constraints": constraints_of(row) if row else [],
        "indexes": [dict(index) for index in row["indexes"]] if row else [],
    })  # fmt: skip


@tool(verb="update", entity="orders")
def execute_sql(world, sql="all"):
    return reported("", lambda: "No results" if (rows := run(world, sql)) is None else str(rows))


@tool(verb="update", entity="orders")
def explain_query(world, sql, analyze=False, hypothetical_indexes=()):
    if hypothetical_indexes:
        return shown("Error: Cannot use analyze and hypothetical indexes together" if analyze else NO_HYPOPG)
    prefix = "Error executing explain plan: "
    return reported(prefix, lambda: plan_of(world, Catalog(world), sql, analyze=analyze))


@tool(reads=True)
def analyze_workload_indexes(_world):
    return shown({"error": NO_HYPOPG, "_langfuse_trace": []})


@tool(reads=True)
def analyze_query_indexes(_world, queries):
    if not queries:
        return shown("Error: Please provide a non-empty list of queries to analyze.")
    if len(queries) > MOST_QUERIES:
        return shown(f"Error: Please provide a list of up to {MOST_QUERIES} queries to analyze.")
    return shown({"error": NO_HYPOPG, "_langfuse_trace": []})


@tool(reads=True)
def analyze_db_health(world, health_type="all"):
    wanted = [text.strip() for text in health_type.split(",")]
    if not {*wanted} <= {*HEALTH, "all"}:
        valid = ", ".join(sorted([*HEALTH, "all"]))
        again = "Please try again with a comma-separated list of valid health types."
        return shown(f"Invalid health types provided: '{health_type}'. Valid values are: {valid}. {again}")
    report = "".join(text for name, text in HEALTH.items() if name in wanted or "all" in wanted)
    return shown(report if len(world.pg_sequence) else report.replace(HEALTH["sequence"], NO_SEQUENCES))


@tool(reads=True)
def get_top_queries(_world, sort_by="resources"):
    if sort_by not in ("resources", "mean_time", "total_time"):
        return shown("Error: Invalid sort criteria. Please use 'resources' or 'mean_time' or 'total_time'.")
    return shown(NO_STATISTICS)


@initial
def begin(given, world):
    """Fill the database: with the statements under `sql` of `world.state`, else with a shop."""
    run(world, (given or {}).get("sql") or shop(world))
