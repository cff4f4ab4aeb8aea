"""Heads of requests that were answered at once, so that equal heads need not be parsed again.

A client sends the same head with every call of the same length. Only the parsing is saved: who may call, and whether
session and world exist, is checked for each request.
"""

from __future__ import annotations

from dataclasses import dataclass

END_OF_HEAD = b"\r\n\r\n"

MOST = 1024
"""The heads that are kept. One has fewer bytes than a piece (`connections.PIECE`)."""


@dataclass(slots=True)
class KnownHead:
    """What is in the head of a POST request that keeps its connection alive."""

    url: bytes
    headers: list[tuple[bytes, bytes]]
    length: int
    """The bytes of the body."""


class KnownHeads:
    """Parsed heads by their bytes, a bounded number of them."""

    def __init__(self) -> None:
        self._heads: dict[bytes, KnownHead] = {}

    def get(self, head: bytes) -> KnownHead | None:
        """Return a head by its bytes, without the empty line after it."""
        return self._heads.get(head)

    def add(self, head: bytes, parsed: KnownHead) -> None:
        """Keep a head. If there are too many, the oldest is dropped."""
        if len(self._heads) >= MOST and head not in self._heads:
            del self._heads[next(iter(self._heads))]
        self._heads[head] = parsed
