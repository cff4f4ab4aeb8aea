"""Transports that send what is written in one turn of the event loop as a whole."""

from __future__ import annotations

import asyncio
from typing import Any


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
