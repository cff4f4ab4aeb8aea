"""Send what is written in one turn of the event loop as a whole, and parse large amounts a little at a time.

Neither delays the requests of others.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any, TypeAlias

ROUND = 65_536
"""Bytes of large requests that are parsed in one round of the loop, of all connections together."""

Parse: TypeAlias = Callable[[], int]
"""Parses a piece. Returns its size."""


class BufferedTransport(asyncio.Transport):
    """A transport that sends everything written in one turn of the loop at once, such as head and body of an answer.

    `newest` is the number of bytes of the last write, which are held until all of them are sent.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport, self._loop = transport, loop
        self._pieces = list[bytes]()
        self.newest = 0
        self._is_held = self._is_paused = False
        self.abort, self.is_closing = transport.abort, transport.is_closing
        self.get_extra_info = transport.get_extra_info

    def hold_reading(self, *, is_held: bool) -> None:
        """Read nothing while it is held, whatever else asks for."""
        if is_held != self._is_held:
            self._is_held = is_held
            self._set_reading()

    def pause_reading(self) -> None:
        self._is_paused = True
        self._set_reading()

    def resume_reading(self) -> None:
        self._is_paused = False
        self._set_reading()

    def _set_reading(self) -> None:
        if self._transport.is_closing():
            return
        if self._is_held or self._is_paused:
            self._transport.pause_reading()
        else:
            self._transport.resume_reading()

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        if not self._pieces:
            self._loop.call_soon(self._send)
        self._pieces.append(bytes(data))

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._send()
        self._transport.set_write_buffer_limits(high, low)

    def write_whole(self, data: bytes) -> None:
        """Write a whole answer, at once if nothing else waits."""
        if self._pieces:
            self._pieces.append(data)
        else:
            self._pieces = [data]
            self._send()

    def close(self) -> None:
        self._send()
        self._transport.close()

    def _send(self) -> None:
        pieces, self._pieces = self._pieces, []
        if pieces and not self._transport.is_closing():
            data = b"".join(pieces)
            self.newest = len(data)
            self._transport.write(data)


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
