"""Operations on SQL tables, and the tools that mean them: tools that take SQL, describe tables, or work on rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from mcp_sim.plans.matching.matched_tools import MatchedTool, both, either, lacks, named, possible_roles, takes
from mcp_sim.plans.matching.tool_profiles import MAX_DESCRIPTION, ToolProfile
from mcp_sim.plans.operation import Operation, Role, Test, pick, read_names
from mcp_sim.types import Tool
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.json_values import encode
from mcp_sim.types.lexicon.english import singular, words
from mcp_sim.types.plans import Verb

_WORDS = read_names(__name__)
_ROLES, NAMES = {**_WORDS.roles, "dialect": Role("dialect")}, _WORDS.facts
"""The roles. No argument of a tool is the dialect: it is that of the server, or a caller from Python gives it."""
_STATEMENT = _ROLES["statement"]
SCHEMA = "sql_table"
"""The entity of tables that SQL created or a state gave."""
RUNNING = frozenset({"query", "write", "execute", "create"})
"""Operations that run statements."""
CREATING = frozenset({"create", "create_table"})
_OF_ROWS = frozenset({"insert", "select", "update", "delete"})
_MIN_OF_ROWS = 3
"""Required number of operations on rows if no tool takes a statement. Fewer occur in servers that are not databases."""
ABOUT = _WORDS.terms("about")
"""Words of arguments for where a statement runs, or how its result is shown."""
NAMING = _WORDS.terms("naming")
"""Words of arguments for the table of a statement, which names it, too."""

_DATABASES = re.compile(r"(?i:\b(sql|mysql|sqlite\w*|postgres\w*|mariadb|duckdb|snowflake)\b)")
_SQL = re.compile(rf"{_DATABASES.pattern}|\b(SELECT|INSERT|UPDATE|DELETE)\b")
_STATEMENTS = re.compile(r"\b(select\b.+\bfrom|insert into|update\b.+\bset|delete from|create table)\b", re.IGNORECASE)
_OTHER_LANGUAGES = re.compile(r"graphql|mongo|cypher|sparql|jql|soql|promql|jmespath|nosql|kusto|kql", re.IGNORECASE)
_READS_ONLY = re.compile(r"read[- ]only|only select|select (queries|statements?|query) only")
_CHANGES = re.compile(r"insert|update|delete|create|any sql|ddl")
_CLAUSES = re.compile(r"\b(where|clause|conditions?|filters?)\b", re.IGNORECASE)
_IS_PART = re.compile(rf"\b({'|'.join(sorted(NAMING))})\b|{_CLAUSES.pattern}", re.IGNORECASE)
"""Names of arguments for a part of a statement."""
_has_statement = takes(_STATEMENT)
_creates_table = named("create table")
_TAKES = _WORDS.ordered("take")
"""Words of names of tools whose first text may be a statement."""
_RUNS = _WORDS.terms("run")
"""Words of names of tools that run statements, and do nothing else."""
_INFORMS = _WORDS.terms("inform")
_ROWS = _WORDS.ordered("row")
_BARE = _WORDS.terms("bare")


def _statement_argument(profile: ToolProfile) -> str | None:
    """Return the argument that may be a statement, by its name, or None.

    Another text, which names no table and no clause, is one if its description or an example is SQL, or if the name of
    the tool says that it takes statements.
    """
    name = possible_roles([_STATEMENT], profile).get("statement")
    if name is None or _has_statement(profile):
        return name
    is_named = profile.has(*_TAKES) or _creates_table(profile)
    is_meant = is_named or _SQL.search(_about(profile, name)) or _has_example(profile, name)
    return name if is_meant and not _IS_PART.search(name.replace("_", " ")) else None


def _about(profile: ToolProfile, name: str) -> str:
    return f"{name.replace('_', ' ')} {profile.arguments[name].get('description', '')}"


def _has_example(profile: ToolProfile, name: str) -> bool:
    """Return whether an example or the default of an argument is a statement."""
    schema = profile.arguments[name]
    examples = encode([schema.get("examples"), schema.get("example"), schema.get("default")]).decode()
    return bool(_STATEMENTS.search(examples[:MAX_DESCRIPTION]))


def takes_whole_statement(profile: ToolProfile) -> bool:
    """Return whether an argument is a statement by its name or description, and not a clause of one."""
    name = _statement_argument(profile)
    about = "" if name is None else _about(profile, name)
    return bool(_SQL.search(about) or "statement" in about.lower()) and not _CLAUSES.search(about)


def takes_sql(profile: ToolProfile) -> bool:
    """Return whether a tool takes a statement, by its own words, its description, or examples of the argument."""
    name = _statement_argument(profile)
    if name is None or (profile.selector is not None and not _own_words(profile) <= _RUNS):
        return False
    if _has_example(profile, name):
        return True
    about = _about(profile, name)
    if profile.has("search") and not _SQL.search(about):
        return False
    text = " ".join((about, profile.tool.description, *profile.words))
    return bool(_SQL.search(text)) and not _OTHER_LANGUAGES.search(text)


def accept(tools: Sequence[MatchedTool], listed: Sequence[ToolProfile]) -> Sequence[MatchedTool]:
    """Return the matched tools of a server if it runs statements, or mentions SQL and has tools for rows.

    If nothing else shows that it is about SQL, tools that run statements must show it themselves.
    """
    names = frozenset(tool.name for tool in tools)
    if names.isdisjoint(RUNNING | _OF_ROWS):
        return ()
    mentions_sql = _are_mentioned(_DATABASES, listed)
    is_sql = (mentions_sql or names >= {"tables", "describe"}) and not _are_mentioned(_OTHER_LANGUAGES, listed)
    kept = tools if is_sql else [*filter(_is_sure, tools)]
    runs = not RUNNING.isdisjoint(tool.name for tool in kept)
    return kept if runs or (mentions_sql and len(names & _OF_ROWS) >= _MIN_OF_ROWS) else ()


def _is_sure(tool: MatchedTool) -> bool:
    return tool.name not in RUNNING or takes_sql(tool.profile)


def _are_mentioned(pattern: re.Pattern[str], listed: Sequence[ToolProfile]) -> bool:
    """Return whether a tool of a server mentions one of these names, in its name, description or arguments."""
    for profile in listed:
        about = (f"{name.replace('_', ' ')} {schema.get('description', '')} {as_list(schema.get('examples'))}"
                 for name, schema in profile.arguments.items())  # fmt: skip
        if any(map(pattern.search, (" ".join(profile.words), profile.tool.description, *about))):
            return True
    return False


def dialect_of(tools: Iterable[Tool]) -> str:
    """Return the database that most tools mention, in sqlglot's terms; '' for SQLite or none."""
    texts = [" ".join((tool.server, tool.name, tool.description)).lower() for tool in tools]
    counts = {name: sum(1 for text in texts if pattern.search(text)) for name, pattern in _DIALECTS.items()}
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


def _own_words(profile: ToolProfile) -> frozenset[str]:
    """Return the words of the choice that a profile is of, else those of the tool's name, in the singular."""
    return frozenset(map(singular, words(profile.choice))) or profile.nouns


def _may_take_sql(profile: ToolProfile) -> bool:
    name = _statement_argument(profile)
    if name is None:
        return False
    is_likely = not {"command", "q"}.intersection(words(name)) and not _OTHER_LANGUAGES.search(profile.description)
    return (is_likely and _own_words(profile) <= _RUNS) or takes_sql(profile)


def _description(profile: ToolProfile) -> str:
    """Return the description, unless it is that of several choices."""
    return "" if profile.selector is not None else profile.description


def _reads(profile: ToolProfile) -> bool:
    is_hinted = profile.tool.annotations.get("readOnlyHint") is True
    is_named = profile.has("read", "select", "readonly", "fetch")
    return is_named or is_hinted or bool(_READS_ONLY.search(_description(profile)))


def _only_selects(profile: ToolProfile) -> bool:
    about = _description(profile)
    return profile.has("query") and "select" in about and not _CHANGES.search(about)


def _informs(profile: ToolProfile) -> bool:
    return bool(profile.nouns) and profile.nouns <= _INFORMS and profile.has("database", "db")


def _is_of_rows(profile: ToolProfile) -> bool:
    own = _own_words(profile)
    return profile.has(*_ROWS) or (own <= _BARE and not own.isdisjoint({"insert", "update", "delete", "select"}))


def _is_of_tables(profile: ToolProfile) -> bool:
    return not _is_of_rows(profile) and profile.has("table")


def _is_choice(*choices: str) -> Test:
    return lambda profile: profile.selector is not None and _own_words(profile) <= {*choices, "table"}


def _operation(name: str, verb: Verb, line: str, *means: Test) -> Operation:
    return Operation(name, f"statements:{name}", verb, pick(line, _ROLES), means=both(*means))


_TAKING = "statement parameters? limit? dialect?"
_SELECTING = "table conditions? columns? order? limit? offset? parameters?"
OPERATIONS = (
    _operation("create", "create", _TAKING, _may_take_sql, _creates_table),
    _operation("query", "search", _TAKING, _may_take_sql, _reads),
    _operation("write", "update", _TAKING, _may_take_sql,
               named("write|insert|update|delete|modify|mutation|mutate")),
    _operation("query", "search", _TAKING, _may_take_sql, _only_selects),
    _operation("execute", "update", _TAKING, _may_take_sql),
    _operation("insert", "create", "table data columns?", _is_of_rows, named("insert|create|add")),
    _operation("update", "update", "table data conditions parameters?", _is_of_rows, named("update|modify|edit")),
    _operation("delete", "delete", "table conditions parameters?", _is_of_rows, named("delete|remove")),
    _operation("select", "search", _SELECTING, _is_of_rows,
               named("read|select|get|list|find|query|fetch|retrieve")),
    _operation("create_table", "create", "table columns", _is_of_tables, named("create|make")),
    _operation("drop_table", "delete", "table", _is_of_tables, named("drop|delete|remove")),
    _operation("rename_table", "update", "renamed new_name", _is_of_tables, named("rename")),
    _operation("describe", "get", "any_table",
               either(named("describe|schema|column table|schema|column"), _is_choice("describe"))),
    _operation("databases", "list", "", _informs, lambda profile: "databases" in profile.words),
    _operation("info", "get", "", _informs),
    _operation("tables", "list", "",
               either(both(named("table list|show|get"), lacks(_ROLES["any_table"])), _is_choice("list", "show"))),
    _operation("schema", "list", "", named("schema get|show|list|read|database"),
               lambda profile: not profile.needed),
)  # fmt: skip
