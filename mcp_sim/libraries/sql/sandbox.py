"""Limits and functions for SQL statements: denied actions, step limits, the world's time and randomness."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from mcp_sim.libraries.sql.functions import register_functions
from mcp_sim.types.draws import Draws

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
        register_functions(connection, self._charge, self._refuse)
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
