"""Random numbers for one value: cheap to seed, and a pure function of the seed."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from struct import Struct
from typing import TypeVar

T = TypeVar("T")
_NUMBERS = Struct(">8I").unpack
_STEP = 2.0**-32  # draws are integers of 32 bits


class Chance:
    """Pseudorandom numbers from SHA-256. One digest serves eight draws; then it is hashed again."""

    __slots__ = ("_at", "_digest", "_drawn")

    def __init__(self, begun_with: bytes) -> None:
        self._digest = begun_with
        self._drawn: tuple[int, ...] = ()
        self._at = 8

    def unit(self) -> float:
        """Draw a number in [0, 1), in steps of 2^-32."""
        at = self._at
        if at == 8:
            self._digest = sha256(self._digest).digest()
            self._drawn = _NUMBERS(self._digest)
            at = 0
        self._at = at + 1
        return self._drawn[at] * _STEP

    def below(self, count: int) -> int:
        """Draw an integer from 0 to `count` - 1."""
        return int(self.unit() * count)

    def between(self, low: int, high: int) -> int:
        """Draw an integer from `low` to `high`, both included."""
        return low + int(self.unit() * (high - low + 1))

    def choice(self, options: Sequence[T]) -> T:
        """Draw one of the options; all are equally likely."""
        return options[int(self.unit() * len(options))]
