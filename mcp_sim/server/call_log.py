"""One line per call for whoever watches: a sink that tells the ledger on stderr."""

from __future__ import annotations

import os
from contextlib import suppress

from mcp_sim.json_text import decode
from mcp_sim.server.descriptors import AT_ONCE, is_ready
from mcp_sim.server.telling import told


class CallLog:
    """Tells each entry as it is committed; with `crashes_only`, nothing but crashes.

    The serving never waits for the telling: a line that cannot be written at once is left out.
    """

    def __init__(self, target: int, *, crashes_only: bool = False) -> None:
        self._target = target
        self._crashes_only = crashes_only

    def write(self, line: bytes) -> None:
        if self._crashes_only and b'"crash"' not in line:
            return
        entry = decode(line)
        if self._crashes_only and "crash" not in entry:
            return
        text = "".join(f"{told_line}\n" for told_line in told(entry)).encode("utf-8", "replace")
        with suppress(OSError):
            if not AT_ONCE or is_ready(self._target):
                os.write(self._target, text[: AT_ONCE or None])

    def close(self) -> None:
        return
