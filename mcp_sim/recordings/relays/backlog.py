"""A queue of what passes through a proxy, read in a thread of its own, so that no reader holds up the proxy."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from threading import Condition, Thread
from typing import Any, Protocol

from mcp_sim.types.errors import UsageError

MOST_BYTES = 64 * 1024 * 1024
"""Bytes that may wait. What passes while they do is not recorded."""

FINISH_SECONDS = 10.0
"""Seconds without progress after which the rest is given up once the proxy ends. A slow disk or a busy machine must not
lose the end of a session, and a broken disk must not keep the proxy."""

_START, _START_MONOTONIC = time.time(), time.monotonic()


def now() -> float:
    """Return the seconds since 1970, which never go back within a process."""
    return _START + time.monotonic() - _START_MONOTONIC


class Reader(Protocol):
    """What reads the queue. It may raise: then nothing more is read."""

    def take(self, kind: str, channel: int, data: Any, at: float) -> None: ...

    def finish(self, at: float) -> None: ...


class Backlog:
    """A queue of events for a reader, which `make` opens in the thread that reads."""

    def __init__(self, make: Callable[[], Reader]) -> None:
        self._make = make
        self._waiting = deque[tuple[str, int, Any, float]]()
        self._bytes = 0
        self._is_ended = False
        self._failure: str | None = None
        self._dropped = self._taken = 0
        self._changed = Condition()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, kind: str, channel: int, data: Any = None) -> None:
        """Add an event: bytes that passed, or something that happened on a channel."""
        size = len(data) if isinstance(data, bytes) else 0
        with self._changed:
            if self._failure is not None:
                return
            if self._bytes + size > MOST_BYTES:
                if not self._dropped:
                    warn("messages come faster than they can be recorded; some are missing in the recording")
                self._dropped += 1
                return
            self._waiting.append((kind, channel, data, now()))
            self._bytes += size
            self._changed.notify()

    def finish(self) -> bool:
        """Wait until everything is read. Return False if the reader is at one event for `FINISH_SECONDS`."""
        with self._changed:
            self._is_ended = True
            self._changed.notify()
        is_stuck = False
        while self._thread.is_alive() and not is_stuck:
            before = self._taken
            self._thread.join(FINISH_SECONDS)
            is_stuck = self._taken == before
        if self._thread.is_alive():
            warn("the recording is not complete: it takes too long to write")
            return False
        return True

    def _run(self) -> None:
        try:
            reader = self._make()
            while (event := self._next()) is not None:
                reader.take(*event)
            reader.finish(now())
        except Exception as error:  # noqa: BLE001 (the proxy goes on without a recording)
            warn(f"recording stopped, the connection goes on: {_reason(error)}")
            with self._changed:
                self._failure = str(error)
                self._waiting.clear()

    def _next(self) -> tuple[str, int, Any, float] | None:
        with self._changed:
            while not self._waiting and not self._is_ended:
                self._changed.wait()
            if not self._waiting:
                return None
            event = self._waiting.popleft()
            self._taken += 1
            self._bytes -= len(event[2]) if isinstance(event[2], bytes) else 0
            return event


def _reason(error: Exception) -> str:
    if isinstance(error, OSError):
        return f"{error.strerror}{f': {error.filename}' if error.filename else ''}"
    return str(error) if isinstance(error, UsageError) else f"{type(error).__name__}: {error}"


def warn(text: str) -> None:
    """Write a line to stderr, if there is one."""
    try:
        print(f"mcp-sim: {text}", file=sys.stderr, flush=True)  # noqa: T201 (stderr of a command)
    except (OSError, ValueError):
        return
