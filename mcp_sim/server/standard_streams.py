"""The standard streams of a process that serves over stdio, its signals, and its end.

Signals end it within three seconds, also when it hangs or a call in C goes on."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import signal
import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from time import sleep
from types import FrameType

import anyio

END_SECONDS = 2.5
"""Seconds that a server gets after a signal to end, unless calls are to get more (`--grace`). Clients kill it soon."""

REPORT_SECONDS = 30.0
"""Seconds that a command gets after a signal to report what it has done. A second signal ends it at once."""

_STUCK_SECONDS = 2.5
"""Seconds of processor time after which a server is ended in which no thread but one has run."""

_PERIOD = 0.5


@dataclass(slots=True)
class StandardStreams:
    """Descriptors of the client's stream and of the stream to it.

    `left` is set when the server is to end, be it by a signal; `signals` are those that have arrived.
    """

    source: int
    target: int
    left: anyio.Event
    signals: list[int]


@contextmanager
def standard_streams() -> Generator[StandardStreams]:
    """Reserve stdin and stdout for the protocol, and take SIGINT and SIGTERM, within a block."""
    left = anyio.Event()
    with _reserved_streams() as (source, target), leave_at_signals(left.set) as received:
        yield StandardStreams(source, target, left, received)


@contextmanager
def _reserved_streams() -> Generator[tuple[int, int]]:
    """Reserve stdin and stdout for the protocol: other readers find an empty input, other output goes to stderr."""
    sys.stdout.flush()
    source, target, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
    os.close(nothing)
    try:
        yield source, target
    finally:
        sys.stdout.flush()
        os.dup2(source, 0)
        os.dup2(target, 1)


@contextmanager
def leave_at_signals(
    leave: Callable[[], None],
    signals: Iterable[signal.Signals] = (signal.SIGINT, signal.SIGTERM),
    seconds: Callable[[], float] = lambda: REPORT_SECONDS,
) -> Generator[list[int]]:
    """Call `leave` at the first of the signals, and yield those received. A second one ends the process.

    So does the first one, if the process still runs after some `seconds`.
    """
    loop, received = asyncio.get_running_loop(), list[int]()

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        end_soon(number, seconds())
        signal.signal(number, signal.SIG_DFL)
        loop.call_soon_threadsafe(leave)

    before = {number: signal.signal(number, note) for number in signals}
    try:
        with ended_if_stuck():
            yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def end_soon(number: int, seconds: float = END_SECONDS, kill: Callable[[], None] | None = None) -> None:
    """Call `kill` and end this process after some seconds, with the code of a signal, whatever it still does."""

    def end() -> None:
        sleep(seconds)
        if kill is not None:
            kill()
        os._exit(128 + number)

    Thread(target=end, daemon=True).start()


@contextmanager
def ended_if_stuck() -> Generator[None]:
    """Let the kernel end this process if one call in C keeps all threads from running meanwhile, and show where.

    Python cannot interrupt such a call: a regular expression, a sum of a billion numbers. The timer counts processor
    time, so that neither a busy machine nor a pause of the process matters. Worlds that are not stored are lost.
    """
    stderr = sys.__stderr__
    if stderr is None or not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGPROF) != signal.SIG_DFL:
        yield
        return
    with suppress(OSError, ValueError):  # stderr is closed
        faulthandler.register(signal.SIGPROF, stderr, all_threads=False, chain=True)
    is_over = Event()
    thread = Thread(target=_wind, args=(is_over,), name="mcp-sim stuck", daemon=True)
    thread.start()
    try:
        yield
    finally:  # the process may go on with something else, such as other tests
        is_over.set()
        thread.join()
        faulthandler.unregister(signal.SIGPROF)


def _wind(is_over: Event) -> None:
    while not is_over.is_set():
        signal.setitimer(signal.ITIMER_PROF, _STUCK_SECONDS)
        is_over.wait(_PERIOD)
    signal.setitimer(signal.ITIMER_PROF, 0)
