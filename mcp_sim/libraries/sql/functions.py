"""SQL functions that SQLite lacks and other databases have."""

from __future__ import annotations

import sqlite3
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from mcp_sim.libraries.patterns import PatternError, search_test
from mcp_sim.types.json_values import encode

Rows = Sequence[tuple[Any, ...]]
Charge = Callable[[int], None]
"""Counts the characters that a function processes. Raises an error beyond the limit."""

_CALL = 1_024
"""Number of characters that each call of a function counts as."""
_LONGEST_PATTERN = 1_000
"""The time of SQLite's LIKE grows with the product of the lengths of pattern and text."""


def register_functions(connection: sqlite3.Connection, charge: Charge, refuse: Callable[[str], None]) -> None:
    """Register the functions with a connection. `refuse` takes the reason why a function refuses its arguments."""
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _LONGEST_PATTERN)
    for name, call in {**_SCALARS, **_JOINING}.items():
        counted = _charged(call, charge, skips_null=name in _JOINING)
        connection.create_function(name, -1, counted, deterministic=True)
    compiled = lru_cache(maxsize=128)(search_test)

    def matched(pattern: Any, text: Any) -> bool | None:
        if pattern is None or text is None:
            return None
        try:
            known = compiled(str(pattern))
        except PatternError as error:
            refuse(str(error))  # SQLite only reports that there was an error
            raise
        charge(_CALL + len(str(text)) * known.size)
        return known(str(text))

    connection.create_function("regexp", 2, matched, deterministic=True)
    for name, (size, finish) in _AGGREGATES.items():
        connection.create_aggregate(name, size, _aggregate(finish, charge))  # pyright: ignore[reportArgumentType] (no stub knows the class)


def _charged(call: Callable[..., Any], charge: Charge, *, skips_null: bool) -> Callable[..., Any]:
    """Return a function that takes its arguments as texts."""

    def counted(*given: Any) -> Any:
        if None in given and not skips_null:
            return None
        result = call(*(str(value) for value in given if value is not None))
        charge(_CALL + sum(len(str(value)) for value in (*given, result)))
        return result

    return counted


def _aggregate(finish: Callable[[Rows], Any], charge: Charge) -> Callable[[], Any]:
    class Aggregate:
        """Collects the rows of one group."""

        def __init__(self) -> None:
            self._rows: list[tuple[Any, ...]] = []

        def step(self, *values: Any) -> None:
            charge(_CALL // 16 + sum(len(str(value)) for value in values))
            if values[0] is not None:
                self._rows.append(values)

        def finalize(self) -> Any:
            return finish(self._rows) if self._rows else None

    return Aggregate


def _spread(measure: Callable[[Any], float], least: int) -> Callable[[Rows], Any]:
    def finish(rows: Rows) -> Any:
        numbers = [row[0] for row in rows if isinstance(row[0], int | float)]
        return measure(numbers) if len(numbers) >= least else None

    return finish


def _percentile(rows: Rows) -> Any:
    """Return the interpolated percentile."""
    numbers = sorted(row[0] for row in rows if isinstance(row[0], int | float))
    at = float(rows[0][1]) * (len(numbers) - 1)
    low = int(at)
    high = min(low + 1, len(numbers) - 1)
    return numbers[low] + (numbers[high] - numbers[low]) * (at - low) if numbers else None


def _sorted_by(rows: Rows, at: int) -> Rows:
    """Return the rows sorted by the value at an index, descending if the next value is 1."""
    if not rows or len(rows[0]) <= at:
        return rows
    return sorted(rows, key=lambda row: _sort_key(row[at]), reverse=bool(rows[0][at + 1]))


def _sort_key(value: Any) -> tuple[int, Any]:
    return (0, 0) if value is None else (1, value) if isinstance(value, int | float) else (2, str(value))


_AGGREGATES: Mapping[str, tuple[int, Callable[[Rows], Any]]] = {
    "stddev": (1, _spread(statistics.stdev, 2)), "stddev_samp": (1, _spread(statistics.stdev, 2)),
    "stddev_pop": (1, _spread(statistics.pstdev, 1)), "variance": (1, _spread(statistics.variance, 2)),
    "median": (1, _spread(statistics.median, 1)), "percentile_cont": (2, _percentile),
    "mode": (1, lambda rows: Counter(row[0] for row in rows).most_common(1)[0][0]),
    "arg_max": (2, lambda rows: max(rows, key=lambda row: _sort_key(row[1]))[0]),
    "arg_min": (2, lambda rows: min(rows, key=lambda row: _sort_key(row[1]))[0]),
    "array_agg": (-1, lambda rows: encode([row[0] for row in _sorted_by(rows, 1)]).decode()),
    "joined_by": (-1, lambda rows: str(rows[0][1]).join(str(row[0]) for row in _sorted_by(rows, 2))),
}  # fmt: skip

_KEPT = {"year": 4, "quarter": 7, "month": 7, "week": 10, "day": 10, "hour": 13, "minute": 16}
"""Unit of time -> how many characters of a time it leaves as they are."""


def _truncated(unit: str, moment: str) -> str:
    """Return the beginning of the year, quarter, month, week, day, hour or minute of a moment."""
    parsed, name = datetime.fromisoformat(moment).replace(tzinfo=None), unit.lower()
    if name == "week":
        parsed -= timedelta(days=parsed.weekday())
    if name == "quarter":
        parsed = parsed.replace(month=(parsed.month - 1) // 3 * 3 + 1, day=1)
    kept = _KEPT.get(name, 19)
    return parsed.strftime("%Y-%m-%d %H:%M:%S")[:kept] + "0000-01-01 00:00:00"[kept:]


def _split(text: str, mark: str, number: str) -> str:
    parts, at = text.split(mark) if mark else [text], int(number)
    return parts[at - 1 if at > 0 else at] if 0 < abs(at) <= len(parts) else ""


def _joined(mark: str, *texts: str) -> str:
    return mark.join(texts)


def _concatenated(*texts: str) -> str:
    return "".join(texts)


def _reversed(text: str) -> str:
    return text[::-1]


_SCALARS: Mapping[str, Callable[..., Any]] = {
    "split_part": _split, "contains": str.__contains__, "starts_with": str.startswith, "ends_with": str.endswith,
    "reverse": _reversed, "initcap": str.title, "date_trunc": _truncated,
}  # fmt: skip
"""Functions of texts: null if an argument is null."""
_JOINING: Mapping[str, Callable[..., Any]] = {"concat": _concatenated, "concat_ws": _joined}
"""Functions of texts that leave nulls out."""
