"""SQL functions that SQLite lacks, and those whose time grows with the product of two lengths, in linear time."""

from __future__ import annotations

import re
import sqlite3
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any, cast

from mcp_sim.plans.patterns import Test, check_work, compile_expression, find_all, like_test, search_test
from mcp_sim.plans.refusal import Refused
from mcp_sim.types.json_values import encode

Rows = Sequence[tuple[Any, ...]]
Charge = Callable[[int], None]
"""Counts the characters that a function processes. Raises an error beyond the limit."""

LONGEST = 1_000_000
"""Maximum length of a padded text."""

MOST_REPLACED = 500_000_000
"""Maximum product of the length of a text and the number of matches that are replaced in it."""

_CALL = 1_024
"""Number of characters that each call of a function counts as."""

_ROW = 64
"""Minimum number of characters that a row of an aggregate counts as."""


def register_functions(connection: sqlite3.Connection, charge: Charge, refuse: Callable[[str], None]) -> None:
    """Register the functions with a connection. `refuse` takes the reason why a function refuses its arguments."""
    for (name, size), call in _SCALARS.items():
        connection.create_function(name, size, _refusing(_charged(call, charge), refuse), deterministic=True)
    for (name, size), make in _TESTS.items():
        connection.create_function(name, size, _refusing(_matching(make, charge), refuse), deterministic=True)
    for name, (size, finish) in _AGGREGATES.items():
        # The type stubs do not know this class; sqlite3 accepts it.
        connection.create_aggregate(name, size, _aggregate(finish, charge))  # pyright: ignore[reportArgumentType]


def _refusing(call: Callable[..., Any], refuse: Callable[[str], None]) -> Callable[..., Any]:
    """Return a function that passes the reason of a refusal on: SQLite only reports that there was an error."""

    def called(*arguments: Any) -> Any:
        try:
            return call(*arguments)
        except Refused as refused:
            refuse(str(refused))
            raise

    return called


def _charged(call: Callable[..., Any], charge: Charge) -> Callable[..., Any]:
    def counted(*arguments: Any) -> Any:
        result = call(*arguments)
        charge(_CALL + sum(len(str(argument)) for argument in (*arguments, result)))
        return result

    return counted


def _matching(make: Callable[..., Test], charge: Charge) -> Callable[..., Any]:
    """Return a function that takes a pattern, a text and perhaps an escape, and returns whether the text matches."""

    def matched(*given: Any) -> bool | None:
        if None in given:
            return None
        pattern, text, *escape = map(str, given)
        test = make(pattern, *escape)
        charge(_CALL + len(text) * test.size)
        return test(text)

    return matched


def _aggregate(finish: Callable[[Rows], Any], charge: Charge) -> Callable[[], Any]:
    class Aggregate:
        """Collects the rows of one group."""

        def __init__(self) -> None:
            self._rows: list[tuple[Any, ...]] = []

        def step(self, *values: Any) -> None:
            charge(_ROW + sum(len(str(value)) for value in values))
            if values[0] is not None:
                self._rows.append(values)

        def finalize(self) -> Any:
            return finish(self._rows) if self._rows else None

    return Aggregate


def _numbers(rows: Rows) -> list[float]:
    return [row[0] for row in rows if isinstance(row[0], int | float)]


def _spread(measure: Callable[[Any], float], least: int) -> Callable[[Rows], Any]:
    return lambda rows: measure(_numbers(rows)) if len(_numbers(rows)) >= least else None


def _percentile(rows: Rows) -> Any:
    """Return the interpolated percentile."""
    numbers, share = sorted(_numbers(rows)), float(rows[0][1])
    at = share * (len(numbers) - 1)
    low = int(at)
    high = min(low + 1, len(numbers) - 1)
    return numbers[low] + (numbers[high] - numbers[low]) * (at - low) if numbers else None


def _nearest_percentile(rows: Rows) -> Any:
    values = sorted(row[0] for row in rows)
    return values[max(0, -int(-float(rows[0][1]) * len(values) // 1) - 1)]


def _sorted_by(rows: Rows, at: int) -> Rows:
    """Return the rows sorted by the value at an index, descending if the next value is 1."""
    if not rows or len(rows[0]) <= at:
        return rows
    return sorted(rows, key=lambda row: _sort_key(row[at]), reverse=bool(rows[0][at + 1]))


def _sort_key(value: Any) -> tuple[int, Any]:
    return (0, 0) if value is None else (1, value) if isinstance(value, int | float) else (2, str(value))


def _correlation(rows: Rows) -> Any:
    columns = [*zip(*(row for row in rows if None not in row), strict=True)]
    return statistics.correlation(*columns) if columns and all(len({*column}) > 1 for column in columns) else None


_AGGREGATES: Mapping[str, tuple[int, Callable[[Rows], Any]]] = {
    "stddev": (1, _spread(statistics.stdev, 2)), "stddev_samp": (1, _spread(statistics.stdev, 2)),
    "stddev_pop": (1, _spread(statistics.pstdev, 1)), "variance": (1, _spread(statistics.variance, 2)),
    "variance_pop": (1, _spread(statistics.pvariance, 1)), "median": (1, _spread(statistics.median, 1)),
    "percentile_cont": (2, _percentile), "percentile_disc": (2, _nearest_percentile),
    "mode": (1, lambda rows: Counter(row[0] for row in rows).most_common(1)[0][0]),
    "arg_max": (2, lambda rows: max(rows, key=lambda row: _sort_key(row[1]))[0]),
    "arg_min": (2, lambda rows: min(rows, key=lambda row: _sort_key(row[1]))[0]),
    "first": (1, lambda rows: rows[0][0]), "last": (1, lambda rows: rows[-1][0]),
    "array_agg": (-1, lambda rows: encode([row[0] for row in _sorted_by(rows, 1)]).decode()),
    "joined_by": (-1, lambda rows: str(rows[0][1]).join(str(row[0]) for row in _sorted_by(rows, 2))),
    "corr": (2, _correlation),
}  # fmt: skip


def _of_texts(
    call: Callable[[str], Any] | Callable[[str, str], Any] | Callable[[str, str, str], Any],
) -> Callable[..., Any]:
    """Return a function that returns null if an argument is null, and takes each as a text."""
    whole = cast("Callable[..., Any]", call)
    return lambda *given: None if None in given else whole(*map(str, given))


_cached = lru_cache(maxsize=128)
_expression, _like_test, _search_test = _cached(compile_expression), _cached(like_test), _cached(search_test)
_glob_test = _cached(partial(like_test, escape="", many="*", single="?", ignores_case=False))


def _extracted(text: str, pattern: str, group: str = "0") -> str:
    hit = next(find_all(_expression(pattern), text), None)
    return "" if hit is None or hit[int(group)] is None else hit[int(group)]


def _replaced(text: str, pattern: str, put: str, flags: str = "") -> str:
    expression = _expression(pattern)
    check_work(text, expression.programsize * (1 + expression.groups))
    most = MOST_REPLACED // (len(text) + 1) + 1 if "g" in flags else 1
    result, many = expression.subn(re.sub(r"\$(\d)", r"\\\1", put), text, most)
    if many == most > 1:
        raise Refused("invalid", "The pattern matches too often for a text of this length")
    return result


def _split(text: str, mark: str, number: str) -> str:
    parts, at = text.split(mark) if mark else [text], int(number)
    return parts[at - 1 if at > 0 else at] if 0 < abs(at) <= len(parts) else ""


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


def _joined_with(mark: Any, *parts: Any) -> str:
    return str(mark).join(str(item) for item in parts if item is not None)


def _padded(text: str, size: str, filling: str = " ", *, at_left: bool) -> str:
    missing = max(0, min(int(size), LONGEST) - len(text))
    filled = (filling * missing)[:missing]
    return (filled + text if at_left else text + filled)[: max(0, int(size))]


_SCALARS: Mapping[tuple[str, int], Callable[..., Any]] = {
    ("regexp_extract", -1): _of_texts(_extracted), ("regexp_substr", -1): _of_texts(_extracted),
    ("regexp_replace", -1): _of_texts(_replaced), ("split_part", -1): _of_texts(_split),
    ("concat", -1): partial(_joined_with, ""), ("concat_ws", -1): _joined_with,
    ("contains", -1): _of_texts(str.__contains__), ("starts_with", -1): _of_texts(str.startswith),
    ("ends_with", -1): _of_texts(str.endswith), ("reverse", -1): _of_texts(lambda text: text[::-1]),
    ("lpad", -1): _of_texts(partial(_padded, at_left=True)), ("rpad", -1): _of_texts(partial(_padded, at_left=False)),
    ("initcap", -1): _of_texts(str.title), ("date_trunc", -1): _of_texts(_truncated),
    ("replace", 3): _of_texts(lambda text, old, new: text.replace(old, new) if old else text),
    ("instr", 2): _of_texts(lambda text, wanted: text.find(wanted) + 1),
}  # fmt: skip
"""Name and number of arguments, -1 for any -> the function."""

_TESTS: Mapping[tuple[str, int], Callable[..., Test]] = {
    ("like", 2): _like_test, ("like", 3): _like_test, ("glob", 2): _glob_test, ("regexp", 2): _search_test,
}  # fmt: skip
"""Name and number of arguments -> the maker of the test of a text."""
