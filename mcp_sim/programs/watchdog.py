"""End programs that run too long, as far as Python allows: not within a single call into C."""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock, Thread, get_ident
from time import monotonic, sleep

LIMIT = 10.0
"""Seconds that one call of a program may take. Far more than any call needs, and less than clients wait (TypeScript
SDK: 60)."""

_PERIOD = 0.5  # fine enough for a limit of ten seconds, and costs nothing


class Overrun(BaseException):
    """A program ran for too long. No `Exception`, so that a program does not catch it by accident."""


@dataclass(slots=True)
class _Watchdog:
    """Raises `Overrun` in threads whose deadline has passed."""

    deadlines: dict[int, float] = field(default_factory=dict[int, float])
    """By the identifier of the thread."""
    raised: set[int] = field(default_factory=set[int])
    lock: Lock = field(default_factory=Lock)
    wake: Event = field(default_factory=Event)
    thread: Thread | None = None

    def begin(self, thread: int) -> None:
        self.deadlines[thread] = monotonic() + LIMIT
        if not self.wake.is_set():
            self._start()

    def end(self, thread: int) -> None:
        with self.lock:
            self.deadlines.pop(thread, None)
            if thread in self.raised:
                self.raised.discard(thread)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), None)

    def _start(self) -> None:
        with self.lock:
            self.wake.set()
            if self.thread is None or not self.thread.is_alive():
                self.thread = Thread(target=self._watch, name="mcp-sim programs", daemon=True)
                self.thread.start()

    def _watch(self) -> None:
        while True:
            self.wake.wait()
            sleep(_PERIOD)
            with self.lock:
                now = monotonic()
                for thread, deadline in [*self.deadlines.items()]:
                    if deadline < now:  # again in each period: Python drops what is raised in a finalizer
                        self.raised.add(thread)
                        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Overrun))
                if not self.deadlines:
                    self.wake.clear()
                if self.deadlines:  # one began in between, and saw that the thread was awake
                    self.wake.set()


_WATCHDOG = _Watchdog()


@contextmanager
def watched() -> Generator[None]:
    """Raise `Overrun` if the block takes longer than `LIMIT`."""
    thread = get_ident()
    _WATCHDOG.begin(thread)
    try:
        yield
    finally:
        _WATCHDOG.end(thread)
