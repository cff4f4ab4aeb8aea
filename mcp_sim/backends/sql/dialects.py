"""Translate statements of other SQL dialects to SQLite's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.sql.information_schema import CATALOGS, catalog_query
from mcp_sim.backends.sql.rewriting import (
    REWRITES,
    expand_excluded_columns,
    extract_replace,
    rewrite_series,
    summary_query,
)

_LONGEST = 100_000
_PARTS = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S"}
_COUNTERS = (exp.DType.SERIAL, exp.DType.BIGSERIAL, exp.DType.SMALLSERIAL)


def translate(statement: str, dialect: str, tables: Mapping[str, str]) -> list[str]:
    """Translate a statement to one or more SQLite statements. Raises `Refused` for what cannot be parsed."""
    if len(statement) > _LONGEST:
        raise Refused("invalid", f"The statement has more than {_LONGEST:,} characters")
    query = catalog_query(statement, dialect, tables)
    if query is None and dialect == "duckdb":
        query = summary_query(statement, tables)
    return _translate(statement, dialect, tables) if query is None else [query]


def _translate(statement: str, dialect: str, tables: Mapping[str, str]) -> list[str]:
    try:
        parsed = [one for one in sqlglot.parse(statement.replace("%s", "?"), read=dialect) if one is not None]
        if len(parsed) != 1:
            raise Refused("invalid", "Only one statement can be run at once" if parsed else "The statement is empty")
        named = _name_columns(parsed[0], dialect)
        first = extract_replace(named)
        translated = _rewrite(named, tables).sql("sqlite", unsupported_level=ErrorLevel.IGNORE)
    except SqlglotError as error:
        raise _syntax_error(error) from None
    except RecursionError:
        raise Refused("invalid", "The statement is nested too deeply") from None
    return [translated] if first is None else [first, translated]


def _syntax_error(error: SqlglotError) -> Refused:
    """Return the failure for a syntax error, with its position."""
    places = cast("list[dict[str, Any]]", getattr(error, "errors", []))
    message = f"SQL error: {str(error).splitlines()[0]}"
    if places:
        near, line, column = (places[0][name] for name in ("highlight", "line", "col"))
        message = f'SQL error: syntax error at or near "{near}" (line {line}, column {column})'
    return Refused("invalid", message, error=message)


def _name_columns(statement: exp.Expr, dialect: str) -> exp.Expr:
    """Name computed columns after their function, as PostgreSQL and DuckDB do."""
    for one in statement.selects if isinstance(statement, exp.Select) and dialect in {"postgres", "duckdb"} else ():
        if isinstance(one, exp.Func) and not isinstance(one, exp.Anonymous | exp.Cast):
            written = "count_star()" if isinstance(one, exp.Count) and one.find(exp.Star) else one.sql().lower()
            name = written if dialect == "duckdb" else one.sql_name().lower()
            one.replace(exp.alias_(one.copy(), name, quoted=dialect == "duckdb"))
    return statement


def _rows_by_name(node: exp.Expr) -> exp.Expr:
    """Rewrite `(VALUES (1), (2)) AS t(x)`, whose columns SQLite cannot name."""
    alias: Any = node.args.get("alias")
    names: list[Any] = [] if alias is None else alias.columns
    if alias is None or not names:
        return node
    rows = [[exp.alias_(cell, name) for cell, name in zip(row.expressions, names, strict=False)]
            for row in node.expressions]  # fmt: skip
    queries = [exp.select(*row) for row in rows]
    whole = exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]
    return exp.Subquery(this=whole, alias=exp.TableAlias(this=alias.this))


def _rewrite(statement: exp.Expr, tables: Mapping[str, str]) -> exp.Expr:
    """Rewrite what sqlglot does not translate, innermost parts first."""
    whole = statement
    for query in statement.find_all(exp.Select):
        expand_excluded_columns(query, tables)
    for node in reversed(list(statement.walk())):
        change = _REWRITES.get(type(node))
        made = node if change is None else change(node)
        if node is statement:
            whole = made
        elif made is not node:
            node.replace(made)
    return whole


def _table(node: exp.Expr) -> exp.Expr:
    """Remove the database of a table name, and replace catalogs by their views."""
    if not isinstance(node.this, exp.Identifier):
        return rewrite_series(node)
    name = node.name.lower()
    if node.text("db").lower() in {"information_schema", "pg_catalog"} and name in CATALOGS:
        alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name))
        return exp.Table(this=exp.to_identifier(CATALOGS[name], quoted=True), alias=alias)
    node.set("db", None)
    node.set("catalog", None)
    return node


def _conflict(node: exp.Expr) -> exp.Expr:
    keys: list[Any] = node.args.get("conflict_keys") or []
    node.set("conflict_keys", [key.this if isinstance(key, exp.Ordered) else key for key in keys] or None)
    return node


def _counter_type(node: exp.Expr) -> exp.Expr:
    return exp.DataType.build("INTEGER") if node.this in _COUNTERS else node


def _date_part(node: exp.Expr) -> exp.Expr:
    """Rewrite `YEAR(x)` and `EXTRACT(YEAR FROM x)`."""
    is_extract = isinstance(node, exp.Extract)
    part, moment = (node.name.lower(), node.expression) if is_extract else (type(node).__name__.lower(), node.this)
    layout = exp.Literal.string(_PARTS.get(part, "%Y"))
    return exp.cast(exp.Anonymous(this="STRFTIME", expressions=[layout, moment]), "INTEGER")


def _substring(node: exp.Expr) -> exp.Expr:
    """Rewrite `LEFT(x, 2)` and `RIGHT(x, 2)`."""
    if isinstance(node, exp.Left):
        return exp.Anonymous(this="SUBSTR", expressions=[node.this, exp.Literal.number(1), node.expression])
    return exp.Anonymous(this="SUBSTR", expressions=[node.this, exp.Neg(this=node.expression)])


def _add_interval(node: exp.Expr) -> exp.Expr:
    """Rewrite the addition of an interval as SQLite's `datetime` takes it."""
    by: Any = node.expression
    if isinstance(node, exp.Add | exp.Sub) and not isinstance(by, exp.Interval):
        return node
    amount, unit = (by.this, by.args.get("unit")) if isinstance(by, exp.Interval) else (by, node.args.get("unit"))
    sign = "-" if isinstance(node, exp.Sub | exp.DateSub) else "+"
    text = exp.Literal.string(f"{sign}{amount.name} {'day' if unit is None else unit.name.lower()}")
    return exp.Anonymous(this="DATETIME", expressions=[node.this, text])


_REWRITES: Mapping[type[Any], Callable[[exp.Expr], exp.Expr]] = {
    exp.Table: _table, exp.OnConflict: _conflict, exp.DataType: _counter_type, exp.Extract: _date_part,
    exp.Year: _date_part, exp.Month: _date_part, exp.Day: _date_part, exp.Left: _substring, exp.Right: _substring,
    exp.Add: _add_interval, exp.Sub: _add_interval,
    exp.Values: _rows_by_name, exp.DateAdd: _add_interval, exp.DateSub: _add_interval,
    exp.Parameter: lambda node: exp.Var(this=f"?{node.name}"),
    exp.TruncateTable: lambda node: exp.delete(node.expressions[0].sql()), **REWRITES,
}  # fmt: skip
"""Part of a statement -> the function that rewrites it for SQLite."""
