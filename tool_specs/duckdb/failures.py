"""The failures of the simulated DuckDB: what SQLite refuses, in the words of DuckDB."""

import re
from difflib import get_close_matches

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from mcp_sim.libraries.sql import first_word


class Failed(Exception):
    """What DuckDB reports of a statement that it refuses. `kind` is the name of its exception."""

    def __init__(self, family, message):
        super().__init__(f"{family} Error: {message}")
        self.kind = f"{family}Exception"


def explained(world, schema, sql, error):
    """Return DuckDB's failure for one of SQLite."""
    message = str(error)
    for pattern, explain in RULES:
        match = re.search(pattern, message)
        if match:
            return explain(world, schema, sql, match)
    if error.kind == "constraint":
        return Failed("Constraint", message)
    return Failed("Invalid Input" if error.kind == "forbidden" else "Binder", message)


def pointer(sql, word):
    """Return the line of a statement that has a word, and a mark below the word."""
    match = re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sql, re.IGNORECASE)
    at = match.start() if match else 0
    start = sql.rfind("\n", 0, at) + 1
    label = f"LINE {sql.count(chr(10), 0, at) + 1}: "
    return f"\n\n{label}{sql[start:].split(chr(10))[0]}\n{' ' * (len(label) + at - start)}^"


WORDS = (
    "SELECT",
    "WITH",
    "FROM",
    "INSERT",
    "UPDATE",
    "DELETE",
    "CREATE",
    "DROP",
    "ALTER",
    "SHOW",
    "DESCRIBE",
    "VALUES",
)
"""The first words of statements; at others the parser of DuckDB stops at once."""


OPEN = ("AND", "AS", "BY", "FROM", "HAVING", "IN", "INTO", "JOIN", "LIMIT", "NOT", "ON", "OR", "SELECT", "SET", "WHERE")
"""Words that a statement cannot end with."""


def _syntax(_world, _schema, sql, match):
    word = match[1] if first_word(sql) in WORDS else sql.split()[0]
    if word.upper() in OPEN and sql.rstrip().endswith(word):
        return Failed("Parser", "syntax error at end of input")
    if not word:
        return Failed("Parser", "syntax error at end of input" + pointer(sql, sql.split()[-1] if sql.split() else ""))
    return Failed("Parser", f'syntax error at or near "{word}"{pointer(sql, word)}')


def _incomplete(_world, _schema, sql, _match):
    end = f"\n\nLINE 1: {sql}\n{' ' * (len('LINE 1: ') + len(sql))}^"
    return Failed("Parser", f"syntax error at end of input{end}")


def _no_table(_world, schema, sql, match):
    name = match[1].rpartition(".")[2]
    near = get_close_matches(name, [*schema, "pg_views"], 1, 0)
    where = "" if re.match(r"\s*(drop|alter)\b", sql, re.IGNORECASE) else pointer(sql, name)
    hint = f'\nDid you mean "{near[0]}"?' if near else ""
    return Failed("Catalog", f"Table with name {name} does not exist!{hint}{where}")


def _no_column(_world, schema, sql, match):
    name = match[1].rpartition(".")[2]
    used = [column for table in _tables(sql, schema) for column in schema[table]]
    if re.match(r"\s*(insert|update)\b", sql, re.IGNORECASE):
        table = next(iter(_tables(sql, schema)), "")
        near = get_close_matches(name, used, 1, 0)
        hint = f'\n\nCandidate bindings: "{near[0]}"' if near else ""
        return Failed(
            "Binder", f'Referenced update column {name} not found in table "{table}"!{hint}{pointer(sql, name)}'
        )
    near = ", ".join(f'"{column}"' for column in get_close_matches(name, used, 5, 0.4) or used[:1])
    candidates = f"\nCandidate bindings: {near}" if near else ""
    return Failed("Binder", f'Referenced column "{name}" not found in FROM clause!{candidates}{pointer(sql, name)}')


def _no_target(_world, schema, _sql, match):
    near = get_close_matches(match[2], [*schema.get(match[1], ())], 1, 0)
    hint = f'\n\nDid you mean: "{near[0]}"' if near else ""
    return Failed("Binder", f'Table "{match[1]}" does not have a column with name "{match[2]}"{hint}')


def _tables(sql, schema):
    try:
        return [
            table.name for table in sqlglot.parse_one(sql, read="duckdb").find_all(exp.Table) if table.name in schema
        ]
    except SqlglotError:
        return []


def _duplicate(_world, schema, sql, match):
    table, column = match[1].split(",")[0].split(".")
    value = _given(sql, [*schema.get(table, {})], column)
    return Failed("Constraint", f'Duplicate key "{column}: {value}" violates primary key constraint.')


def _given(sql, columns, column):
    """Return the value that an INSERT gives for a column."""
    try:
        statement = sqlglot.parse_one(sql, read="duckdb")
        named = statement.this.expressions if isinstance(statement.this, exp.Schema) else []
        at = ([name.name for name in named] or columns).index(column)
        return statement.expression.expressions[-1].expressions[at].name
    except (SqlglotError, AttributeError, ValueError, IndexError):
        return ""


def _exists(_world, _schema, _sql, match):
    return Failed("Catalog", f'{match[1].capitalize()} with name "{match[2]}" already exists!')


RULES = (
    (r'near "(.*?)"(?:: syntax error| \()', _syntax),
    (r"incomplete input|statement is empty", _incomplete),
    (r"table (\S+) has no column named (\S+)", _no_target),
    (r"no such table: (\S+)", _no_table),
    (r"no such column: (\S+)", _no_column),
    (r"UNIQUE constraint failed: (.*)", _duplicate),
    (r"(table|view|index) (\S+) already exists", _exists),
)
