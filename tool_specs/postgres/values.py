"""The values of the simulated PostgreSQL: the types of a query's columns, and values as a Python client shows them."""

import json
import re
from datetime import UTC, date, datetime, time
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from fractions import Fraction
from uuid import UUID

from catalog import Failed, type_of
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify import qualify

TRUE, FALSE = {"t", "true", "y", "yes", "on", "1"}, {"f", "false", "n", "no", "off", "0"}
MEAN = -1
"""In place of a scale: as many digits as the division of a mean gives."""


def columns_of(statement, schema):
    """Return the columns of a query or of RETURNING: name -> type and size, as far as these are known."""
    query = statement
    if not isinstance(statement, exp.Query):
        returning, table = statement.args["returning"], statement.find(exp.Table)
        query = exp.select(*(expression.copy() for expression in returning.expressions)).from_(exp.to_table(table.name))
    try:
        known = qualify(query.copy(), schema=schema, dialect="postgres", validate_qualify_columns=False)
        known = annotate_types(known, schema=schema, dialect="postgres")
    except SqlglotError:
        return {}
    written = [select for select in query.selects if not select.is_star]
    names = [select.output_name for select in written] if len(written) == len(known.selects) else []
    types = {}
    for at, column in enumerate(known.selects):
        name = names[at] or function_name(written[at]) if names else column.alias_or_name
        types[name] = _typed(column.unalias())
    return types


def function_name(column):
    """Return the name of a computed column without an alias: that of its function."""
    inner = column.unalias()
    while isinstance(inner, exp.Window | exp.Filter | exp.Cast | exp.Paren):
        inner = inner.this
    if isinstance(inner, exp.Subquery):
        return function_name(inner.selects[0]) if inner.selects else "?column?"
    if isinstance(inner, exp.Case | exp.Extract):
        return inner.key
    if isinstance(inner, exp.CurrentTimestamp):
        return "now"
    is_named = isinstance(inner, exp.Func) and not isinstance(inner, exp.Anonymous)
    named = (
        inner.sql_name().lower() if is_named else inner.name if isinstance(inner, exp.Column | exp.Anonymous) else ""
    )
    return named or "?column?"


def _typed(column):
    """Return the type of an expression; that of means, decimal literals and roundings is numeric here."""
    kind = type_of(column.type) if column.type is not None else {"type": "unknown", "size": []}
    if isinstance(column, exp.Round) and column.args.get("decimals") is not None:
        return {"type": "numeric", "size": [0, int(column.args["decimals"].name or 0)]}
    if isinstance(column, exp.Avg):
        return {"type": "numeric", "size": [0, MEAN]}
    if isinstance(column, exp.JSONExtractScalar):
        return {"type": "text", "size": []}
    if isinstance(column, exp.JSONExtract):
        return {"type": "jsonb", "size": []}
    if isinstance(column, exp.TimestampTrunc | exp.DateTrunc):
        return _typed(column.this)
    is_whole = isinstance(column, exp.Ceil | exp.Floor) and _typed(column.this)["type"] != "double precision"
    if is_whole or isinstance(column, exp.Extract):
        return {"type": "numeric", "size": [0, 0]}
    if isinstance(column, exp.Literal) and not column.is_string and "." in column.name:
        return {"type": "numeric", "size": [0, len(column.name.partition(".")[2])]}
    is_exact = kind["type"] == "numeric" or any("." in literal.name for literal in column.find_all(exp.Literal))
    if isinstance(column, exp.Div) and is_exact:
        return {"type": "numeric", "size": [0, MEAN]}
    return kind


def python_value(value, column):
    """Return a value as psycopg gives it to Python."""
    kind = column["type"]
    if value is None or kind == "unknown":
        return value
    convert = _CONVERTED.get(kind)
    try:
        return convert(value, column["size"]) if convert else value
    except (ValueError, InvalidOperation, TypeError):
        return value


def _numeric(value, size):
    scale = size[1] if len(size) > 1 else None
    if scale == MEAN:
        return _mean(value)
    exact = Decimal(repr(value) if isinstance(value, float) else str(value))
    if scale is not None:
        return exact.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
    return exact.quantize(Decimal(1)) if exact == exact.to_integral() else exact


def _mean(value):
    """Return a quotient with about 16 digits. SQLite has rounded it, so it is made a fraction again."""
    exact = Fraction(value).limit_denominator(1_000_000)
    places = 20 if 0 < abs(exact) < 1 else 16 if abs(exact) < 10_000 else 12
    number = Decimal(exact.numerator) / Decimal(exact.denominator)
    return number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)


def _moment(value, is_zoned):
    when = datetime.fromisoformat(re.sub(r"([+-]\d\d)$", r"\1:00", str(value).strip()))
    if is_zoned:
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    return when.replace(tzinfo=None)


_CONVERTED = {
    "numeric": _numeric,
    "boolean": lambda value, _: bool(value) if isinstance(value, int) else str(value).lower() in TRUE,
    "date": lambda value, _: date.fromisoformat(str(value)[:10]),
    "timestamp without time zone": lambda value, _: _moment(value, is_zoned=False),
    "timestamp with time zone": lambda value, _: _moment(value, is_zoned=True),
    "time without time zone": lambda value, _: time.fromisoformat(str(value)),
    "jsonb": lambda value, _: json.loads(value),
    "json": lambda value, _: json.loads(value),
    "ARRAY": lambda value, _: json.loads(value),
    "uuid": lambda value, _: UUID(str(value)),
    "text": lambda value, _: value if isinstance(value, str) else json.dumps(value),
    "real": lambda value, _: float(value),
    "double precision": lambda value, _: float(value),
    "character": lambda value, size: str(value).ljust(size[0] if size else 1),
}  # fmt: skip


def check_literal(value, column):
    """Raise `Failed` if a text does not fit a column's type."""
    kind, text = column["type"], str(value)
    if kind in ("character varying", "character") and column["size"] and len(text) > column["size"][0]:
        raise Failed(f"value too long for type {kind}({column['size'][0]})")
    if kind == "boolean" and text.lower() not in TRUE | FALSE:
        raise Failed(f'invalid input syntax for type boolean: "{text}"')
    readers = {
        "integer": int, "bigint": int, "smallint": int, "numeric": Decimal, "real": float, "double precision": float,
        "date": lambda literal: date.fromisoformat(literal[:10]), "json": json.loads, "jsonb": json.loads, "uuid": UUID,
        "timestamp without time zone": lambda literal: _moment(literal, is_zoned=False),
        "timestamp with time zone": lambda literal: _moment(literal, is_zoned=True),
    }  # fmt: skip
    try:
        readers.get(kind, str)(text)
    except (ValueError, InvalidOperation):
        if kind in ("date", *_ZONES) and text.lower() in ("now", "today", "yesterday", "tomorrow", "infinity"):
            return
        raise Failed(f'invalid input syntax for type {_ZONES.get(kind, kind)}: "{text}"') from None


_ZONES = {"timestamp without time zone": "timestamp", "timestamp with time zone": "timestamp with time zone"}


def stored_text(value, column):
    """Return a value as an error message shows it."""
    if value is None:
        return "null"
    if column["type"] == "boolean":
        return "t" if value in (True, 1) or str(value).lower() in TRUE else "f"
    return str(python_value(value, column)) if column["type"] == "numeric" else str(value)


def written_columns(columns):
    """Return the columns of a view as the catalog keeps them."""
    return [
        {"name": name, "type": "text" if column["type"] == "unknown" else column["type"],
         "size": [] if MEAN in column["size"] else column["size"], "nullable": True, "default": None}
        for name, column in columns.items()
    ]  # fmt: skip
