"""TCP connections with limits: those without a request, and those whose answers are not read, are closed.

What is written in one turn of the event loop is sent as a whole, and large amounts are parsed a little at a time, so
that neither delays the requests of others.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import struct
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any, TypeAlias, cast

from mcp_types import INVALID_REQUEST
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from mcp_sim.server.exchange import CONNECTION, Scope
from mcp_sim.server.workers import Detached
from mcp_sim.types.json_values import encode

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


SILENT_SECONDS = 60.0
"""Seconds until the first request of a connection must begin. Clients on a busy machine may be slow. Browsers and pools
open connections ahead."""

HEAD_SECONDS = 15.0
"""Seconds that the head of a request may take. A head fits into a few packets; clients that send a byte at a time would
hold their connection for ever."""

STUCK_SECONDS = 35.0
"""Seconds that a request may take from the end of its head; most late requests get a 408 before."""

MOST_SILENT = 4096
"""With more connections that have not sent a request, those older than HASTE_SECONDS are closed."""

WARNING_SECONDS = 60.0  # a flood makes thousands
HASTE_SECONDS = 2.0  # shorter would close clients that have just connected

LOST_MILLISECONDS = 60_000
"""Milliseconds without acknowledgement after which a peer is considered gone. A client that changes its network may
come back within that."""

LONGEST_HEAD = 64 * 1024
"""Bytes of the request line and the headers of a request. A head is parsed before anyone is authorized."""

PIECE = 4096
"""Bytes that are parsed at a time. The rest, and requests that a client sends ahead, wait until it is their turn.
A call with short arguments fits into one."""

NO_LINGERING = struct.pack("ii", 1, 0)
"""Unsent data is discarded on close, and the peer sees a reset."""

MOST_FILES = 65_536  # a system without a limit has other ones

MOST_UNREAD = 256 * 1024 * 1024
"""Bytes of unread answers beyond which connections are closed, those stalled longest first."""


_UPGRADE = re.compile(rb"(?im)^upgrade(?=[ \t]*:)")
"""A header that asks for another protocol, such as `h2c` of Java's client. A server may ignore it (RFC 9110, 7.8); the
parser would take the body for what that protocol sends."""

_OF_THE_BODY = frozenset({b"content-length", b"transfer-encoding", b"trailer", b"expect"})
"""Headers about how a body is sent."""


logger = logging.getLogger(__name__)

AnswerAtOnce: TypeAlias = Callable[[bytes, Sequence[tuple[bytes, bytes]], bytes], bytes | None]
"""Returns the response to a POST request, by its target, headers and body, or None if the application has to answer."""


def most_files() -> int:
    """Return how many files this process may have open, sockets included."""
    try:
        import resource  # noqa: PLC0415 (not on every platform)

        return min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], MOST_FILES)
    except (ImportError, ValueError, OSError):
        return 512  # of the C library of Windows


def answer_nothing(_url: bytes, _headers: Sequence[tuple[bytes, bytes]], _body: bytes) -> None:
    """Leave all requests to the application."""


class ConnectionLimits:
    """The connections of a server: those that have sent no request yet, and those with unread answers."""

    def __init__(self, unread: float) -> None:
        self.unread_seconds = unread
        self.rations = Rations()
        self._silent: OrderedDict[Connection, float] = OrderedDict()
        self._idle: OrderedDict[Connection, float] = OrderedDict()
        files = most_files()
        self._most_silent, self._most_idle = min(MOST_SILENT, files // 4), files // 3
        self._warned = -WARNING_SECONDS
        self._unread: dict[Connection, int] = {}
        self._held = 0

    def arrived(self, connection: Connection, now: float) -> None:
        """Register a new connection. If there are too many without a request, close the oldest."""
        self._register(connection, self._silent, self._most_silent, now)

    def answered(self, connection: Connection, now: float) -> None:
        """Register a connection whose requests are all answered. If there are too many, close the oldest."""
        self._register(connection, self._idle, self._most_idle, now)

    def _register(self, connection: Connection, known: OrderedDict[Connection, float], most: int, now: float) -> None:
        known[connection] = now
        while len(known) > most:
            oldest, since = next(iter(known.items()))
            if now - since < HASTE_SECONDS and len(known) <= 1.5 * most:
                return
            del known[oldest]
            oldest.cut()
            if now - self._warned > WARNING_SECONDS:
                self._warned = now
                logger.warning("more than %d idle connections: the oldest are closed", most)

    def forget_silent(self, connection: Connection) -> None:
        """Unregister a connection that sent a request, or was lost."""
        self._silent.pop(connection, None)
        self._idle.pop(connection, None)

    def stalled(self, connection: Connection, size: int) -> None:
        """Register unread bytes of a connection. If all connections hold too many, close those stalled longest."""
        self._unread[connection] = size
        self._held += size
        while self._held > MOST_UNREAD:
            oldest = next(iter(self._unread))
            self.resumed(oldest)
            oldest.cut()

    def resumed(self, connection: Connection) -> None:
        """Unregister a connection whose answers are read again."""
        self._held -= self._unread.pop(connection, 0)


class Connection(HttpToolsProtocol):
    """The HTTP connection of a client."""

    def __init__(self, limits: ConnectionLimits, answer_at_once: AnswerAtOnce, read: bytes = b"", **given: Any) -> None:
        """`read` is what another process has read from the connection."""
        super().__init__(**given)
        self._limits, self._answer_at_once, self._read = limits, answer_at_once, read
        self._piece = b""
        """The piece that is parsed, if it begins with a request."""
        self._whole: bytes | None = None
        """The body of the request, if the piece consists of that request: the application is not asked yet."""
        self._in_head, self._head, self._listed = False, 0, 0
        self._in_body = False
        self._ahead, self._rest = bytearray(), bytearray()
        self._is_refused = False
        self._timer: asyncio.TimerHandle | None = None
        self._patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] (as uvicorn's)
        self._buffered = BufferedTransport(transport, self.loop)
        super().connection_made(self._buffered)
        connection = transport.get_extra_info("socket")  # so that the operating system detects vanished peers
        if connection is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, LOST_MILLISECONDS)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        self._limits.arrived(self, self.loop.time())
        self._close_after(SILENT_SECONDS)
        if self._read:
            self.data_received(self._read)
            self._read = b""

    async def detach(self, scope: Scope, body: bytes) -> Detached | None:
        """Take the connection from the event loop, with the request that is being answered and all that follow it.

        Waits until earlier answers are sent. None if the client has left. If a part of the next request was parsed
        already, the connection ends after this one, as its answer announces.
        """
        if self.transport.is_closing():
            return None
        self._buffered.hold_reading(is_held=True)
        # What is still in our buffer would be lost with the descriptor.
        self._buffered.set_write_buffer_limits(0)
        await self.flow.drain()
        if self.transport.is_closing():
            return None
        is_last = self._in_head or self._in_body or self._is_refused
        data = request_bytes(scope, body, is_last=is_last)
        if not is_last:
            parsed = [
                request_bytes(cast("Scope", cycle.scope), bytes(cycle.body)) for cycle, _ in reversed(self.pipeline)
            ]
            data += b"".join([*parsed, self._ahead, self._rest])
        descriptor = os.dup(self.transport.get_extra_info("socket").fileno())
        self._rest.clear()
        self.transport.abort()
        return Detached(descriptor, data)

    def cut(self) -> None:
        """Reset the connection and discard what was not sent yet."""
        connection = self.transport.get_extra_info("socket")
        if connection is not None:
            # A plain close would have the kernel keep unsent bytes for a client that does not read.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGERING)
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._limits.forget_silent(self)
        self._be_patient()
        self._keep()
        self._rest.clear()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._has_more():
            self._ahead += data
            return
        is_waiting = bool(self._rest)
        self._rest += data
        if is_waiting:
            return
        # 300 connections whose chunked bodies arrived together kept another world waiting for 68 to 116 ms.
        if len(self._rest) > PIECE:
            self._await_ration()
        else:
            self._take_piece()

    def _await_ration(self) -> None:
        """Parse a piece of what has arrived when it is its turn; nothing more is read before the rest is parsed."""
        self._buffered.hold_reading(is_held=True)
        self._limits.rations.add(self._take_piece)

    def _take_piece(self) -> int:
        """Parse the next piece of what has arrived. Return its size."""
        piece = bytes(self._rest[:PIECE])
        del self._rest[:PIECE]
        self._take(piece)
        if self.pipeline:
            self._ahead += self._rest
            self._rest.clear()
        if self._rest:
            self._await_ration()
        else:
            self._buffered.hold_reading(is_held=False)
        return len(piece)

    def _take(self, piece: bytes) -> None:
        """Parse a part of a request."""
        if self._is_refused or self.parser is None or self.transport.is_closing():
            return
        if not self._in_body and b"pgrade" in piece.partition(b"\r\n\r\n")[0]:
            head, end, body = piece.partition(b"\r\n\r\n")
            piece = _UPGRADE.sub(b"ignored", head) + end + body
        self._piece = b"" if self._in_head or self._in_body else piece
        super().data_received(piece)
        self._piece = b""
        if self._in_body and self._timer is None:
            self._close_after(STUCK_SECONDS)
        if not self._in_head:
            return
        if self._head == 0:
            self._close_after(HEAD_SECONDS)
        self._head += len(piece)
        if self._head > LONGEST_HEAD:
            self._refuse(431, "Request header fields too large")

    def on_response_complete(self) -> None:
        """Go on with the next request; what was sent ahead is parsed then."""
        super().on_response_complete()
        if not self.transport.is_closing() and not self._has_more():
            self._limits.answered(self, self.loop.time())
        if self._has_more():
            self.flow.pause_reading()
        if self._ahead and not self.pipeline:
            self.loop.call_soon(self._go_on)

    def _has_more(self) -> bool:
        """Whether the client has sent more requests without waiting for the answer to this one."""
        return bool(self._ahead or self.pipeline)

    def _go_on(self) -> None:
        data, self._ahead = bytes(self._ahead), bytearray()
        if not self.pipeline:
            self.flow.resume_reading()
        self.data_received(data)

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be parsed, like the application refuses requests."""
        if self._listed > LONGEST_HEAD:
            self._refuse(431, "Request header fields too large")
        else:
            self._refuse(400, "Bad Request")

    def _refuse(self, status: int, message: str) -> None:
        """Refuse a request that cannot be parsed, after the answers to those before it."""
        self._is_refused = True
        if self.cycle is not None and not self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison] (none before the first request)
            self.cycle.keep_alive = False
            if not self._in_body or self.pipeline or self.cycle.response_started:
                return
            self.cycle.disconnected = True
            self.cycle.message_event.set()  # the application waits for the rest of the body
        body = encode({"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": message}})
        kinds = f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self.transport.write(f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{kinds}".encode() + body)
        self.transport.close()

    def shutdown(self) -> None:
        """Shut down like uvicorn, without waiting for the rest of a request."""
        super().shutdown()
        if self._in_head or self._in_body:
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._head, self._listed = True, 0, 0
        self.scope["extensions"] = {
            CONNECTION: {"close": self.transport.close, "has_more": self._has_more, "detach": self.detach}
        }

    def on_url(self, url: bytes) -> None:
        self._list(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header. Trailers after the body are counted, and left out: they came too late for any check."""
        self._list(len(name) + len(value))
        if self._in_body:
            return
        name = name.lower()
        if name == b"expect":
            super().on_header(name, value)
        else:
            self.headers.append((name, value))

    def _list(self, size: int) -> None:
        """Count bytes of a head. Raises `ValueError` for too many, which the parser reports."""
        self._listed += size
        if self._listed > LONGEST_HEAD:
            raise ValueError(f"a head of more than {LONGEST_HEAD} bytes")

    def on_headers_complete(self) -> None:
        """Strip white space around header values: the parser keeps it at the end."""
        self.headers[:] = [(name, value.strip(b" \t")) for name, value in self.headers]
        self._in_head, self._in_body = False, True
        self._limits.forget_silent(self)
        self._keep()
        self._whole = self._whole_body()
        if self._whole is None:
            super().on_headers_complete()

    def _whole_body(self) -> bytes | None:
        """Return the body of a POST request that arrived whole, and alone, while no other is being answered."""
        # Most requests of MCP clients are one piece: they are answered here, without a task and a queue of their own.
        if not self._piece or self._is_busy() or self.expect_100_continue:
            return None
        parser = self.parser
        assert parser is not None
        if parser.get_method() != b"POST" or parser.get_http_version() != "1.1":
            return None
        if not parser.should_keep_alive() or parser.should_upgrade():
            return None
        _, _, body = self._piece.partition(b"\r\n\r\n")
        lengths = [value for name, value in self.headers if name in (b"content-length", b"transfer-encoding")]
        return body if lengths == [b"%d" % len(body)] else None

    def _is_busy(self) -> bool:
        """Whether more has arrived than the piece that is parsed, or earlier answers are not sent yet."""
        if self._rest or self._has_more() or self.flow.write_paused:
            return True
        return self.cycle is not None and not self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison] (none before the first request)

    def on_body(self, body: bytes) -> None:
        if self._whole is None:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        self._keep()
        body, self._whole = self._whole, None
        if body is not None:
            answer = self._answer_at_once(self.url, self.headers, body)
            if answer is not None:
                # Close the connection if no other request begins for a while, as the application does.
                self._buffered.write_whole(answer)
                self._limits.answered(self, self.loop.time())
                self.timeout_keep_alive_task = self.loop.call_later(
                    self.timeout_keep_alive, self.timeout_keep_alive_handler
                )
                return
            super().on_headers_complete()
            super().on_body(body)
        super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._patience = self.loop.call_later(self._limits.unread_seconds, self.cut)
        self._limits.stalled(self, self._buffered.newest)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._be_patient()

    def _be_patient(self) -> None:
        self._limits.resumed(self)
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _close_after(self, seconds: float) -> None:
        self._keep()
        self._timer = self.loop.call_later(seconds, self.cut)

    def _keep(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def request_bytes(scope: Scope, body: bytes, *, is_last: bool = False) -> bytes:
    """Return a request whose body has arrived as it could have been sent, with its length in its head."""
    query = scope["query_string"]
    target = b"%b?%b" % (scope["raw_path"], query) if query else scope["raw_path"]
    kept = [header for header in scope["headers"] if header[0] not in _OF_THE_BODY]
    if body or len(kept) < len(scope["headers"]):
        kept.append((b"content-length", b"%d" % len(body)))
    if is_last:
        kept = [*(header for header in kept if header[0] != b"connection"), (b"connection", b"close")]
    lines = b"".join([b"%b: %b\r\n" % header for header in kept])
    method, version = scope["method"].encode(), scope["http_version"].encode()
    return b"%b %b HTTP/%b\r\n%b\r\n%b" % (method, target, version, lines, body)
