"""Match tools that take SQL, describe tables, or work on their rows.

Evidence: an argument for a statement, and mentions of SQL or its keywords in name, description or argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcp_sim.backends.matching.tool_profiles import ToolProfile
from mcp_sim.backends.sql.row_tools import row_operation, row_roles
from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.shapes import items, main_type
from mcp_sim.types.lexicon.english import snake, vocabulary, words
from mcp_sim.types.plans import Plan, Verb

SCHEMA = "sql_table"
"""The entity of tables that SQL created or a state gave."""

_STATEMENTS = ("sql", "query", "statement", "sql_query", "sql_statement", "query_string", "command", "q")
_BATCHES = ("queries", "statements", "sqls", "commands")
_PARAMETERS = ("params", "parameters", "values", "args", "bindings", "bind", "query_params")
_TABLES = ("table", "table_name", "tablename", "name", "tables", "table_names")
_LIMITS = ("limit", "max_rows", "row_limit")
_MENTIONS_SQL = re.compile(
    r"\b(?i:sql|mysql|sqlite\w*|postgres\w*|mariadb|duckdb|snowflake)\b|\b(SELECT|INSERT|UPDATE|DELETE)\b"
)
_OTHER_LANGUAGES = re.compile(r"graphql|mongo|cypher|sparql|jql|soql|promql|jmespath|nosql")
_ABOUT = vocabulary(
    "database db schema catalog catalogue connection dataset project warehouse instance cluster workspace branch "
    "timeout format description explanation reason limit offset role region account dry_run confirm verbose"
)
"""Words of arguments for where a statement runs, or how its result is shown."""

_VERBS: dict[str, Verb] = {
    "query": "search", "write": "update", "execute": "update", "create": "create", "tables": "list", "describe": "get",
    "schema": "list", "databases": "list", "info": "get", "insert": "create", "select": "search", "modify": "update",
    "remove": "delete", "make": "create", "drop": "delete", "rename": "update",
}  # fmt: skip


def plans_of(listed: Sequence[ToolProfile]) -> list[Plan]:
    """Return the plans of one server's tools that work on tables by SQL; none if no tool takes a statement."""
    found = [(profile, choose_operation(profile)) for profile in listed]
    operations = {operation for _, operation in found}
    takes_statements = not _STATEMENT_OPERATIONS.isdisjoint(operations)
    if not takes_statements and (
        len(operations & _ROW_OPERATIONS) < _MIN_ROW_OPERATIONS
        or not any(_MENTIONS_SQL.search(one.description) for one in listed)
    ):
        return []
    dialect = _dialect({one.tool.id: one.tool for one in listed}.values())
    plans = {one.tool.id: _plan(one, operation, dialect) for one, operation in found if operation is not None}
    return list(plans.values())


_STATEMENT_OPERATIONS = frozenset({"query", "write", "execute", "create"})
_ROW_OPERATIONS = frozenset({"insert", "select", "modify", "remove"})
_MIN_ROW_OPERATIONS = 3
"""Required number of row operations if no tool takes a statement."""


def _dialect(tools: Iterable[Tool]) -> str:
    """Return the database that most tools mention, in sqlglot's terms; '' for SQLite or none."""
    texts = [" ".join((tool.server, tool.name, tool.description)).lower() for tool in tools]
    counts = {name: sum(1 for one in texts if pattern.search(one)) for name, pattern in _DIALECTS.items()}
    name = max(counts, key=lambda name: counts[name])
    return name if counts[name] and name != "sqlite" else ""


_DIALECTS: Mapping[str, re.Pattern[str]] = {
    name: re.compile(rf"(?:\b|_)(?:{words})(?:\b|_)")
    for name, words in {
        "sqlite": r"sqlite\w*|libsql|turso|d1", "postgres": r"postgres\w*|psql|neon|supabase|timescale\w*|cockroach\w*",
        "mysql": r"mysql|mariadb|planetscale|tidb", "snowflake": r"snowflake", "bigquery": r"bigquery|bq",
        "duckdb": r"duckdb|motherduck", "tsql": r"mssql|sql server|t-sql|tsql|sqlserver|azure sql",
        "redshift": r"redshift", "oracle": r"oracle", "clickhouse": r"clickhouse", "databricks": r"databricks",
        "trino": r"trino", "presto": r"presto", "hive": r"hive", "spark": r"spark",
    }.items()
}  # fmt: skip
"""Dialect -> the names of its database."""


def _plan(profile: ToolProfile, operation: str, dialect: str) -> Plan:
    reason = (  # prose: data
        "an argument takes SQL" if operation in _STATEMENT_OPERATIONS else "tells of tables, or works on their rows"
    )
    arguments = (
        row_roles(profile) if operation in {*_ROW_OPERATIONS, "make", "drop", "rename"} else dict(_roles(profile))
    )
    fixed: Record = {"dialect": dialect} if dialect else {}
    fixed |= {"views": True} if operation == "tables" and profile.mentions("view", "views") else {}
    about = (f"its dialect is that of {dialect}",) if dialect else ()
    return Plan(
        profile.tool.id, _VERBS[operation], SCHEMA, "sql", operation, arguments,
        fixed=fixed, confidence=0.9, reasons=(reason, *about),
    )  # fmt: skip


def choose_operation(profile: ToolProfile) -> str | None:
    """Return the operation of a tool, None if it has none."""
    roles = dict(_roles(profile))
    used = set(roles.values())
    of_rows = row_operation(profile) if "statement" not in roles or not _takes_sql(profile, roles) else None
    used |= set(row_roles(profile).values()) if of_rows is not None else set()
    if profile.selector is not None or any(not _is_about(name) for name in profile.needed - used):
        return None
    if of_rows is not None:
        return of_rows
    if _takes_sql(profile, roles):
        return _kind(profile)
    if profile.nouns and profile.nouns <= _INFORMS and profile.has(*_DATABASES):
        return "databases" if "databases" in profile.words else "info"
    if profile.has("table") and profile.has("list", "show", "get") and "table" not in roles:
        return "tables"
    if profile.has("describe", "schema", "column") and "table" in roles and profile.has("table", "schema", "column"):
        return "describe"
    if profile.has("schema") and profile.has("get", "show", "list", "read", "database") and not profile.needed:
        return "schema"
    return None


_DATABASES = vocabulary("database db")
_INFORMS = vocabulary(
    "get show list describe read database db sqlite info information stat statistic overview summary all"
)


def _is_about(name: str) -> bool:
    return bool(_ABOUT.intersection((snake(name), *words(name))))


def _takes_sql(profile: ToolProfile, roles: dict[str, str]) -> bool:
    argument = roles.get("statement", roles.get("batch"))
    if argument is None:
        return False
    about = str(profile.arguments[argument].get("description", ""))
    if profile.has("search") and not _MENTIONS_SQL.search(f"{argument.replace('_', ' ')} {about}"):
        return False
    text = " ".join((argument.replace("_", " "), about, profile.tool.description, *profile.words))
    return bool(_MENTIONS_SQL.search(text)) and not _OTHER_LANGUAGES.search(text.lower())


def _kind(profile: ToolProfile) -> str:
    """Return whether a tool reads, writes, creates tables, or runs any statement."""
    if profile.has("create") and profile.has("table"):
        return "create"
    reads = profile.has("read", "select", "readonly", "fetch") or bool(
        re.search(r"read[- ]only|only select|select (queries|statements?|query) only", profile.description)
    )
    if reads or (profile.tool.annotations.get("readOnlyHint") is True):
        return "query"
    if profile.has("write", "insert", "update", "delete", "modify"):
        return "write"
    only_selects = "select" in profile.description and not re.search(
        r"insert|update|delete|create|any sql|ddl", profile.description
    )
    return "query" if profile.has("query") and only_selects else "execute"


def _roles(profile: ToolProfile) -> Iterator[tuple[str, str]]:
    """Yield role, argument."""
    batch = profile.argument_like(_BATCHES, ("array",))
    statement = profile.argument_like(_STATEMENTS, ("string",))
    if batch is not None and main_type(items(profile.arguments[batch])) in {"string", ""} and statement is None:
        yield "batch", batch
    if statement is not None:
        yield "statement", statement
    for role, names in (("parameters", _PARAMETERS), ("table", _TABLES), ("limit", _LIMITS)):
        argument = profile.argument_like(names)
        if argument is not None and argument not in {batch, statement} and not (role == "table" and statement):
            yield role, argument
