"""Non-blocking writes to file descriptors."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterable
from contextlib import suppress

AT_ONCE = getattr(select, "PIPE_BUF", 0)
"""Bytes that can be written to a ready pipe without blocking; 0 if the platform does not define it."""


def is_ready(target: int, patience: float = 0) -> bool:
    """Whether AT_ONCE bytes can be written without blocking, within `patience` seconds.

    False if the platform cannot determine it.
    """
    if not AT_ONCE:
        return False
    poll = select.poll()
    poll.register(target, select.POLLOUT)
    return bool(poll.poll(patience * 1000))


def write_ready(target: int, data: memoryview, patience: float = 0) -> memoryview:
    """Write until the reader has read nothing for `patience` seconds. Return the rest."""
    while data and is_ready(target, patience):
        data = data[os.write(target, data[:AT_ONCE]) :]
    return data


def write_all(target: int, data: memoryview) -> None:
    """Write everything; may block."""
    while data:
        data = data[os.write(target, data) :]


def write_lines(target: int, lines: Iterable[str]) -> None:
    """Write lines, each cut to AT_ONCE bytes, as many at a time as fit; drop those that would block."""
    piece = b""
    for line in lines:
        text = line.encode("utf-8", "replace")
        if AT_ONCE:
            text = text[: AT_ONCE - 1]
        if piece and len(piece) + len(text) >= AT_ONCE:
            _write_or_drop(target, piece)
            piece = b""
        piece += text + b"\n"
    if piece:
        _write_or_drop(target, piece)


def _write_or_drop(target: int, piece: bytes) -> None:
    with suppress(OSError):
        if not AT_ONCE or is_ready(target):
            os.write(target, piece)


def open_standard_streams() -> None:
    """Open closed standard streams on the null device, so that no other file gets their descriptors."""
    for target, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(target)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(target, mode, encoding="utf-8"))
