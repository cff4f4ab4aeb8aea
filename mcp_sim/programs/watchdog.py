"""End programs that run too long or take too much memory, as far as Python allows: not within a single call into C."""

from __future__ import annotations

import asyncio
import ctypes
import os
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from mmap import PAGESIZE
from pathlib import Path
from threading import Event, Lock, Thread, get_ident
from time import monotonic, sleep
from typing import TypeVar

from anyio import CapacityLimiter, move_on_after, to_thread

from mcp_sim.types.errors import Crash

T = TypeVar("T")

LIMIT = 10.0
"""Seconds of processor time that one call of a program may take: far more than any call needs. Real time would turn
calls into crashes where other programs have the processor."""

LONGEST = 40.0
"""Seconds of real time that a call may take, for one that waits. It leaves a call of `LIMIT` a quarter of a processor,
and is less than clients wait (TypeScript SDK: 60)."""

GRACE = 5.0
"""Seconds after `LONGEST` until a thread is given up that does not come back from C."""

MOST_GIVEN_UP = 32
"""Threads that have been given up and still wait. Each may keep what its call has read."""

MOST_BYTES = 128 * 1024 * 1024
"""By how much the process may grow during a call (Linux). A text that doubles itself takes three times as much before
it is ended. Its last copy keeps all other threads waiting: 512 MB take 300 ms."""

_PERIOD = 0.02
"""Seconds: a text that doubles itself grows by about 40 MB meanwhile."""

_STATM = Path("/proc/self/statm")


class Overrun(BaseException):
    """A program ran for too long. No `Exception`, so that a program does not catch it by accident."""

    reason = f"the program did not end within {LIMIT:g} seconds of processor time"


class Overdue(Overrun):
    """A program waited for too long."""

    reason = f"the program did not end within {LONGEST:g} seconds"


class Overgrown(Overrun):
    """A program took too much memory."""

    reason = f"the program took more than {MOST_BYTES >> 20} MB of memory"


@dataclass(slots=True)
class _Watchdog:
    """Raises `Overrun` in threads that have taken too long, or since whose call the process has grown too much."""

    calls: dict[int, tuple[float, int]] = field(default_factory=dict[int, tuple[float, int]])
    """By the identifier of the thread: the deadline, and the bytes of the process when the call began."""
    used: dict[tuple[int, float], float] = field(default_factory=dict[tuple[int, float], float])
    """The processor time of a thread when the watchdog first saw a call: its thread and its deadline."""
    raised: set[int] = field(default_factory=set[int])
    lock: Lock = field(default_factory=Lock)
    wake: Event = field(default_factory=Event)
    thread: Thread | None = None

    def begin(self, thread: int) -> None:
        self.calls[thread] = monotonic() + LONGEST, _MEMORY.bytes()
        if not self.wake.is_set():
            with self.lock:
                self.wake.set()
                if self.thread is None or not self.thread.is_alive():
                    self.thread = Thread(target=self._watch, name="mcp-sim programs", daemon=True)
                    self.thread.start()

    def end(self, thread: int) -> None:
        with self.lock:
            self.calls.pop(thread, None)
            was_raised = thread in self.raised
            self.raised.discard(thread)
        if was_raised:
            # Take what was raised in this thread and has not arrived yet, by raising it once more. If it is taken
            # back instead, Python 3.11 looks for it at each call from then on, and hangs under a profiler.
            try:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Overrun))
                for _ in range(10):  # it arrives where a loop begins again
                    pass
            except Overrun:
                pass

    def _watch(self) -> None:
        while True:
            self.wake.wait()
            sleep(_PERIOD)
            with self.lock:
                self._check(monotonic(), _MEMORY.bytes())
                if not self.calls:
                    self.wake.clear()
                if self.calls:  # one began in between, and saw that the thread was awake
                    self.wake.set()

    def _check(self, now: float, size: int) -> None:
        calls = [*self.calls.items()]
        seconds = {(thread, deadline): _processor_seconds(thread) for thread, (deadline, _) in calls}
        self.used = {call: self.used.get(call, seconds[call]) for call in seconds}
        for thread, (deadline, bytes_before) in calls:
            call = (thread, deadline)
            error = (
                Overrun
                if seconds[call] - self.used[call] > LIMIT
                else Overdue
                if deadline < now
                else Overgrown
                if size - bytes_before > MOST_BYTES
                else None
            )
            if error is not None:  # again in each period: Python drops what is raised in a finalizer
                self.raised.add(thread)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _processor_seconds(thread: int) -> float:
    """Return the processor time of a living thread; elsewhere than on Linux that of the process, which is more."""
    if hasattr(time, "pthread_getcpuclockid"):
        return time.clock_gettime(time.pthread_getcpuclockid(thread))
    return time.process_time()


class _Memory:
    """The memory of this process (Linux; 0 elsewhere).

    It is read without giving the interpreter to other threads, as reading a file does: one that copies a large text
    would return it after the next copy only, which is twice as large.
    """

    def __init__(self) -> None:
        self._text = ctypes.create_string_buffer(64)
        self._read = ctypes.PyDLL(None).pread if _STATM.exists() else None
        self._file = -1

    def bytes(self) -> int:
        if self._read is None:
            return 0
        for _ in range(2):
            if self._file < 0:
                try:
                    self._file = os.open(_STATM, os.O_RDONLY)
                except OSError:  # in a confined process, whose memory has a hard limit
                    return 0
            length = self._read(self._file, self._text, len(self._text) - 1, ctypes.c_long(0))
            if length > 0:
                return int(self._text.raw[:length].split()[1]) * PAGESIZE
            self._file = -1  # somebody has closed the files of this process
        return 0

    def renew(self) -> None:
        """Read that of this process from now on: after a fork the file is still that of the parent."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


_MEMORY = _Memory()
_WATCHDOG = _Watchdog()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WATCHDOG.__init__)  # a forked process has only the thread that forked
    os.register_at_fork(after_in_child=_MEMORY.renew)


@contextmanager
def watched() -> Generator[None]:
    """Raise `Overrun` if the block takes longer than `LIMIT` or `LONGEST`, or the process grows by `MOST_BYTES`."""
    thread = get_ident()
    _WATCHDOG.begin(thread)
    try:
        yield
    finally:
        try:
            _WATCHDOG.end(thread)
        except Overrun:  # on the way, so that the thread may still be watched
            _WATCHDOG.end(thread)


_GIVEN_UP = list[Thread]()


async def in_thread(tool: str, function: Callable[[], T], limiter: CapacityLimiter | None = None) -> T:
    """Call a function that answers a tool in a thread, and return what it returns.

    Raises `Crash` if it does not come back from a call into C. Its thread goes on, and is ended once it does. It is a
    daemon thread, unlike those of AnyIO, since Python waits for all others before it exits.
    """
    async with limiter or to_thread.current_default_thread_limiter():
        _GIVEN_UP[:] = [thread for thread in _GIVEN_UP if thread.is_alive()]
        if len(_GIVEN_UP) >= MOST_GIVEN_UP:
            raise Crash(tool, f"{len(_GIVEN_UP)} calls of programs have not ended")
        outcome = Future[T]()
        outcome.set_running_or_notify_cancel()
        thread = Thread(target=copy_context().run, args=(_settle, outcome, function), name="mcp-sim call", daemon=True)
        thread.start()
        with move_on_after(LONGEST + GRACE, shield=True):
            return await asyncio.wrap_future(outcome)
        _GIVEN_UP.append(thread)
        raise Crash(tool, Overdue.reason)


def _settle(outcome: Future[T], function: Callable[[], T]) -> None:
    try:
        outcome.set_result(function())
    except BaseException as error:  # noqa: BLE001 (raised where the call is awaited)
        outcome.set_exception(error)
