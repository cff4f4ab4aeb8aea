"""Limits and functions for SQL statements.

Denied actions, step limits, the world's time and randomness, and functions that SQLite lacks and other databases have.
"""

from __future__ import annotations

import re
import sqlite3
import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache, partial
from typing import Any

from mcp_sim.libraries.patterns import PatternError, search_test
from mcp_sim.types.draws import Draws
from mcp_sim.types.json_values import encode

MAX_STEPS = 5_000_000  # a join without a condition must not hold the world for seconds
MAX_ROWS = 10_000  # an answer is one text in memory, copied to the ledger
MAX_CHARACTERS = 10_000_000
"""Maximum number of characters in a result."""
MAX_VALUE_BYTES = 1_000_000
"""Maximum size of a value in bytes."""
RECURSIVE_STEPS = 1_000_000
SMALL_VALUE = 10_000
"""The same for recursive statements and those that fill values, where each step may copy a whole value."""
_STEPS_PER_CHECK = 10_000  # oftener would slow statements down, more rarely would let a step with large values run on
_CHARACTERS_PER_STEP = 64
"""Number of characters that a function may process per step."""
_CALL = 8_192
"""Number of characters that a call of a function of time counts as: it runs a statement of its own."""

_DENIED = {
    sqlite3.SQLITE_ATTACH: "ATTACH", sqlite3.SQLITE_DETACH: "DETACH", sqlite3.SQLITE_TRANSACTION: "A transaction",
    sqlite3.SQLITE_SAVEPOINT: "SAVEPOINT", sqlite3.SQLITE_CREATE_VTABLE: "A virtual table",
    sqlite3.SQLITE_CREATE_TEMP_TABLE: "A temporary table", sqlite3.SQLITE_CREATE_TEMP_VIEW: "A temporary view",
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER: "A temporary trigger", sqlite3.SQLITE_ANALYZE: "ANALYZE",
}  # fmt: skip
_PRAGMAS = frozenset({
    "table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list",
    "database_list", "function_list", "collation_list", "compile_options", "user_version", "schema_version", "encoding",
})  # fmt: skip
_SETTINGS = frozenset({"user_version", "schema_version", "encoding"})
"""Those that an argument sets."""
_FILLING_FUNCTIONS = frozenset({"zeroblob", "randomblob"})
_FUNCTIONS = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"})
_CLOCK: Mapping[str, slice] = {
    **dict.fromkeys(("current_timestamp", "now", "getdate", "sysdate"), slice(None)),
    **dict.fromkeys(("current_date", "curdate"), slice(10)), "current_time": slice(11, None),
}  # fmt: skip
"""Function -> the part of the time that it returns."""
_MOST_DRAWN = 4096  # bytes are drawn one by one from the seed
_CONVERSION = re.compile(r"%[-+ 0#!,]*(\d+|\*)?(?:\.(\d+|\*)?)?l{0,2}(.)", re.DOTALL)
"""A conversion of `printf`: its width, its precision and its kind."""


class Sandbox:
    """The limits of one connection. `reason` is the last denial."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._steps, self._most = 0, MAX_STEPS
        self.reason: str | None = None
        self._plain = sqlite3.connect(":memory:", check_same_thread=False)
        self._plain.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        self._now = ""
        self._unit: Callable[[], float] = lambda: 0.0
        # SQLite's time and randomness are replaced by those of the world.
        add = connection.create_function
        for name in ("date", "time", "datetime", "julianday", "unixepoch", "strftime"):
            add(name, -1, partial(self._timed, name))
        for name, value in _CLOCK.items():
            add(name, 0, partial(self._clock, value))
        add("random", 0, lambda: int((self._unit() - 0.5) * 2**53))
        add("rand", 0, lambda: self._unit())  # noqa: PLW0108 (each call replaces the function)
        add("randomblob", 1, self._bytes)
        for name in ("printf", "format"):
            add(name, -1, partial(self._formatted, name))
        _register_functions(connection, self._charge, self._refuse)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 500)

    def enter(self, now: datetime, draws: Draws) -> None:
        """Start a user's statement at this time and with these draws."""
        self._now = now.strftime("%Y-%m-%d %H:%M:%S")
        count = iter(range(10**9))
        self._unit = lambda: draws.unit(f"sql/{next(count, 0)}")
        self._steps, self._most, self.reason = 0, MAX_STEPS, None
        self._connection.set_authorizer(self._authorize)
        self._connection.set_progress_handler(self._step, _STEPS_PER_CHECK)

    def leave(self) -> None:
        self._connection.set_authorizer(None)
        self._connection.set_progress_handler(None, 0)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)

    def _step(self, steps: int = _STEPS_PER_CHECK) -> int:
        self._steps += steps
        if self._steps < self._most:
            return 0
        self.reason = f"The statement takes more than {self._most:,} steps; narrow it down"
        return 1

    def _charge(self, characters: int) -> None:
        """Count characters that a function processed, which SQLite does not count."""
        if self._step(characters // _CHARACTERS_PER_STEP):
            raise ValueError(self.reason)

    def _refuse(self, reason: str) -> None:
        self.reason = reason

    def _authorize(self, action: int, subject: str | None, two: str | None, _base: str | None, _by: str | None) -> int:
        """Allow an action of a statement, or deny it. Tighten the limits of those that repeat or fill values."""
        name = ((subject if action == sqlite3.SQLITE_PRAGMA else two) or "").lower()
        if action == sqlite3.SQLITE_RECURSIVE:
            self._most = RECURSIVE_STEPS
        if action == sqlite3.SQLITE_RECURSIVE or (action == sqlite3.SQLITE_FUNCTION and name in _FILLING_FUNCTIONS):
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, SMALL_VALUE)
        if action in _DENIED:
            self.reason = f"{_DENIED[action]} is not allowed here"
        elif action == sqlite3.SQLITE_PRAGMA and (name not in _PRAGMAS or (two is not None and name in _SETTINGS)):
            self.reason = f"PRAGMA {subject} is not allowed here"
        elif action == sqlite3.SQLITE_FUNCTION and name in _FUNCTIONS:
            self.reason = f"The function {two} is not allowed here"
        else:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    def _formatted(self, name: str, *given: Any) -> Any:
        """Return what SQLite's function of this name returns. Raises `ValueError` for a large width or precision."""
        sizes = list(_sizes(str(given[0]), iter(given[1:]))) if given else []
        if max(sizes, default=0) > SMALL_VALUE:
            self._refuse("string or blob too big")
            raise ValueError(self.reason)
        self._charge(_CALL + sum(len(str(item)) for item in given) + int(sum(sizes)))
        return self._plain.execute(f"SELECT {name}({', '.join('?' * len(given))})", given).fetchone()[0]

    def _clock(self, span: slice) -> str:
        return self._now[span]

    def _bytes(self, size: int) -> bytes:
        return bytes(int(self._unit() * 256) for _ in range(max(1, min(size, _MOST_DRAWN))))

    def _timed(self, name: str, *given: Any) -> Any:
        """Return what SQLite's function of this name returns, with the world's time for `now` or no time."""
        at = int(name == "strftime")
        self._charge(_CALL)
        values = [*given] if len(given) > at else [*given, "now"]
        if str(values[at]).lower() == "now":
            values[at] = self._now
        return self._plain.execute(f"SELECT {name}({', '.join('?' * len(values))})", values).fetchone()[0]


def _sizes(form: str, values: Iterator[Any]) -> Iterator[float]:
    """Yield the widths and precisions of a format; those that are `*` are among the values."""
    for width, precision, kind in _CONVERSION.findall(form):
        for size in (width, precision):
            if size:
                yield _magnitude(next(values, 0) if size == "*" else size)
        if kind != "%":
            next(values, None)


def _magnitude(size: Any) -> float:
    try:
        return abs(float(size))
    except (TypeError, ValueError):
        return 0


# functions that SQLite lacks ------------------------------------------------------------------------------------------


Rows = Sequence[tuple[Any, ...]]
Charge = Callable[[int], None]
"""Counts the characters that a function processes. Raises an error beyond the limit."""

_TEXT_CALL = 1_024
"""Number of characters that each call of a function of texts counts as."""
_LONGEST_PATTERN = 1_000
"""The time of SQLite's LIKE grows with the product of the lengths of pattern and text."""


def _register_functions(connection: sqlite3.Connection, charge: Charge, refuse: Callable[[str], None]) -> None:
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
        charge(_TEXT_CALL + len(str(text)) * known.size)
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
        charge(_TEXT_CALL + sum(len(str(value)) for value in (*given, result)))
        return result

    return counted


def _aggregate(finish: Callable[[Rows], Any], charge: Charge) -> Callable[[], Any]:
    class Aggregate:
        """Collects the rows of one group."""

        def __init__(self) -> None:
            self._rows: list[tuple[Any, ...]] = []

        def step(self, *values: Any) -> None:
            charge(_TEXT_CALL // 16 + sum(len(str(value)) for value in values))
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
