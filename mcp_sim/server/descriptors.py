"""Writing to a file descriptor without being held up by whoever reads at its other end."""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress

AT_ONCE = getattr(select, "PIPE_BUF", 0)
"""So many bytes go into a pipe that is ready without waiting; 0 where the platform does not say."""


def is_ready(target: int) -> bool:
    """Can AT_ONCE bytes be written now? False where the platform cannot tell."""
    if not AT_ONCE:
        return False
    poll = select.poll()
    poll.register(target, select.POLLOUT)
    return bool(poll.poll(0))


def write_ready(target: int, data: memoryview) -> memoryview:
    """Write as much as goes without waiting; what is left."""
    while data and is_ready(target):
        data = data[os.write(target, data[:AT_ONCE]) :]
    return data


def write_all(target: int, data: memoryview) -> None:
    """Write everything, however long that takes."""
    while data:
        data = data[os.write(target, data) :]


def write_line(target: int, line: str) -> None:
    """Write a line if that goes without waiting; else leave it out. Cut where it is longer than AT_ONCE."""
    text = line.encode("utf-8", "replace")
    if AT_ONCE:
        text = text[: AT_ONCE - 1]
    with suppress(OSError):
        if not AT_ONCE or is_ready(target):
            os.write(target, text + b"\n")


def open_standard_streams() -> None:
    """See to it that stdin, stdout and stderr are open, if on the null device: no other file may take their places."""
    for target, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(target)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(target, mode, encoding="utf-8"))
