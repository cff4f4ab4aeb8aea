"""Texts of the simulated PostgreSQL: their statements, what they say of the session, and syntax errors."""

import logging
import re

import sqlglot
from catalog import DATABASE, USER, Failed, pointer
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.tokens import TokenType

logging.getLogger("sqlglot").setLevel(logging.ERROR)

VERSION = "15.8"
AVAILABLE = frozenset({"pg_stat_statements", "pgcrypto", "citext", "pg_trgm", "uuid-ossp"})
UNDOING, KEEPING = frozenset({"rollback", "abort"}), frozenset({"commit", "end"})
SESSION = UNDOING | KEEPING | {
    "set", "reset", "begin", "start", "savepoint", "release", "vacuum", "analyze", "reindex", "grant", "revoke",
    "comment", "lock", "show",
}  # fmt: skip
"""First words of statements that change no row here."""
BEGINNINGS = SESSION | {
    "select", "with", "values", "insert", "update", "delete", "create", "drop", "alter", "truncate", "explain",
    "do", "call", "copy", "merge", "table", "refresh",
}  # fmt: skip
WORD = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(\w*)", re.DOTALL)
"""The first word of a statement, after comments and parentheses."""
EXTENSION = re.compile(r'\s*create\s+extension\s+(?:if\s+not\s+exists\s+)?"?([\w-]+)', re.IGNORECASE)
BUILD = f"{VERSION} (Debian {VERSION}-1.pgdg120+1)"
SHOWN = {"server_version": BUILD, "timezone": "Etc/UTC", "search_path": '"$user", public', "server_encoding": "UTF8"}
KNOWN = {
    "current_version": ("version", f"PostgreSQL {BUILD} on x86_64-pc-linux-gnu"),
    "current_database": ("current_database", DATABASE), "current_catalog": ("current_catalog", DATABASE),
    "current_schema": ("current_schema", "public"), "current_user": ("current_user", USER),
    "session_user": ("session_user", USER),
}  # fmt: skip
"""Function as sqlglot names it -> the name of its column, and its value."""


def split(sql):
    """Return the statements of a text: first word, text and place of each. Raises `Failed` for a quote without end."""
    if "\0" in sql:
        raise Failed("a statement cannot contain NUL (0x00) characters")
    statements, first = [], None
    try:
        tokens = sqlglot.tokenize(sql, read="postgres")
    except SqlglotError:
        quote = max(sql.rfind("'"), 0)
        raise Failed(f'unterminated quoted string at or near "{sql[quote:]}"{pointer(sql, quote)}') from None
    for token in [*tokens, None]:
        if token is not None and token.token_type != TokenType.SEMICOLON:
            first = token.start if first is None else first
        elif first is not None:
            text = sql[first : len(sql) if token is None else token.start]
            statements.append((WORD.match(text)[1].lower(), text, first))
            first = None
    return statements


def answer(word, text):
    """Return the rows of a statement that is about the session, None without rows; NotImplemented for others."""
    words = text.lower().split()
    if word == "show":
        if words[1:2] == [] or words[1] not in SHOWN:
            raise Failed(f'unrecognized configuration parameter "{" ".join(words[1:])}"')
        return [{words[1]: SHOWN[words[1]]}]
    if word in UNDOING and "to" in words:
        raise Failed("ROLLBACK TO SAVEPOINT is not supported by this database")
    if extension := EXTENSION.match(text):
        if extension[1] not in AVAILABLE:
            raise Failed(f'extension "{extension[1]}" is not available')
        return None
    return None if word in SESSION else NotImplemented


def parsed(sql, text, start):
    """Return a statement, which is at a place in a longer text. Raises `Failed` for a syntax error."""
    word = WORD.match(text)
    if word[1].lower() not in BEGINNINGS:
        at = word.start(1)
        if not text[at:]:
            raise Failed(f"syntax error at end of input{pointer(sql, start + at)}")
        near = word[1] or re.match(r'"[^"]*"|.', text[at:], re.DOTALL)[0]
        raise Failed(f'syntax error at or near "{near}"{pointer(sql, start + at)}')
    try:
        return normalize_identifiers(sqlglot.parse_one(text, read="postgres"), dialect="postgres")
    except ParseError as error:
        raise Failed(_syntax_error(sql, text, start, error.errors[0])) from None


def _syntax_error(sql, text, start, error):
    near = error["highlight"]
    at = len(error["start_context"]) if len(text) < 100 else max(text.find(near), 0)
    if not text[at + len(near) :].strip(" \n") and "missing" in error["description"]:
        return f"syntax error at end of input{pointer(sql, start + len(text))}"
    return f'syntax error at or near "{near}"{pointer(sql, start + at)}'
