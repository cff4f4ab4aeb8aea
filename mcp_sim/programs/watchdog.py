"""End programs that run too long or take too much memory, as far as Python allows: not within a single call into C."""

from __future__ import annotations

import ctypes
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from mmap import PAGESIZE
from pathlib import Path
from threading import Event, Lock, Thread, get_ident
from time import monotonic, sleep

LIMIT = 10.0
"""Seconds that one call of a program may take. Far more than any call needs, and less than clients wait (TypeScript
SDK: 60)."""

MOST_BYTES = 128 * 1024 * 1024
"""By how much the process may grow during a call (Linux). A text that doubles itself takes three times as much before
it is ended. Its last copy keeps all other threads waiting: 512 MB take 300 ms."""

_PERIOD = 0.05
"""Seconds: a text that doubles itself grows by about 100 MB meanwhile."""

_STATM = Path("/proc/self/statm")


class Overrun(BaseException):
    """A program ran for too long. No `Exception`, so that a program does not catch it by accident."""

    reason = f"the program did not end within {LIMIT:g} seconds"


class Overgrown(Overrun):
    """A program took too much memory."""

    reason = f"the program took more than {MOST_BYTES >> 20} MB of memory"


@dataclass(slots=True)
class _Watchdog:
    """Raises `Overrun` in threads whose deadline has passed, or since whose call the process has grown too much."""

    deadlines: dict[int, float] = field(default_factory=dict[int, float])
    """By the identifier of the thread."""
    sizes: dict[tuple[int, float], int] = field(default_factory=dict[tuple[int, float], int])
    """The bytes of the process when the watchdog first saw a call: its thread and its deadline."""
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
            was_raised = thread in self.raised
            self.raised.discard(thread)
        if was_raised:
            _receive(thread)

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
                self._check(monotonic(), _bytes_of_process())
                if not self.deadlines:
                    self.wake.clear()
                if self.deadlines:  # one began in between, and saw that the thread was awake
                    self.wake.set()

    def _check(self, now: float, size: int) -> None:
        calls = [*self.deadlines.items()]
        self.sizes = {call: self.sizes.get(call, size) for call in calls}
        for call in calls:
            thread, deadline = call
            error = Overrun if deadline < now else Overgrown if size - self.sizes[call] > MOST_BYTES else None
            if error is not None:  # again in each period: Python drops what is raised in a finalizer
                self.raised.add(thread)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _receive(thread: int) -> None:
    """Take what was raised in this thread and has not arrived yet, by raising it once more.

    If it is taken back instead, Python 3.11 looks for it at each call from then on, and hangs under a profiler.
    """
    try:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Overrun))
        for _ in range(10):  # it arrives where a loop begins again
            pass
    except Overrun:
        pass


def _bytes_of_process() -> int:
    """Return the memory that this process has (Linux; 0 elsewhere)."""
    try:
        return int(_STATM.read_text(encoding="ascii").split()[1]) * PAGESIZE
    except OSError:
        return 0


_WATCHDOG = _Watchdog()


@contextmanager
def watched() -> Generator[None]:
    """Raise `Overrun` if the block takes longer than `LIMIT`, or the process grows by more than `MOST_BYTES`."""
    thread = get_ident()
    _WATCHDOG.begin(thread)
    try:
        yield
    finally:
        try:
            _WATCHDOG.end(thread)
        except Overrun:  # on the way, so that the thread may still be watched
            _WATCHDOG.end(thread)
