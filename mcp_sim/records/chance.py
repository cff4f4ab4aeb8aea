"""A stream of chance for one value: cheap to begin, and a pure function of what it was begun with."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TypeVar

T = TypeVar("T")
_TAKE = 4
_SPAN = 1 << (8 * _TAKE)


class Chance:
    """Numbers from SHA-256 over a text. One digest serves eight draws; then the digest is hashed again."""

    __slots__ = ("_at", "_digest")

    def __init__(self, begun_with: bytes) -> None:
        self._digest = sha256(begun_with).digest()
        self._at = 0

    def unit(self) -> float:
        """A number in [0, 1), in steps of 2^-32."""
        if self._at > len(self._digest) - _TAKE:
            self._digest, self._at = sha256(self._digest).digest(), 0
        at = self._at
        self._at = at + _TAKE
        return int.from_bytes(self._digest[at : at + _TAKE], "big") / _SPAN

    def below(self, count: int) -> int:
        """A whole number from 0 up to, not including, `count`."""
        return int(self.unit() * count)

    def between(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self.unit() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        """One of the options, evenly."""
        return options[int(self.unit() * len(options))]
