"""One line per call for whoever watches: a sink that tells the ledger on stderr."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from copy import copy
from traceback import extract_tb

from mcp_sim.server.descriptors import write_line
from mcp_sim.server.telling import plain, told
from mcp_sim.types.json_text import decode


class CallLog:
    """Tells each entry as it is committed; with `crashes_only`, nothing but crashes; `with_worlds`, and in which world.

    The serving never waits for the telling: a line that cannot be written at once is left out.
    """

    def __init__(self, target: int, *, crashes_only: bool = False, with_worlds: bool = False) -> None:
        self._target = target
        self._crashes_only = crashes_only
        self._with_worlds = with_worlds

    def write(self, line: bytes) -> None:
        if self._crashes_only and b'"crash"' not in line:
            return
        entry = decode(line)
        if self._crashes_only and "crash" not in entry:
            return
        place = f"{entry['world']} " if self._with_worlds else ""
        self.say(f"{place}{line}" for line in told(entry))

    def say(self, lines: Iterable[str]) -> None:
        """Write lines that no ledger has."""
        for line in lines:
            write_line(self._target, line)

    def close(self) -> None:
        return


class LogLines(logging.Handler):
    """What else is logged, told in the same way: nobody waits for it."""

    def __init__(self, target: int) -> None:
        super().__init__()
        self._target = target
        self.setFormatter(_OneLine("%(levelname)s %(name)s: %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        for line in self.format(record).splitlines():
            write_line(self._target, line)


class _OneLine(logging.Formatter):
    """An exception is told in the line of its message, with the place it comes from; its way there only to debug."""

    def format(self, record: logging.LogRecord) -> str:
        error = record.exc_info[1] if record.exc_info else None
        if error is None or logging.getLogger().isEnabledFor(logging.DEBUG):
            return super().format(record)
        told = copy(record)
        told.exc_info = told.exc_text = None
        places = extract_tb(error.__traceback__)
        place = f" ({places[-1].filename}:{places[-1].lineno})" if places else ""
        return plain(f"{super().format(told)}: {type(error).__name__}: {error}{place}")
