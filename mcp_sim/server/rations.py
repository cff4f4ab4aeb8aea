"""Parse what arrives in large amounts a little at a time, so that it does not delay the requests of others."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

ROUND = 65_536
"""Bytes of large requests that are parsed in one round of the loop, of all connections together."""

Parse: TypeAlias = Callable[[], int]
"""Parses a piece. Returns its size."""


class Rations:
    """The connections with more to parse, which take turns."""

    def __init__(self) -> None:
        self._waiting = deque[Parse]()

    def add(self, parse: Parse) -> None:
        """Parse a piece when it is its turn."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._parse_round)
        self._waiting.append(parse)

    def _parse_round(self) -> None:
        waiting, self._waiting = self._waiting, deque[Parse]()
        left = ROUND
        while waiting and left > 0:
            left -= waiting.popleft()()
        if waiting and not self._waiting:
            asyncio.get_running_loop().call_soon(self._parse_round)
        self._waiting.extendleft(reversed(waiting))
