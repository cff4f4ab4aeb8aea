"""Start worker processes, replace those that die, and end all of them."""

from __future__ import annotations

import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile
from types import FrameType
from typing import NoReturn, TypeAlias

from mcp_sim.server.standard_streams import END_SECONDS, end_soon
from mcp_sim.server.workers import Worker, open_door

logger = logging.getLogger(__name__)

SIGNALS = (signal.SIGINT, signal.SIGTERM)

LEAST_SECONDS = 1.0
"""Seconds from the start of a worker to that of the next one of its number. A worker that fails at its start would
otherwise be started again and again at full load."""

Work: TypeAlias = Callable[[Worker], int]
"""Serves in a worker until it ends. Returns its exit code."""


class Supervisor:
    """Runs `count` workers until SIGINT or SIGTERM, which share a listener.

    A worker that dies is replaced, without its worlds. If this process dies the workers end, too, since their lifeline
    does. `say` gets a line for each worker that has died.
    """

    def __init__(
        self, count: int, listener: socket.socket, work: Work, say: Callable[[str], None], grace: float = END_SECONDS
    ) -> None:
        self._listener, self._work, self._say = listener, work, say
        self._doors = [open_door() for _ in range(count)]
        self._names = [_new_file() for _ in range(count)]
        self._lifeline, self._life = os.pipe()
        self._running = dict[int, tuple[int, float]]()
        """Process -> the number of its worker, and when it started."""
        self._received: int | None = None
        self._grace = max(END_SECONDS, grace + 0.5)

    def run(self) -> int:
        """Return 130 after Ctrl-C, 143 after SIGTERM, and the code of the first worker if that does not start."""
        with self._handling_signals():
            code = self._start_first()
            if code is not None:
                return code if self._received is None else 128 + self._received
            for number in range(1, len(self._doors)):
                self._start(number, announces=number == len(self._doors) - 1)
            while self._running:
                self._wait()
        assert self._received is not None
        return 128 + self._received

    def _start_first(self) -> int | None:
        """Start the first worker and wait until it serves. Return its exit code if it does not."""
        readable, writable = os.pipe()
        pid = self._start(0, begun=writable)
        os.close(writable)
        has_begun = bool(os.read(readable, 1))
        os.close(readable)
        if has_begun:
            return None
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status) % 256

    def _start(self, number: int, *, begun: int | None = None, announces: bool = False) -> int:
        """Fork a worker, which writes to `begun` and announces the server once it serves. Return its process."""
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            pid = os.fork()
            if pid == 0:
                self._be_worker(number, begun, announces)
            self._running[pid] = (number, time.monotonic())
            return pid
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)

    def _be_worker(self, number: int, begun: int | None, announces: bool) -> NoReturn:
        """Work, then end this process without returning to what the parent would do next."""
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
            with suppress(OSError):
                os.close(self._life)
            code = self._work(Worker(number, self._doors, self._lifeline, self._names[number], begun, announces))
        except BaseException:
            logger.exception("worker %d failed", number)
        finally:
            os._exit(code)

    def _wait(self) -> None:
        """Wait for the end of a worker, and replace it unless all are ending."""
        pid, status = os.waitpid(-1, os.WUNTRACED)
        if os.WIFSTOPPED(status):  # it holds its port and its worlds, and does not answer
            os.kill(pid, signal.SIGKILL)
            return
        number, since = self._running.pop(pid)
        if self._received is not None:
            return
        code = os.waitstatus_to_exitcode(status)
        how = f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        self._say(f"ERROR: worker {number} (process {pid}) {how}; its worlds are lost, and answer 503")
        time.sleep(max(0.0, since + LEAST_SECONDS - time.monotonic()))
        if self._received is None:  # pyright: ignore[reportUnnecessaryComparison] (a signal may have arrived)
            self._start(number)

    @contextmanager
    def _handling_signals(self) -> Generator[None]:
        before = {number: signal.signal(number, self._end) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _end(self, number: int, _frame: FrameType | None) -> None:
        """Let the workers end; at the second signal, end them at once."""
        if self._received is None:
            self._received = number
            self._listener.close()
            os.close(self._life)
            end_soon(number, self._grace, self._kill)
            return
        self._kill()

    def _kill(self) -> None:
        for pid in [*self._running]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _new_file() -> int:
    """Return a descriptor of a new file without a name."""
    with TemporaryFile() as file:
        return os.dup(file.fileno())
