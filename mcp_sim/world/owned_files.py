"""Files that one process writes alone."""

from __future__ import annotations

import os
import sys
from stat import S_ISREG


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
