"""What may a statement do: how far it may go, what is denied, and what time and chance it sees?"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from typing import Any

from mcp_sim.draws import Draws

MOST_STEPS = 5_000_000
MOST_ROWS = 10_000
LONGEST_VALUE = 5_000_000

_EVERY = 10_000
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
_FUNCTIONS = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"})
_TIMES = ("date", "time", "datetime", "julianday", "unixepoch")


class Sandbox:
    """The bounds of one connection. `reason` is what was denied last."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._plain = sqlite3.connect(":memory:", check_same_thread=False)
        self._steps = 0
        self._now = ""
        self._unit: Callable[[], float] = lambda: 0.0
        self.reason: str | None = None
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._teach()

    def enter(self, now: datetime, draws: Draws) -> None:
        """From now on a user's statement runs, at this time and with this chance."""
        self._now = now.strftime("%Y-%m-%d %H:%M:%S")
        count = iter(range(MOST_STEPS))
        self._unit = lambda: draws.unit(f"sql/{next(count, 0)}")
        self._steps, self.reason = 0, None
        self._connection.set_authorizer(self._authorize)
        self._connection.set_progress_handler(self._step, _EVERY)

    def leave(self) -> None:
        self._connection.set_authorizer(None)
        self._connection.set_progress_handler(None, 0)

    def _step(self) -> int:
        self._steps += _EVERY
        if self._steps < MOST_STEPS:
            return 0
        self.reason = f"The statement takes more than {MOST_STEPS:,} steps; narrow it down"
        return 1

    def _authorize(self, action: int, one: str | None, two: str | None, _base: str | None, _by: str | None) -> int:
        if action in _DENIED:
            self.reason = f"{_DENIED[action]} is not allowed here"
        elif action == sqlite3.SQLITE_PRAGMA and ((one or "").lower() not in _PRAGMAS or _sets(one, two)):
            self.reason = f"PRAGMA {one} is not allowed here"
        elif action == sqlite3.SQLITE_FUNCTION and (two or "").lower() in _FUNCTIONS:
            self.reason = f"The function {two} is not allowed here"
        else:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    # time and chance

    def _teach(self) -> None:
        """SQLite's own time and chance are the machine's: the world's take their place."""
        add = self._connection.create_function
        for name in _TIMES:
            add(name, -1, self._timed(name, 0))
        add("strftime", -1, self._timed("strftime", 1))
        add("current_timestamp", 0, lambda: self._now)
        add("current_date", 0, lambda: self._now[:10])
        add("current_time", 0, lambda: self._now[11:])
        add("random", 0, lambda: int((self._unit() - 0.5) * 2**53))
        add("randomblob", 1, self._bytes)
        add("now", 0, lambda: self._now)

    def _bytes(self, size: int) -> bytes:
        return bytes(int(self._unit() * 256) for _ in range(max(1, min(size, 4096))))

    def _timed(self, name: str, at: int) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            given = list(arguments) if len(arguments) > at else [*arguments, "now"]
            if isinstance(given[at], str) and given[at].lower() == "now":
                given[at] = self._now
            marks = ", ".join("?" * len(given))
            return self._plain.execute(f"SELECT {name}({marks})", given).fetchone()[0]

        return call


def _sets(pragma: str | None, argument: str | None) -> bool:
    """Does a PRAGMA that tells a number also set it?"""
    return argument is not None and (pragma or "").lower() in {"user_version", "schema_version", "encoding"}
