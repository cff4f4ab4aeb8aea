"""Writing to a file descriptor without being held up by whoever reads at its other end."""

from __future__ import annotations

import os
import select

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
