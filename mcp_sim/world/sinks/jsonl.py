"""A trace file: one JSON object a line, each on disk before the call is answered.

Several worker processes may share it.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path
from stat import S_ISREG

from mcp_sim.types import Step
from mcp_sim.types.errors import Unwritable


class Jsonl:
    """Writes a trace to a file, which is replaced. Raises `Unwritable`.

    If a line does not fit on the disk, no part of it is left: what is in the file stays readable.
    """

    def __init__(self, path: Path, header: bytes) -> None:
        self._path = path
        self._end = 0
        try:
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise Unwritable.trace(self._path, error) from None
        try:
            own_alone(self._file.fileno())
            self.write(header)
        except OSError as error:
            self.close()
            raise Unwritable.trace(self._path, error) from None
        except Unwritable:
            self.close()
            raise

    def write(self, line: bytes, step: Step | None = None) -> None:
        """Write one line. Raises `Unwritable` if the file cannot be written."""
        rest = whole = line + b"\n"
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            # Remove the beginning of a line. In a pipe it stays.
            with suppress(OSError):
                self._file.truncate(self._end)
                self._file.seek(self._end)
            raise Unwritable.trace(self._path, error) from None
        self._end += len(whole)

    def close(self) -> None:
        self._file.close()


class SharedTrace:
    """Writes a trace to a file, which is replaced. Processes that are forked afterwards may write to it, too.

    Each line is written whole, also if a process is killed meanwhile: the next one removes the beginning of a line. If
    a line does not fit on the disk, no part of it is left.
    """

    def __init__(self, path: Path, header: bytes) -> None:
        """Raises `Unwritable`."""
        self._path, self._end = path, 0
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            if not S_ISREG(os.fstat(self._file).st_mode):
                self.close()
                raise Unwritable.trace(self._path, "with several workers the trace must be a file")
            own_alone(self._file)
        except OSError as error:
            raise Unwritable.trace(self._path, error) from None
        self.write(header)

    def write(self, line: bytes, step: Step | None = None) -> None:
        """Write one line. Raises `Unwritable` if the file cannot be written."""
        import fcntl  # noqa: PLC0415 (missing on Windows)

        rest = whole = line + b"\n"
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX)
            try:
                end = self._whole(os.fstat(self._file).st_size)
                try:
                    while rest:
                        rest = rest[os.write(self._file, rest) :]
                except OSError:
                    with suppress(OSError):
                        os.ftruncate(self._file, end)
                    raise
            finally:
                fcntl.lockf(self._file, fcntl.LOCK_UN)
        except OSError as error:
            raise Unwritable.trace(self._path, error) from None
        self._end = end + len(whole)

    def close(self) -> None:
        os.close(self._file)

    def _whole(self, size: int) -> int:
        """Return the end of the last whole line of a file of this size, and remove what is behind it."""
        if size in (0, self._end) or os.pread(self._file, 1, size - 1) == b"\n":
            return size
        with mmap(self._file, size, access=ACCESS_READ) as text:
            end = text.rfind(b"\n") + 1
        os.ftruncate(self._file, end)
        return end


def own_alone(file: int) -> None:
    """Empty an open file that no other process writes to, and keep others from it. Raises `OSError`.

    Pipes and devices may have several writers.
    """
    if not S_ISREG(os.fstat(file).st_mode):
        return
    try:
        lock(file)
    except BlockingIOError:
        raise OSError(0, "another process writes to it; give each server a file of its own") from None
    os.ftruncate(file, 0)


def lock(file: int) -> None:
    """Keep other processes from locking an open file until it is closed. Raises `BlockingIOError` if one has.

    Windows has no such locks.
    """
    if sys.platform != "win32":
        import fcntl  # noqa: PLC0415 (missing on Windows)

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
