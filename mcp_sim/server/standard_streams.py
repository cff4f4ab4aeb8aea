"""The standard streams of a process that serves over stdio, and its signals."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

import anyio

from mcp_sim.server.ending import end_if_stuck, end_soon


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
def leave_at_signals(leave: Callable[[], None]) -> Generator[list[int]]:
    """Call `leave` at the first SIGINT or SIGTERM, and yield the signals received. A second one ends the process."""
    loop, received = asyncio.get_running_loop(), list[int]()

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        end_soon(number)
        signal.signal(number, signal.SIG_DFL)
        loop.call_soon_threadsafe(leave)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    end_if_stuck()
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
