"""What does DuckDB's SUMMARIZE tell of a table, as a query?"""

from __future__ import annotations

import re
from collections.abc import Mapping

from mcp_sim.backends.refusal import Refused
from mcp_sim.backends.sql.rewriting import typed_columns_of
from mcp_sim.backends.sql.tables import quoted

_SUMS_UP = re.compile(r"\s*summarize\s+(?:select\s+\*\s+from\s+)?[\"]?(?P<table>\w+)[\"]?\s*;?\s*", re.IGNORECASE)
_SUMMARY = (
    "SELECT '{text}' AS column_name, '{kind}' AS column_type, CAST(MIN({column}) AS TEXT) AS min, "
    "CAST(MAX({column}) AS TEXT) AS max, COUNT(DISTINCT {column}) AS approx_unique, {spread}, COUNT(*) AS count, "
    "ROUND(100.0 * (COUNT(*) - COUNT({column})) / MAX(COUNT(*), 1), 2) AS null_percentage FROM {table}"
)
_SPREAD: Mapping[str, str] = {
    "avg": "AVG({column})", "std": "STDDEV({column})", "q25": "PERCENTILE_CONT({column}, 0.25)",
    "q50": "PERCENTILE_CONT({column}, 0.5)", "q75": "PERCENTILE_CONT({column}, 0.75)",
}  # fmt: skip
"""What DuckDB tells of the numbers in a column, in a row for each column."""


def summing_up(statement: str, tables: Mapping[str, str]) -> str | None:
    """The query for a row about each column of a table; None where the statement asks for something else."""
    found = _SUMS_UP.fullmatch(statement)
    if found is None:
        return None
    table = found["table"]
    if table not in tables:
        raise Refused("not_found", f"Table '{table}' doesn't exist; tables: {', '.join(tables) or 'none'}", key=table)
    return " UNION ALL ".join(_summed_up(table, name, kind) for name, kind in typed_columns_of(tables[table]))


def _summed_up(table: str, name: str, kind: str) -> str:
    """What is told of a column: its bounds, how many values it has, and of numbers how they are spread."""
    column = quoted(name)
    spread = ", ".join(
        f"{f'CAST({told.format(column=column)} AS TEXT)' if kind in _NUMBERS else 'NULL'} AS {what}"
        for what, told in _SPREAD.items()
    )
    text = name.replace("'", "''")
    return _SUMMARY.format(
        text=text, kind=_DUCK_TYPES.get(kind, kind), column=column, spread=spread, table=quoted(table)
    )


_NUMBERS = frozenset(
    {"INTEGER", "INT", "BIGINT", "REAL", "DOUBLE", "FLOAT", "NUMERIC", "DECIMAL", "SMALLINT", "TINYINT"}
)
_DUCK_TYPES: Mapping[str, str] = {"TEXT": "VARCHAR", "REAL": "DOUBLE", "INT": "INTEGER"}
