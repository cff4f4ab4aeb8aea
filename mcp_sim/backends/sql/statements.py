"""Which statements does a call ask for, may this tool take them, and in which dialect are they written?"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcp_sim.backends.refusal import Refused
from mcp_sim.types import Json
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.plans import Plan

_READS = frozenset({"SELECT", "WITH", "VALUES", "EXPLAIN", "PRAGMA", "SHOW", "DESCRIBE", "DESC", "SUMMARIZE"})
_WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "CREATE", "DROP", "ALTER", "TRUNCATE", "MERGE"})
_ALLOWED: Mapping[str, frozenset[str]] = {"query": _READS, "write": _WRITES, "create": frozenset({"CREATE"})}
_COMMENTS = re.compile(r"^(\s|--[^\n]*(\n|$)|/\*.*?\*/|\()*", re.DOTALL)
_WORD = re.compile(r"\w+")


def asked_for(plan: Plan, given: Mapping[str, Json]) -> list[str]:
    """The statements of a call. Raises Refused where there is none, or one that the tool does not take."""
    batch = plan.arguments.get("batch")
    told = as_list(given.get(batch)) if batch else [given.get(plan.arguments["statement"], "")]
    if not told:
        raise Refused("invalid", "No statement was given")
    statements = [str(one).strip().rstrip(";") for one in told]
    allowed = _ALLOWED.get(plan.operation, frozenset[str]())
    for statement in statements:
        word = first_word(statement)
        if not word:
            raise Refused("invalid", "The statement is empty")
        if allowed and word not in allowed:
            raise Refused("invalid", f"{word} is not allowed with this tool; it takes {', '.join(sorted(allowed))}")
    return statements


def first_word(statement: str) -> str:
    """The word that a statement begins with, in upper case."""
    found = _WORD.match(_COMMENTS.sub("", statement, count=1))
    return found[0].upper() if found else ""


def understood(statements: list[str], dialect: str, tables: Mapping[str, str]) -> list[str]:
    """The statements in SQLite's SQL; `dialect` is '' where they are written in it."""
    if not dialect:
        return statements
    from mcp_sim.backends.sql.dialects import in_sqlite  # noqa: PLC0415 (sqlglot is for dialects)

    return [made for one in statements for made in in_sqlite(one, dialect, tables)]
