"""What may a statement do: how far it may go, what is denied, and what time and chance it sees?"""

from __future__ import annotations

import sqlite3
from datetime import datetime

from mcp_sim.backends.sql.functions import Functions
from mcp_sim.types.draws import Draws

MOST_STEPS = 5_000_000
MOST_ROWS = 10_000
LONGEST_VALUE = 1_000_000
"""So many bytes may a value have."""

RECURSIVE_STEPS = 1_000_000
SMALL_VALUE = 10_000
"""The same for a statement that looks at its own rows, and may come to the last step, or that fills values up."""

MOST_TOLD = 10_000_000
"""So many characters may a result have."""

_EVERY = 10_000
_FREE = 64
"""So many characters does a function look at in a step."""

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
_FILLING = frozenset({"zeroblob", "randomblob", "printf", "format"})
_FUNCTIONS = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"})


class Sandbox:
    """The bounds of one connection. `reason` is what was denied last."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._steps, self._most = 0, MOST_STEPS
        self.reason: str | None = None
        self._functions = Functions(connection, self._charge)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 500)

    def enter(self, now: datetime, draws: Draws) -> None:
        """From now on a user's statement runs, at this time and with this chance."""
        self._functions.enter(now, draws)
        self._steps, self._most, self.reason = 0, MOST_STEPS, None
        self._connection.set_authorizer(self._authorize)
        self._connection.set_progress_handler(self._step, _EVERY)

    def leave(self) -> None:
        self._connection.set_authorizer(None)
        self._connection.set_progress_handler(None, 0)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)

    def _step(self) -> int:
        self._steps += _EVERY
        return self._is_over()

    def _charge(self, characters: int) -> None:
        """A function looked at so many characters, which SQLite does not count."""
        self._steps += characters // _FREE
        if self._is_over():
            raise ValueError(self.reason)

    def _is_over(self) -> int:
        if self._steps < self._most:
            return 0
        self.reason = f"The statement takes more than {self._most:,} steps; narrow it down"
        return 1

    def _tighten(self, action: int, function: str) -> None:
        """Steps of such a statement are worth more: each may copy a whole value."""
        if action == sqlite3.SQLITE_RECURSIVE:
            self._most = RECURSIVE_STEPS
        if action == sqlite3.SQLITE_RECURSIVE or (action == sqlite3.SQLITE_FUNCTION and function in _FILLING):
            self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, SMALL_VALUE)

    def _authorize(self, action: int, one: str | None, two: str | None, _base: str | None, _by: str | None) -> int:
        self._tighten(action, (two or "").lower())
        if action in _DENIED:
            self.reason = f"{_DENIED[action]} is not allowed here"
        elif action == sqlite3.SQLITE_PRAGMA and ((one or "").lower() not in _PRAGMAS or _sets(one, two)):
            self.reason = f"PRAGMA {one} is not allowed here"
        elif action == sqlite3.SQLITE_FUNCTION and (two or "").lower() in _FUNCTIONS:
            self.reason = f"The function {two} is not allowed here"
        else:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY


def _sets(pragma: str | None, argument: str | None) -> bool:
    """Does a PRAGMA that tells a number also set it?"""
    return argument is not None and (pragma or "").lower() in {"user_version", "schema_version", "encoding"}
