"""TCP connections, bounded: what never becomes a request, and what nobody reads, is closed."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections import OrderedDict
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mcp_sim.server.exchange import CLOSE

SILENT_SECONDS = 60.0
"""How long a connection may take to begin its first request: on a busy machine its client is slow, and no stranger."""

HEAD_SECONDS = 15.0
"""How long the head of a request may take."""

STUCK_SECONDS = 35.0
"""How long a request may take from its head to its end; most of what is late is told so before."""

MOST_SILENT = 4096
"""Where more connections are without a request, those are closed that have been so for HASTE_SECONDS."""

HASTE_SECONDS = 2.0

LOST_MILLISECONDS = 60_000
"""When a peer that does not acknowledge what is sent is taken to be gone."""

LONGEST_HEAD = 64 * 1024

NO_LINGERING = struct.pack("ii", 1, 0)
"""The system forgets what it still has to send, and the peer finds its connection reset."""

MOST_UNREAD = 256 * 1024 * 1024
"""Where answers that nobody reads hold more, connections are closed, those that have left theirs unread for longest."""


class Crowd:
    """All connections of a server: which of them never became a request, and which leave an answer unread."""

    def __init__(self, unread: float) -> None:
        self.unread_seconds = unread
        self._silent: OrderedDict[Connection, float] = OrderedDict()
        self._unread: dict[Connection, int] = {}
        self._held = 0

    def arrived(self, connection: Connection, now: float) -> None:
        """One more. Where many are silent, those that have been so for longest are closed."""
        self._silent[connection] = now
        while len(self._silent) > MOST_SILENT:
            oldest, since = next(iter(self._silent.items()))
            if now - since < HASTE_SECONDS:
                return
            del self._silent[oldest]
            oldest.cut()

    def spoke(self, connection: Connection) -> None:
        self._silent.pop(connection, None)

    def stalled(self, connection: Connection, size: int) -> None:
        """A client leaves so much unread. Where all of them leave too much, the first are cut off."""
        self._unread[connection] = size
        self._held += size
        while self._held > MOST_UNREAD:
            oldest = next(iter(self._unread))
            self.went_on(oldest)
            oldest.cut()

    def went_on(self, connection: Connection) -> None:
        self._held -= self._unread.pop(connection, 0)


class Connection(HttpToolsProtocol):
    """One client's connection."""

    def __init__(self, crowd: Crowd, **given: Any) -> None:
        super().__init__(**given)
        self._crowd = crowd
        self._in_head, self._head = False, 0
        self._in_body = False
        self._timer: asyncio.TimerHandle | None = None
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] (as uvicorn's)
        self._gathering = Gathering(transport, self.loop)
        super().connection_made(self._gathering)
        _notice_loss(transport)
        self._crowd.arrived(self, self.loop.time())
        self._close_after(SILENT_SECONDS)

    def cut(self) -> None:
        """Close the connection, and let go of what was not sent yet."""
        connection = self.transport.get_extra_info("socket")
        if connection is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGERING)
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._crowd.spoke(self)
        self._be_patient()
        self._keep()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_body:
            self._be_quick(STUCK_SECONDS)
        if not self._in_head:
            return
        if self._head == 0:
            self._close_after(HEAD_SECONDS)
        self._head += len(data)
        if self._head > LONGEST_HEAD:
            self.cut()

    def shutdown(self) -> None:
        """As uvicorn's; and nobody waits for the rest of a request."""
        super().shutdown()
        if self._in_head or self._in_body:
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head = True, 0
        self.scope["extensions"] = {CLOSE: {"now": self.transport.close}}

    def on_headers_complete(self) -> None:
        """The white space around a header's value is no part of it; the parser leaves what stands behind."""
        self.headers[:] = [(name, value.strip(b" \t")) for name, value in self.headers]
        self._in_head, self._in_body = False, True
        self._crowd.spoke(self)
        self._keep()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_body = False
        self._keep()
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._patience = self.loop.call_later(self._crowd.unread_seconds, self.cut)
        self._crowd.stalled(self, self._gathering.newest)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._be_patient()

    def _be_patient(self) -> None:
        self._crowd.went_on(self)
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _be_quick(self, seconds: float) -> None:
        """Close the connection after so long, unless that is due already."""
        if self._timer is None:
            self._close_after(seconds)

    def _close_after(self, seconds: float) -> None:
        self._keep()
        self._timer = self.loop.call_later(seconds, self.cut)

    def _keep(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Gathering(asyncio.Transport):
    """A transport that sends in one go what is written in one turn of the loop: an answer's head and body, for one.

    `newest` is how many bytes went last; they are held until the last of them is sent.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport, self._loop = transport, loop
        self._pieces = list[bytes]()
        self.newest = 0
        self.abort, self.is_closing = transport.abort, transport.is_closing
        self.pause_reading, self.resume_reading = transport.pause_reading, transport.resume_reading
        self.get_extra_info = transport.get_extra_info

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        if not self._pieces:
            self._loop.call_soon(self._send)
        self._pieces.append(bytes(data))

    def close(self) -> None:
        self._send()
        self._transport.close()

    def _send(self) -> None:
        pieces, self._pieces = self._pieces, []
        if pieces and not self._transport.is_closing():
            data = b"".join(pieces)
            self.newest = len(data)
            self._transport.write(data)


def _notice_loss(transport: asyncio.Transport) -> None:
    """Have the system notice peers that vanished without a word, where it can."""
    connection = transport.get_extra_info("socket")
    if connection is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, LOST_MILLISECONDS)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
