"""Confined processes: how they are started, what they get and what they answer."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import IO, NoReturn

from mcp_sim.libraries.sandbox.child import HEADER, READY
from mcp_sim.libraries.sandbox.confinement import UNCONFINED, Limits, Unconfined
from mcp_sim.types import Json
from mcp_sim.types.json_values import decode

MOST_BYTES = 64 << 20
"""The largest message."""

START = "from mcp_sim.libraries.sandbox.child import main; main()"
_START_SECONDS = 60  # a new interpreter on a busy machine takes seconds
_NEEDED_VARIABLES = ("PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", UNCONFINED)


class Stopped(Exception):
    """A confined process has come to a limit, has failed or has ended. The text says which (ended with exit code 3)."""


class Process:
    """A confined process that calls a function, and answers what it returns.

    Its environment has no variables but those that Python needs, and hashes of texts depend on `hash_seed` alone.
    Messages are bytes.
    """

    def __init__(
        self,
        *,
        limits: Limits | None = None,
        readable: Iterable[Path] = (),
        writable: Iterable[Path] = (),
        hash_seed: int = 0,
    ) -> None:
        """Start it. Raises `Unconfined` if this system cannot confine it."""
        if sys.platform == "win32":
            raise Unconfined("Windows has no limits for processes that mcp-sim knows")
        self._limits = limits or Limits()
        files = {"readable": [str(path.resolve()) for path in readable], "writable": [str(path) for path in writable]}
        given = {"limits": asdict(self._limits), **files}
        self._errors = TemporaryFile()  # noqa: SIM115 (it is closed with the process)
        command = [sys.executable, "-P", "-c", START, json.dumps(given)]
        self._process = _Starter.get().submit(_started, command, _environment(hash_seed), self._errors).result()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._to, False)
        os.set_blocking(self._from, False)
        first = self.receive(_START_SECONDS)  # nothing follows before its limits are set
        if first != READY:
            self.kill()
            raise Unconfined(first.decode())

    def send(self, message: bytes, seconds: float) -> None:
        """Send a message. Raises `Stopped` if the process does not take it."""
        rest = memoryview(len(message).to_bytes(HEADER, "little") + message)
        end = monotonic() + seconds
        while rest:
            try:
                rest = rest[os.write(self._to, rest) :]
            except BlockingIOError:
                self._wait(self._to, select.POLLOUT, end, seconds)
            except OSError:
                self._stop(self._why())

    def receive(self, seconds: float) -> bytes:
        """Return the next message. Raises `Stopped`, and ends the process, if it does not arrive in time."""
        end = monotonic() + seconds
        data, size = b"", None
        while size is None or len(data) < size + HEADER:
            self._wait(self._from, select.POLLIN, end, seconds)
            read = os.read(self._from, 1 << 20)
            if not read:
                self._stop(self._why())
            data += read
            if size is None and len(data) >= HEADER:
                size = int.from_bytes(data[:HEADER], "little")
                if size > MOST_BYTES:
                    self._stop(f"answered more than {MOST_BYTES >> 20} MiB")
        return data[HEADER : size + HEADER]

    def kill(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                stream.close()

    def _wait(self, file: int, event: int, end: float, seconds: float) -> None:
        poll = select.poll()
        poll.register(file, event)
        if not poll.poll(max(end - monotonic(), 0) * 1000):
            self.kill()
            raise Stopped(f"did not end within {seconds:g} seconds")

    def _why(self) -> str:
        """Return why a process has ended."""
        try:
            code = self._process.wait(1)
        except subprocess.TimeoutExpired:
            return "closed its output"
        self._errors.seek(0)
        last = self._errors.read(1 << 16).decode(errors="replace").strip().splitlines()[-1:]
        if code in {-24, -9}:
            return f"used more than {self._limits.cpu} seconds of processor time, or was killed"
        return f"ended with exit code {code}" + "".join(f": {line[:200]}" for line in last)

    def _stop(self, why: str) -> NoReturn:
        self.kill()
        raise Stopped(why)


def run_confined(
    target: str,
    argument: Json,
    *,
    seconds: float,
    limits: Limits | None = None,
    readable: Iterable[Path] = (),
    writable: Iterable[Path] = (),
    hash_seed: int = 0,
) -> Json:
    """Return what a function of mcp-sim, `module:name`, returns in a confined process. Both are JSON.

    The `writable` folders are new, empty, and gone with the process. Raises `Stopped` if it comes to a limit or raises
    an exception, and `Unconfined` if nothing may run here. Code that the function runs may forge its result, but can do
    nothing else.
    """
    process = Process(limits=limits, readable=readable, writable=writable, hash_seed=hash_seed)
    try:
        process.send(json.dumps([target, argument]).encode(), seconds)
        reply = decode(process.receive(seconds))
    except (ValueError, RecursionError) as error:
        raise Stopped(f"its answer is not JSON: {error}") from None
    finally:
        process.kill()
    match reply:
        case {"result": result}:
            return result
        case {"failed": str(why)}:
            raise Stopped(f"failed: {why[:1000]}")
        case _:
            raise Stopped("answered something unknown")


class _Starter:
    """The thread that starts confined processes: they end with it, and it lasts as long as this process."""

    _threads: ThreadPoolExecutor | None = None

    @classmethod
    def get(cls) -> ThreadPoolExecutor:
        """Return the executor with the thread."""
        if cls._threads is None:
            cls._threads = ThreadPoolExecutor(1, "mcp-sim sandbox")
        return cls._threads

    @classmethod
    def forget(cls) -> None:
        """Begin anew in a forked process, which has no threads."""
        cls._threads = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Starter.forget)


def _started(command: list[str], environment: dict[str, str], errors: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 (this Python)
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=environment,
        cwd="/",
        bufsize=0,
        start_new_session=True,
    )


def _environment(hash_seed: int) -> dict[str, str]:
    """Return the environment of a confined process: no keys, nothing of the user."""
    kept = {name: os.environ[name] for name in _NEEDED_VARIABLES if name in os.environ}
    fixed = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1", "PYTHONNOUSERSITE": "1"}
    return {**kept, **fixed, "PYTHONHASHSEED": str(hash_seed), "MALLOC_ARENA_MAX": "1", "TZ": "UTC"}
