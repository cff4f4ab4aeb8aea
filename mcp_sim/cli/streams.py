"""The streams that people read: stdout and stderr of every command, in which values of strangers are inert."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from mcp_sim.types.readable import readable

MARK = f"\x1b{os.urandom(8).hex()}["
"""What mcp-sim writes for the beginning of a control sequence. Only this process knows it."""


class ForPeople:
    """A text stream that escapes what would control a terminal. Only sequences that begin with `MARK` pass."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write("\x1b[".join(map(readable, text.split(MARK))))
        return len(text)

    def writelines(self, lines: Any) -> None:
        self.write("".join(lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def write_command(line: str) -> None:
    """Write a line to stdout that a CI server reads as its command. The caller has escaped its values."""
    stream: Any = sys.stdout
    stream = stream.stream if isinstance(stream, ForPeople) else stream
    stream.write(f"{line}\n")


@contextmanager
def for_people() -> Generator[None]:
    """Let stdout and stderr be such streams in a block."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        # It has all methods of a stream through __getattr__, which type checkers cannot see. A service has no streams.
        stream if stream is None or isinstance(stream, ForPeople) else cast("TextIO", ForPeople(stream))
        for stream in before
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
