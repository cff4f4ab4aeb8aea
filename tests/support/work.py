"""Count the work of what a test does, which does not depend on the machine as its time does."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

MOST_GROWTH = 2.4
"""How much more functions may run for twice the size. Quadratic work would come to 4."""


class Work:
    """How many functions of Python have run."""

    calls = 0


@contextmanager
def counted() -> Generator[Work]:
    """Count the functions of Python that run in this thread."""
    work = Work()

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        work.calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield work
    finally:
        sys.setprofile(before)
