"""What does a statement say that is not written in SQLite's SQL?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.sql.catalogs import CATALOGUES, asking_for_tables
from mcp_sim.backends.sql.rewriting import REWRITTEN, counted_up, replaced_first, summing_up, without_columns

_LONGEST = 100_000
_PARTS = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S"}
_COUNTERS = (exp.DType.SERIAL, exp.DType.BIGSERIAL, exp.DType.SMALLSERIAL)


def in_sqlite(statement: str, dialect: str, tables: Mapping[str, str]) -> list[str]:
    """The same in SQLite's SQL, as one statement or more. Raises Refused, which names what was not understood."""
    if len(statement) > _LONGEST:
        raise Refused("invalid", f"The statement has more than {_LONGEST:,} characters")
    asking = asking_for_tables(statement, dialect, tables)
    if asking is None and dialect == "duckdb":
        asking = summing_up(statement, tables)
    return _translated(statement, dialect, tables) if asking is None else [asking]


def _translated(statement: str, dialect: str, tables: Mapping[str, str]) -> list[str]:
    try:
        parsed = [one for one in sqlglot.parse(statement.replace("%s", "?"), read=dialect) if one is not None]
        if len(parsed) != 1:
            raise Refused("invalid", "Only one statement can be run at once" if parsed else "The statement is empty")
        named = _named(parsed[0], dialect)
        first = replaced_first(named)
        told = _in_sqlite(named, tables).sql("sqlite", unsupported_level=ErrorLevel.IGNORE)
    except SqlglotError as error:
        raise _misunderstood(error) from None
    except RecursionError:
        raise Refused("invalid", "The statement is nested too deeply") from None
    return [told] if first is None else [first, told]


def _misunderstood(error: SqlglotError) -> Refused:
    """The place of a statement that was not understood."""
    places = cast("list[dict[str, Any]]", getattr(error, "errors", []))
    told = f"SQL error: {str(error).splitlines()[0]}"
    if places:
        near, line, column = (places[0][name] for name in ("highlight", "line", "col"))
        told = f'SQL error: syntax error at or near "{near}" (line {line}, column {column})'
    return Refused("invalid", told, error=told)


def _named(statement: exp.Expr, dialect: str) -> exp.Expr:
    """A column that is worked out is called after its function, as PostgreSQL has it, or as DuckDB writes it."""
    for one in statement.selects if isinstance(statement, exp.Select) and dialect in {"postgres", "duckdb"} else ():
        if isinstance(one, exp.Func) and not isinstance(one, exp.Anonymous | exp.Cast):
            written = "count_star()" if isinstance(one, exp.Count) and one.find(exp.Star) else one.sql().lower()
            name = written if dialect == "duckdb" else one.sql_name().lower()
            one.replace(exp.alias_(one.copy(), name, quoted=dialect == "duckdb"))
    return statement


def _rows_by_name(node: exp.Expr) -> exp.Expr:
    """`(VALUES (1), (2)) AS t(x)`, whose columns SQLite cannot name."""
    alias: Any = node.args.get("alias")
    names: list[Any] = [] if alias is None else alias.columns
    if alias is None or not names:
        return node
    rows = [[exp.alias_(cell, name) for cell, name in zip(row.expressions, names, strict=False)]
            for row in node.expressions]  # fmt: skip
    queries = [exp.select(*row) for row in rows]
    whole = exp.union(*queries, distinct=False) if len(queries) > 1 else queries[0]
    return exp.Subquery(this=whole, alias=exp.TableAlias(this=alias.this))


def _in_sqlite(statement: exp.Expr, tables: Mapping[str, str]) -> exp.Expr:
    """A statement as SQLite has it, where the library leaves a part as it is; the innermost parts first."""
    whole = statement
    for query in statement.find_all(exp.Select):
        without_columns(query, tables)
    for node in reversed(list(statement.walk())):
        change = _CHANGES.get(type(node))
        made = node if change is None else change(node)
        if node is statement:
            whole = made
        elif made is not node:
            node.replace(made)
    return whole


def _table(node: exp.Expr) -> exp.Expr:
    """A table without the database that it is in; a catalogue as the view that stands for it."""
    if not isinstance(node.this, exp.Identifier):
        return counted_up(node)
    name = node.name.lower()
    if node.text("db").lower() in {"information_schema", "pg_catalog"} and name in CATALOGUES:
        alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(node.name))
        return exp.Table(this=exp.to_identifier(CATALOGUES[name], quoted=True), alias=alias)
    node.set("db", None)
    node.set("catalog", None)
    return node


def _conflict(node: exp.Expr) -> exp.Expr:
    keys: list[Any] = node.args.get("conflict_keys") or []
    node.set("conflict_keys", [key.this if isinstance(key, exp.Ordered) else key for key in keys] or None)
    return node


def _type(node: exp.Expr) -> exp.Expr:
    return exp.DataType.build("INTEGER") if node.this in _COUNTERS else node


def _part(node: exp.Expr) -> exp.Expr:
    """`YEAR(x)`, `EXTRACT(YEAR FROM x)`."""
    is_extract = isinstance(node, exp.Extract)
    part, moment = (node.name.lower(), node.expression) if is_extract else (type(node).__name__.lower(), node.this)
    layout = exp.Literal.string(_PARTS.get(part, "%Y"))
    return exp.cast(exp.Anonymous(this="STRFTIME", expressions=[layout, moment]), "INTEGER")


def _cut(node: exp.Expr) -> exp.Expr:
    """`LEFT(x, 2)`, `RIGHT(x, 2)`."""
    if isinstance(node, exp.Left):
        return exp.Anonymous(this="SUBSTR", expressions=[node.this, exp.Literal.number(1), node.expression])
    return exp.Anonymous(this="SUBSTR", expressions=[node.this, exp.Neg(this=node.expression)])


def _moved(node: exp.Expr) -> exp.Expr:
    """A moment so much later or earlier, as SQLite's `datetime` takes it."""
    by: Any = node.expression
    if isinstance(node, exp.Add | exp.Sub) and not isinstance(by, exp.Interval):
        return node
    amount, unit = (by.this, by.args.get("unit")) if isinstance(by, exp.Interval) else (by, node.args.get("unit"))
    sign = "-" if isinstance(node, exp.Sub | exp.DateSub) else "+"
    text = exp.Literal.string(f"{sign}{amount.name} {'day' if unit is None else unit.name.lower()}")
    return exp.Anonymous(this="DATETIME", expressions=[node.this, text])


_CHANGES: Mapping[type[Any], Callable[[exp.Expr], exp.Expr]] = {
    exp.Table: _table, exp.OnConflict: _conflict, exp.DataType: _type, exp.Extract: _part, exp.Year: _part,
    exp.Month: _part, exp.Day: _part, exp.Left: _cut, exp.Right: _cut, exp.Add: _moved, exp.Sub: _moved,
    exp.Values: _rows_by_name, exp.DateAdd: _moved, exp.DateSub: _moved,
    exp.Parameter: lambda node: exp.Var(this=f"?{node.name}"),
    exp.TruncateTable: lambda node: exp.delete(node.expressions[0].sql()), **REWRITTEN,
}  # fmt: skip
"""Part of a statement -> how SQLite has it."""
