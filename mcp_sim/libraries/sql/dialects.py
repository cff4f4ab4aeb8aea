"""Translate statements of other SQL dialects to SQLite's."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import sqlglot
from sqlglot import exp
from sqlglot.dialects.sqlite import SQLite
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError

from mcp_sim.libraries.sql.database import VIEWS
from mcp_sim.libraries.sql.tables import SqlError, quoted

logging.getLogger("sqlglot").setLevel(logging.ERROR)  # Its warnings are about what is refused or left out here.

_LONGEST = 100_000  # sqlglot parses in Python, while the world waits
_LAYOUTS = {
    "year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S", "epoch": "%s", "dow": "%w",
    "dayofweek": "%w", "doy": "%j", "dayofyear": "%j",
}  # fmt: skip
"""Part of a time -> the format that shows it."""
_COMPUTED = {
    "quarter": "(CAST(STRFTIME('%m', {0}) AS INTEGER) + 2) / 3",
    "isodow": "(CAST(STRFTIME('%w', {0}) AS INTEGER) + 6) % 7 + 1",
    "week": "(CAST(STRFTIME('%j', {0}, '-3 days', 'weekday 4') AS INTEGER) - 1) / 7 + 1",
}
"""Part of a time that no format shows -> how it is computed."""
_COUNTERS = (exp.DType.SERIAL, exp.DType.BIGSERIAL, exp.DType.SMALLSERIAL)
_SERIES = (
    "(WITH RECURSIVE n(i) AS (SELECT {start} UNION ALL SELECT i + {step} FROM n WHERE i + {step} {below} {end}) "
    'SELECT i AS "{column}" FROM n WHERE i {below} {end}) AS {name}'
)


def translate(statement: str, dialect: str, tables: Mapping[str, str]) -> list[str]:
    """Translate a statement to one or more SQLite statements. Raises `SqlError` for what cannot be parsed."""
    if len(statement) > _LONGEST:
        raise SqlError(f"The statement has more than {_LONGEST:,} characters")
    query = _catalog_query(statement, dialect, tables)
    if query is not None:
        return [query]
    try:
        parsed: list[Any] = [
            parsed_statement
            for parsed_statement in sqlglot.parse(statement.replace("%s", "?"), read=dialect)
            if parsed_statement
        ]
        if len(parsed) != 1:
            raise SqlError("Only one statement can be run at once" if parsed else "The statement is empty")
        _name_columns(parsed[0], dialect)
        _rewrite(parsed[0], tables)
        drops = _extract_replace(parsed[0])
        written = _DuckDb if dialect == "duckdb" else _Translated
        return [*drops, parsed[0].sql(written, unsupported_level=ErrorLevel.IGNORE)]
    except SqlglotError as error:
        message = "unterminated quoted text or comment"
        if isinstance(error, ParseError) and error.errors:
            near, line, column = (error.errors[0][name] for name in ("highlight", "line", "col"))
            message = f'syntax error at or near "{near}" (line {line}, column {column})'
        raise SqlError(message, "syntax") from None
    except RecursionError:
        raise SqlError("The statement is nested too deeply") from None


def _name_columns(statement: Any, dialect: str) -> None:
    """Name computed columns after their function, as PostgreSQL and DuckDB do."""
    for select in statement.selects if isinstance(statement, exp.Select) and dialect in {"postgres", "duckdb"} else ():
        if isinstance(select, exp.Func) and not isinstance(select, exp.Anonymous | exp.Cast):
            written = (
                "count_star()" if isinstance(select, exp.Count) and select.find(exp.Star) else select.sql().lower()
            )
            name = written if dialect == "duckdb" else select.sql_name().lower()
            select.replace(exp.alias_(select.copy(), name, quoted=dialect == "duckdb"))


def _rewrite(statement: Any, tables: Mapping[str, str]) -> None:
    """Replace what depends on other parts: excluded columns, `GROUP BY ALL`, intervals, keys of conflicts, indexes."""
    for query in statement.find_all(exp.Select):
        _expand_excluded(query, tables)
        group: Any = query.args.get("group")
        if group is not None and group.args.get("all"):
            plain = [select.unalias().copy() for select in query.selects if select.find(exp.AggFunc) is None]
            query.set("group", exp.Group(expressions=plain) if plain else None)
    for key in list(statement.find_all(exp.Ordered)):
        if isinstance(key.parent, exp.OnConflict | exp.IndexParameters):
            key.replace(key.this)
    for index in statement.find_all(exp.IndexParameters):
        index.set("using", None)
    for changed in list(statement.find_all(exp.Add, exp.Sub)):
        if isinstance(changed.expression, exp.Interval):
            kind = exp.DateAdd if isinstance(changed, exp.Add) else exp.DateSub
            changed.replace(kind(this=changed.this, expression=changed.expression))


def _expand_excluded(query: Any, tables: Mapping[str, str]) -> None:
    """Replace `* EXCLUDE (x)` by the other columns of the tables that a query reads, if they are known."""
    star = next(
        (select for select in query.selects if isinstance(select, exp.Star) and select.args.get("except_")), None
    )
    if star is None:
        return
    excluded = {item.name.lower() for item in star.args["except_"]}
    read = [item.this.name for item in (query.args.get("from_"), *(query.args.get("joins") or ())) if item is not None]
    names = [name for table in read if table in tables for name, _ in _typed_columns(tables[table])]
    kept = [exp.column(name, quoted=True) for name in names if name.lower() not in excluded]
    if kept:
        query.select(*(select for select in query.selects if select is not star), *kept, append=False, copy=False)


def _extract_replace(statement: Any) -> list[str]:
    """Remove OR REPLACE from a statement. Return the DROP statement to run first, if any."""
    if not isinstance(statement, exp.Create) or not statement.args.get("replace"):
        return []
    statement.set("replace", None)
    target: Any = statement.find(exp.Table)
    return [f"DROP {statement.args['kind']} IF EXISTS {quoted(target.name)}"]


def _table(sql: Any, node: Any) -> str:
    """Write a table without its database, a catalog as the view that emulates it, and a series as a query."""
    if isinstance(node.this, exp.GenerateSeries | exp.ExplodingGenerateSeries):
        # `range(3)` or `generate_series(1, 3)`, used as a table.
        alias = node.args.get("alias")
        is_range = bool(node.this.args.get("is_end_exclusive"))
        name = alias.name if alias is not None else "range" if is_range else "generate_series"
        column = alias.columns[0].name if alias is not None and alias.columns else name
        start, end, step = (sql.sql(node.this, bound) for bound in ("start", "end", "step"))
        below = "<" if is_range else "<="
        return _SERIES.format(start=start, end=end, step=step or 1, below=below, column=column, name=quoted(name))
    view = f"information_schema.{node.name.lower()}"
    if node.text("db").lower() in {"information_schema", "pg_catalog"} and view in VIEWS:
        node.set("alias", node.args.get("alias") or exp.TableAlias(this=node.this))
        node.set("this", exp.to_identifier(view, quoted=True))
    node.set("db", None)
    node.set("catalog", None)
    return sql.table_sql(node)


def _date_part(sql: Any, node: Any) -> str:
    """Write `YEAR(x)` and `EXTRACT(YEAR FROM x)`. Raises `SqlError` for an unknown part."""
    unit, moment = (node.name, node.expression) if isinstance(node, exp.Extract) else (node.key, node.this)
    if unit.lower() in _COMPUTED:
        return f"({_COMPUTED[unit.lower()].format(sql.sql(moment))})"
    if unit.lower() not in _LAYOUTS:
        known = ", ".join((*_LAYOUTS, *_COMPUTED))
        raise SqlError(f"The part {unit} of a time is not supported; use {known}")
    layout = exp.Literal.string(_LAYOUTS[unit.lower()])
    return f"CAST({sql.func('STRFTIME', layout, moment)} AS INTEGER)"


def _moved(sql: Any, node: Any) -> str:
    """Write the addition or subtraction of an interval."""
    by, sign = node.expression, "-" if isinstance(node, exp.DateSub) else "+"
    amount, unit = (by.this, by.args.get("unit")) if isinstance(by, exp.Interval) else (by, node.args.get("unit"))
    change = f"{sign}{amount.name} {'day' if unit is None else unit.name.lower()}"
    return sql.func("DATETIME", node.this, exp.Literal.string(change))


def _aggregate(sql: Any, node: Any) -> str:
    """Write `string_agg(x, ', ' ORDER BY y)` and `array_agg(x ORDER BY y)`."""
    if not isinstance(node.this, exp.Order):
        return getattr(sql, f"{node.key}_sql")(node)
    by = node.this.expressions[0]
    order = by.this, exp.Literal.number(1 if by.args.get("desc") else 0)
    if isinstance(node, exp.ArrayAgg):
        return sql.func("ARRAY_AGG", node.this.this, *order)
    return sql.func("JOINED_BY", node.this.this, node.args.get("separator") or exp.Literal.string(","), *order)


def _within_group(sql: Any, node: Any) -> str:
    """Write `percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`."""
    if not isinstance(node.this, exp.PercentileCont | exp.PercentileDisc):
        return sql.withingroup_sql(node)
    return sql.func(node.this.sql_name(), node.expression.expressions[0].this, node.this.this)


_WRITERS: Mapping[type[Any], Callable[[Any, Any], str]] = {
    **dict.fromkeys((exp.Extract, exp.Year, exp.Month, exp.Day), _date_part),
    **dict.fromkeys((exp.ArrayAgg, exp.GroupConcat), _aggregate),
    **dict.fromkeys((exp.DateAdd, exp.DateSub), _moved),
    **dict.fromkeys(
        (exp.TimestampTrunc, exp.DateTrunc),
        lambda sql, node: sql.func("DATE_TRUNC", exp.Literal.string(node.text("unit").lower()), node.this),
    ),
    exp.Table: _table, exp.WithinGroup: _within_group,
    exp.Values: lambda sql, node: sql.values_sql(node, values_as_table=not node.alias_column_names),
    exp.Left: lambda sql, node: sql.func("SUBSTR", node.this, exp.Literal.number(1), node.expression),
    exp.Right: lambda sql, node: sql.func("SUBSTR", node.this, exp.Neg(this=node.expression)),
    exp.Rand: lambda _sql, _node: "RAND()",
    exp.Parameter: lambda _, node: f"?{node.name}",
    exp.TruncateTable: lambda sql, node: f"DELETE FROM {sql.sql(node.expressions[0])}",  # noqa: S608 (parsed)
}  # fmt: skip
"""Part of a statement -> what writes it: takes the generator of SQL and the part."""


class _Translated(SQLite):
    """SQLite with the functions that its connections have, and without what it cannot parse."""

    class Generator(SQLite.Generator):
        TYPE_MAPPING: ClassVar[Any] = {**SQLite.Generator.TYPE_MAPPING, **dict.fromkeys(_COUNTERS, "INTEGER")}
        TRANSFORMS: ClassVar[Any] = {**SQLite.Generator.TRANSFORMS, **_WRITERS}


_KEPT_TYPES = (exp.DType.BOOLEAN, exp.DType.DOUBLE, exp.DType.FLOAT, exp.DType.BIGINT, exp.DType.SMALLINT,
               exp.DType.DECIMAL, exp.DType.VARCHAR, exp.DType.TEXT, exp.DType.DATE, exp.DType.TIMESTAMP)  # fmt: skip
"""Types under whose DuckDB names SQLite stores values in the same way."""


class _DuckDb(_Translated):
    """The same, but tables keep the names that DuckDB has for their types, for DESCRIBE."""

    class Generator(_Translated.Generator):
        TYPE_MAPPING: ClassVar[Any] = {
            **_Translated.Generator.TYPE_MAPPING,
            **{kind: kind.value for kind in _KEPT_TYPES},
            exp.DType.TEXT: "VARCHAR",
        }


_NAME = r'(?:\w+\.)?[`"\[]?(?P<table>\w+)[`"\]]?'
_SUMMARIZES = rf"summarize( select \* from)? {_NAME}"
_QUERIES: Mapping[str, str] = {
    r"show( full)? tables\b.*": 'SELECT table_name AS "{shown}" FROM "information_schema.tables"',
    r"show (databases|schemas)\b.*": "SELECT 'main' AS \"Database\"",
    rf"show create table {_NAME}":
        'SELECT name AS "Table", sql AS "Create Table" FROM sqlite_master WHERE name = \'{table}\'',
    rf"(describe|desc|show( full)? (columns|fields) (from|in))( table)? {_NAME}":
        "SELECT {columns} FROM \"information_schema.columns\" WHERE table_name = '{table}'",
}  # fmt: skip
"""Statement, in single spaces -> the query for it."""
_MYSQL: Mapping[str, str] = {
    "shown": "Tables_in_main",
    "columns": 'column_name AS "Field", data_type AS "Type", is_nullable AS "Null", column_key AS "Key", '
               'column_default AS "Default"',
}  # fmt: skip
_DUCKDB: Mapping[str, str] = {
    "shown": "name",
    "columns": "column_name, CASE upper(data_type) WHEN 'TEXT' THEN 'VARCHAR' WHEN 'REAL' THEN 'DOUBLE' "
               "ELSE upper(data_type) END AS column_type, CASE column_key WHEN 'PRI' THEN 'NO' ELSE is_nullable END "
               'AS "null", NULLIF(column_key, \'\') AS "key", column_default AS "default", NULL AS extra',
}  # fmt: skip
"""What the queries show, as DuckDB does; other databases are taken for MySQL."""

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


def _catalog_query(statement: str, dialect: str, tables: Mapping[str, str]) -> str | None:
    """Return a query for a statement such as SHOW TABLES or DESCRIBE; None for other statements.

    Raises `SqlError` if the table does not exist.
    """
    text, is_duckdb = " ".join(statement.rstrip("; \n").split()), dialect == "duckdb"
    for pattern, query in {**_QUERIES, **({_SUMMARIZES: ""} if is_duckdb else {})}.items():
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        if match is not None:
            table = match.groupdict().get("table")
            if table is not None and table not in tables:
                raise SqlError(f"no such table: {table}")
            return query.format(table=table, **(_DUCKDB if is_duckdb else _MYSQL)) or _summary(
                str(table), tables[str(table)]
            )
    return None


def _summary(table: str, statement: str) -> str:
    """Return the query of SUMMARIZE: a row for each column, with statistics of those that are numbers."""
    rows: list[str] = []
    for name, kind in _typed_columns(statement):
        column, text = quoted(name), name.replace("'", "''")
        calls = {
            statistic: f"CAST({call} AS TEXT)" if kind in _NUMBERS else "NULL"
            for statistic, call in _STATISTICS.items()
        }
        statistics = ", ".join(f"{call} AS {statistic}" for statistic, call in calls.items()).format(column=column)
        rows.append(_SUMMARY.format(text=f"'{text}'", kind=_DUCKDB_TYPES.get(kind, kind), column=column,
                                    statistics=statistics, table=quoted(table)))  # fmt: skip
    return " UNION ALL ".join(rows)


def _typed_columns(statement: str) -> list[tuple[str, str]]:
    """Return the columns that a statement creates, each with its type as sqlglot names it, or ''."""
    columns = sqlglot.parse_one(statement, read="sqlite").find_all(exp.ColumnDef)
    return [(column.name, "" if column.kind is None else column.kind.this.name) for column in columns]
