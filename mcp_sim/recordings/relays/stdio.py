"""A proxy between this process's stdio and a server that it starts. Bytes pass unchanged in both directions, except
calls that the user has to approve and has not.

Its imports are few, since a client waits for it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from socket import socketpair
from threading import Event, Lock, Thread
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_sim.server.descriptors import write_all
from mcp_sim.types.errors import UsageError

if TYPE_CHECKING:
    from mcp_sim.recordings.relays.approval import Approval

CHUNK = 65536  # the capacity of a pipe on Linux: a larger one would not read more

DRAIN_SECONDS = 0.05  # seconds between looks at the output of a server that has ended

HELD_SECONDS = 1.0
"""Seconds after the end of a server for which processes that it started may hold its output open in silence."""

PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2")
"""Signals that the server gets when this process does, once each: it has a process group of its own."""

DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux

Tap: TypeAlias = Callable[[str, bytes], None]
"""Gets the bytes that a side, `client` or `server`, has sent, before they are passed on."""


class Relay:
    """A server process between two pipes. Raises `UsageError` if the command cannot be run."""

    def __init__(self, command: Sequence[str], approval: Approval | None = None) -> None:
        self._turnstile = None
        if approval is not None:
            from mcp_sim.recordings.relays.approval import Turnstile  # noqa: PLC0415 (rarely used)

            self._turnstile = Turnstile(approval, self._to_client)
        self._writing = Lock()
        self._signals, wakeup = socketpair()
        # Signals that are passed on, except ignored ones.
        wakeup.setblocking(False)
        signal.set_wakeup_fd(wakeup.detach(), warn_on_full_buffer=False)
        before = dict[int, Any]()
        for name in PASSED_ON:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) != signal.SIG_IGN:
                before[number] = signal.signal(number, _do_nothing)
        self._before = before
        self._is_reading = Event()
        self._passed = 0
        self._process = _start(command)

    def run(self, tap: Tap) -> int:
        """Pass everything on until the server ends. Return its exit code, negative for the signal that ended it."""
        requests, results = self._process.stdin, self._process.stdout
        assert requests is not None
        assert results is not None
        Thread(target=self._pass_signals, daemon=True).start()
        Thread(target=self._pass_on, args=("client", 0, requests.fileno(), tap), daemon=True).start()
        answers = Thread(target=self._pass_on, args=("server", results.fileno(), 1, tap), daemon=True)
        answers.start()
        code = self._process.wait()
        # Wait for the rest of the output. A process that the server started may hold it open without end.
        silent, passed = 0.0, self._passed
        while answers.is_alive() and silent < HELD_SECONDS:
            answers.join(DRAIN_SECONDS)
            is_silent = self._is_reading.is_set() and passed == self._passed
            silent, passed = silent + DRAIN_SECONDS if is_silent else 0.0, self._passed
        signal.set_wakeup_fd(-1)
        for number, handler in self._before.items():
            signal.signal(number, handler)
        return code

    def _pass_signals(self) -> None:
        """Pass signals on. A handler would not run while the main thread waits for the server, if the signal arrives
        just before it does."""
        while True:
            [number] = self._signals.recv(1)
            with suppress(OSError):
                if os.name == "posix":
                    os.killpg(self._process.pid, number)
                else:
                    self._process.send_signal(number)

    def _pass_on(self, side: str, source: int, target: int, tap: Tap) -> None:
        """Copy what a side sends to the other. Whichever of the pipes closes, the other is closed."""
        write = self._to_client if side == "server" else partial(_write, target)
        with suppress(OSError):
            is_open = True
            while is_open:
                is_open = bool(data := self._read(source) if side == "server" else os.read(source, CHUNK))
                for passed in self._passing(side, data):
                    tap(side, passed)
                    write(passed)
        _close(target)
        _close(source)

    def _passing(self, side: str, data: bytes) -> Iterator[bytes]:
        """Yield what passes on of the bytes of a side; none are its end."""
        if self._turnstile is not None:
            return self._turnstile.passing(side, data)
        return iter((data,) if data else ())

    def _to_client(self, data: bytes) -> None:
        with self._writing:
            _write(1, data)

    def _read(self, source: int) -> bytes:
        self._is_reading.set()
        data = os.read(source, CHUNK)
        self._is_reading.clear()
        self._passed += 1
        return data


def _write(target: int, data: bytes) -> None:
    write_all(target, memoryview(data))


def end_like(code: int) -> int:
    """Return the exit code of the server; if a signal ended it, end this process by the same signal."""
    if code >= 0:
        return code
    sys.stderr.flush()
    with suppress(OSError, ValueError):
        if code != -signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return 128 - code


def _start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    options: Any = {"process_group": 0} if os.name == "posix" else {}
    # Keys stay: clients give them to the server that is recorded.
    options["env"] = {name: value for name, value in os.environ.items() if not name.startswith("MCP_SIM_")}
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415 (only here)

        options["preexec_fn"] = partial(ctypes.CDLL(None).prctl, DIE_WITH_PARENT, signal.SIGKILL)
    try:
        return subprocess.Popen[bytes](command, stdin=pipe, stdout=pipe, bufsize=0, **options)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot run {command[0]}: {getattr(error, 'strerror', None) or error}") from None


def _close(descriptor: int) -> None:
    """Close a pipe, and keep its descriptor from being used again."""
    with suppress(OSError):
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, descriptor)
        os.close(nothing)


def _do_nothing(_number: int, _frame: FrameType | None) -> None:
    """Handle a signal that has been written to the socket."""
