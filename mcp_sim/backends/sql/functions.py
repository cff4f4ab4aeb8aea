"""Which functions does SQL see in the place of SQLite's: the world's time and chance, and none that takes for ever?"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any

from mcp_sim.backends.patterns import Test, holds_match, like_test
from mcp_sim.backends.sql.analytics import Charge, teach
from mcp_sim.types.draws import Draws

_TIMES = ("date", "time", "datetime", "julianday", "unixepoch")
_MOST_DRAWN = 4096


class Functions:
    """What the statements of one connection call. Time and chance are those of the call under way."""

    def __init__(self, connection: sqlite3.Connection, charge: Charge) -> None:
        self._plain = sqlite3.connect(":memory:", check_same_thread=False)
        self._charge = charge
        self._now = ""
        self._unit: Callable[[], float] = lambda: 0.0
        self._teach_time_and_chance(connection)
        self._teach_texts(connection)
        teach(connection, charge)

    def enter(self, now: datetime, draws: Draws) -> None:
        """From now on a statement runs at this time and with this chance."""
        self._now = now.strftime("%Y-%m-%d %H:%M:%S")
        count = iter(range(10**9))
        self._unit = lambda: draws.unit(f"sql/{next(count, 0)}")

    def _teach_time_and_chance(self, connection: sqlite3.Connection) -> None:
        """SQLite's own time and chance are the machine's: the world's take their place."""
        add = connection.create_function
        for name in _TIMES:
            add(name, -1, self._timed(name, 0))
        add("strftime", -1, self._timed("strftime", 1))
        add("current_timestamp", 0, lambda: self._now)
        add("current_date", 0, lambda: self._now[:10])
        add("current_time", 0, lambda: self._now[11:])
        for name in ("now", "getdate", "sysdate"):
            add(name, 0, lambda: self._now)
        add("curdate", 0, lambda: self._now[:10])
        add("random", 0, lambda: int((self._unit() - 0.5) * 2**53))
        add("rand", 0, lambda: self._unit())  # noqa: PLW0108 (it is another one in each call)
        add("randomblob", 1, self._bytes)

    def _teach_texts(self, connection: sqlite3.Connection) -> None:
        """Those of SQLite's whose time grows with the product of two lengths, in time that grows with their sum."""
        for name, size, call in (
            ("like", 2, self._like), ("like", 3, self._like), ("glob", 2, self._glob), ("regexp", 2, self._regexp),
            ("replace", 3, self._replace), ("instr", 2, self._instr),
        ):  # fmt: skip
            connection.create_function(name, size, _null_for_null(call), deterministic=True)

    def _like(self, pattern: Any, text: Any, escape: Any = "") -> bool:
        self._charge(len(str(text)))
        return _like_test(str(pattern), str(escape))(str(text))

    def _glob(self, pattern: Any, text: Any) -> bool:
        self._charge(len(str(text)))
        return _glob_test(str(pattern))(str(text))

    def _regexp(self, expression: Any, text: Any) -> bool:
        self._charge(len(str(text)))
        return _expression_test(str(expression))(str(text))

    def _replace(self, text: Any, old: Any, new: Any) -> str:
        found = str(text).replace(str(old), str(new)) if str(old) else str(text)
        self._charge(len(found))
        return found

    def _instr(self, text: Any, part: Any) -> int:
        self._charge(len(str(text)))
        return str(text).find(str(part)) + 1

    def _bytes(self, size: int) -> bytes:
        return bytes(int(self._unit() * 256) for _ in range(max(1, min(size, _MOST_DRAWN))))

    def _timed(self, name: str, at: int) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            given = list(arguments) if len(arguments) > at else [*arguments, "now"]
            if isinstance(given[at], str) and given[at].lower() == "now":
                given[at] = self._now
            marks = ", ".join("?" * len(given))
            return self._plain.execute(f"SELECT {name}({marks})", given).fetchone()[0]

        return call


def _null_for_null(call: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *arguments: None if None in arguments else call(*arguments)


@lru_cache(maxsize=128)
def _like_test(pattern: str, escape: str) -> Test:
    return like_test(pattern, escape)


@lru_cache(maxsize=128)
def _expression_test(expression: str) -> Test:
    return holds_match(expression)


@lru_cache(maxsize=128)
def _glob_test(pattern: str) -> Test:
    return like_test(pattern, "", many="*", one="?", ignores_case=False)
