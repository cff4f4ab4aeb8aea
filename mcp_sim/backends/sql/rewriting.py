"""Rewrite parts of queries that SQLite lacks: excluded columns, series, ordered aggregates, SUMMARIZE."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import sqlglot
from sqlglot import exp

from mcp_sim.backends.sql.tables import missing_table, quoted

_NO_NAMES: list[str] = []
_STEPS = (
    "WITH RECURSIVE n(i) AS (SELECT {start} UNION ALL SELECT i + {step} FROM n WHERE i + {step} {below} {end}) "
    'SELECT i AS "{column}" FROM n WHERE i {below} {end}'
)


def expand_group_by_all(node: Any) -> exp.Expr:
    """Replace `GROUP BY ALL` by the columns that are not aggregated."""
    group: Any = node.args.get("group")
    if group is not None and group.args.get("all"):
        plain: list[Any] = [one.unalias().copy() for one in node.selects if one.find(exp.AggFunc) is None]
        node.set("group", exp.Group(expressions=plain) if plain else None)
    return node


def expand_excluded_columns(node: Any, tables: Mapping[str, str]) -> exp.Expr:
    """Replace `SELECT * EXCLUDE (x)` by the other columns of known tables."""
    star = next((one for one in node.selects if isinstance(one, exp.Star) and one.args.get("except_")), None)
    if star is None:
        return node
    left_out = {one.name.lower() for one in star.args["except_"]}
    named = [name for name in _columns_read(node, tables) if name.lower() not in left_out]
    kept: list[Any] = [exp.column(name, quoted=True) for name in named]
    others: list[Any] = [one for one in node.selects if one is not star]
    return node.select(*others, *kept, append=False, copy=False) if kept else node


def _columns_read(node: Any, tables: Mapping[str, str]) -> list[str]:
    """Return the columns of the tables that a query reads."""
    joins: list[Any] = node.args.get("joins") or []
    read: list[Any] = [one.this for one in (node.args.get("from_"), *joins) if one is not None]
    return [name for table in read for name, _ in typed_columns_of(tables.get(table.name, ""))]


def typed_columns_of(statement: str) -> list[tuple[str, str]]:
    """Return the columns that a statement creates, each with its type in upper case; '' if it has none."""
    made: Any = sqlglot.parse_one(statement, read="sqlite") if statement else None
    parts: list[Any] = made.this.expressions if isinstance(made, exp.Create) else []
    columns = [one for one in parts if isinstance(one, exp.ColumnDef)]
    return [(one.name, "" if one.kind is None else one.kind.this.name) for one in columns]


def rewrite_series(node: Any) -> exp.Expr:
    """Rewrite `range(3)` and `generate_series(1, 3)` used as tables."""
    series: Any = node.this
    if not isinstance(series, exp.GenerateSeries | exp.ExplodingGenerateSeries):
        return node
    alias: Any = node.args.get("alias")
    is_range = bool(series.args.get("is_end_exclusive"))
    usual = "range" if is_range else "generate_series"
    columns = _NO_NAMES if alias is None else [one.name for one in alias.columns]
    column = columns[0] if columns else usual if alias is None else alias.name
    start, end = series.args["start"].sql("sqlite"), series.args["end"].sql("sqlite")
    step = series.args["step"].sql("sqlite") if series.args.get("step") is not None else "1"
    query = _STEPS.format(start=start, end=end, step=step, column=column, below="<" if is_range else "<=")
    name = usual if alias is None else alias.name
    return exp.Subquery(
        this=sqlglot.parse_one(query, read="sqlite"), alias=exp.TableAlias(this=exp.to_identifier(name))
    )


def rewrite_ordered_aggregate(node: Any) -> exp.Expr:
    """Rewrite `string_agg(x, ', ' ORDER BY y)` and `array_agg(x ORDER BY y)`."""
    order: Any = node.this
    if not isinstance(order, exp.Order):
        return node
    by: Any = order.expressions[0]
    ordering = [by.this, exp.Literal.number(1 if by.args.get("desc") else 0)]
    if isinstance(node, exp.ArrayAgg):
        return exp.Anonymous(this="ARRAY_AGG", expressions=[order.this, *ordering])
    between: Any = node.args.get("separator") or exp.Literal.string(",")
    return exp.Anonymous(this="JOINED_BY", expressions=[order.this, between, *ordering])


def rewrite_percentile(node: Any) -> exp.Expr:
    """Rewrite `percentile_cont(0.5) WITHIN GROUP (ORDER BY x)`."""
    measure, order = node.this, node.expression
    if not isinstance(measure, exp.PercentileCont | exp.PercentileDisc):
        return node
    value: Any = order.expressions[0].this
    return exp.Anonymous(this=measure.sql_name(), expressions=[value, measure.this])


def rewrite_truncation(node: Any) -> exp.Expr:
    """Rewrite `date_trunc('month', x)`."""
    unit = exp.Literal.string(node.text("unit").lower())
    return exp.Anonymous(this="DATE_TRUNC", expressions=[unit, node.this])


REWRITES: Mapping[type[Any], Callable[[exp.Expr], exp.Expr]] = {
    exp.ArrayAgg: rewrite_ordered_aggregate, exp.GroupConcat: rewrite_ordered_aggregate,
    exp.WithinGroup: rewrite_percentile, exp.TimestampTrunc: rewrite_truncation, exp.DateTrunc: rewrite_truncation,
    exp.Select: expand_group_by_all,
}  # fmt: skip
"""Part of a statement -> the function that rewrites it for SQLite."""


def extract_replace(statement: Any) -> str | None:
    """Remove OR REPLACE from a statement. Return the DROP statement to run first, None if there is none."""
    if not isinstance(statement, exp.Create) or not statement.args.get("replace"):
        return None
    statement.set("replace", None)
    made: Any = statement.find(exp.Table)
    return f"DROP {statement.args['kind']} IF EXISTS {quoted(made.name)}"


_SUMMARIZE = re.compile(r"\s*summarize\s+(?:select\s+\*\s+from\s+)?[\"]?(?P<table>\w+)[\"]?\s*;?\s*", re.IGNORECASE)
_SUMMARY = (
    "SELECT '{text}' AS column_name, '{kind}' AS column_type, CAST(MIN({column}) AS TEXT) AS min, "
    "CAST(MAX({column}) AS TEXT) AS max, COUNT(DISTINCT {column}) AS approx_unique, {spread}, COUNT(*) AS count, "
    "ROUND(100.0 * (COUNT(*) - COUNT({column})) / MAX(COUNT(*), 1), 2) AS null_percentage FROM {table}"
)
_SPREAD: Mapping[str, str] = {
    "avg": "AVG({column})", "std": "STDDEV({column})", "q25": "PERCENTILE_CONT({column}, 0.25)",
    "q50": "PERCENTILE_CONT({column}, 0.5)", "q75": "PERCENTILE_CONT({column}, 0.75)",
}  # fmt: skip
"""Statistics of DuckDB for the numbers in a column."""


def summary_query(statement: str, tables: Mapping[str, str]) -> str | None:
    """Return a query for a SUMMARIZE statement, one row per column; None for other statements.

    Raises `Refused` if the table does not exist.
    """
    found = _SUMMARIZE.fullmatch(statement)
    if found is None:
        return None
    table = found["table"]
    if table not in tables:
        raise missing_table(table, tables)
    return " UNION ALL ".join(_column_summary(table, name, kind) for name, kind in typed_columns_of(tables[table]))


def _column_summary(table: str, name: str, kind: str) -> str:
    """Return the query for one column: its bounds, distinct values, and statistics of numbers."""
    column = quoted(name)
    spread = ", ".join(
        f"{f'CAST({statistic.format(column=column)} AS TEXT)' if kind in _NUMBERS else 'NULL'} AS {what}"
        for what, statistic in _SPREAD.items()
    )
    text = name.replace("'", "''")
    return _SUMMARY.format(
        text=text, kind=_DUCK_TYPES.get(kind, kind), column=column, spread=spread, table=quoted(table)
    )


_NUMBERS = frozenset(
    {"INTEGER", "INT", "BIGINT", "REAL", "DOUBLE", "FLOAT", "NUMERIC", "DECIMAL", "SMALLINT", "TINYINT"}
)
_DUCK_TYPES: Mapping[str, str] = {"TEXT": "VARCHAR", "REAL": "DOUBLE", "INT": "INTEGER"}
