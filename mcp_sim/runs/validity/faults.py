"""Streams of faults that are the same on both sides: what happens to the n-th call of a tool."""

from __future__ import annotations

from random import Random
from typing import Literal

Fault = Literal["error", "lost answer", "timeout"]

TEXTS: dict[Fault, str] = {
    "error": "503 Service Unavailable",
    "lost answer": "upstream timed out",
    "timeout": "upstream timed out",
}
"""What an agent reads. After a lost answer the call took effect, after a timeout it did not: they look alike."""

# High enough that each agent meets some in a task of five calls, low enough that four tries nearly always suffice.
_OF_WRITES: dict[Fault, float] = {"error": 0.15, "lost answer": 0.2, "timeout": 0.1}
_OF_READS: dict[Fault, float] = {"error": 0.1}


class FaultStream:
    """The faults of one run. Draws depend on the stream, the tool and the number of the call alone."""

    def __init__(self, stream: int) -> None:
        self._stream, self._calls = stream, dict[str, int]()

    def next(self, tool: str, *, only_reads: bool) -> Fault | None:
        """Return what happens to the next call of a tool."""
        number = self._calls[tool] = self._calls.get(tool, 0) + 1
        chance = Random(f"{self._stream}/{tool}/{number}").random()  # noqa: S311 (chance, not a secret)
        for fault, share in (_OF_READS if only_reads else _OF_WRITES).items():
            if chance < share:
                return fault
            chance -= share
        return None
