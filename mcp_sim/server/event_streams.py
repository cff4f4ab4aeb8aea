"""Event streams of a session: several at a time, each message on one of them.

The SDK allows one, and refuses the next even where the first has just broken.
"""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from typing import Any, TypeAlias, TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server.streamable_http import GET_STREAM_KEY, EventMessage, StreamableHTTPServerTransport, check_accept_headers
from mcp.shared.message import SessionMessage
from starlette.requests import Request

from mcp_sim.server.exchange import Send

PING_SECONDS = 15.0
"""Seconds of silence after which a comment is sent, before a proxy closes the stream (the least default is 30)."""
MOST_HELD = 64
"""Messages that wait for a client that does not read."""
MOST_STREAMS = 16
"""Streams of a session; beyond, the oldest ends. Clients open one, and another one after that broke."""

HEADERS = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache, no-transform")]
PING = b": ping\r\n\r\n"

M = TypeVar("M", EventMessage, SessionMessage)

_Stream: TypeAlias = "tuple[MemoryObjectSendStream[EventMessage], MemoryObjectReceiveStream[EventMessage]]"


async def forward(messages: MemoryObjectReceiveStream[M], send: Send) -> None:
    """Send messages as events. Comments fill the silence between them, before a proxy closes the stream."""
    while True:
        data = PING
        with anyio.move_on_after(PING_SECONDS):
            data = event((await messages.receive()).message.model_dump_json(by_alias=True, exclude_unset=True).encode())
        await send({"type": "http.response.body", "body": data, "more_body": True})


def event(data: bytes, kind: bytes = b"message") -> bytes:
    """Return an event of a stream."""
    return b"event: %b\r\ndata: %b\r\n\r\n" % (kind, data)


class _Streams(dict[Any, Any]):
    """The SDK's streams by request. Under the key of event streams is the newest that is open, whatever is removed.

    The SDK removes the key when a message meets a stream that has just ended, and by then the key may mean another one.
    """

    def __init__(self, opened: list[_Stream]) -> None:
        super().__init__()
        self._opened = opened

    def __contains__(self, key: object) -> bool:
        return bool(self._opened) if key == GET_STREAM_KEY else super().__contains__(key)

    def __getitem__(self, key: Any) -> Any:
        return self._opened[-1] if key == GET_STREAM_KEY else super().__getitem__(key)


class Transport(StreamableHTTPServerTransport):
    """The SDK's transport of a session, whose newest event stream gets what belongs to no request."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._opened = list[_Stream]()
        self._request_streams = _Streams(self._opened)

    async def _handle_get_request(self, request: Request, send: Send) -> None:
        _, takes_events = check_accept_headers(request)
        if not takes_events:
            await self._refuse(request, send, HTTPStatus.NOT_ACCEPTABLE, "Client must accept text/event-stream")
        elif "last-event-id" in request.headers:
            # Events have no ids, so this client has the id of another server, or of a proxy.
            allowed = {"allow": "POST, DELETE"}
            await self._refuse(
                request, send, HTTPStatus.METHOD_NOT_ALLOWED, "Streams of this server cannot be resumed", allowed
            )
        elif await self._validate_request_headers(request, send):
            stream: _Stream = anyio.create_memory_object_stream[EventMessage](MOST_HELD)
            self._opened.append(stream)
            if len(self._opened) > MOST_STREAMS:
                self._opened[0][0].close()
            session = [(b"mcp-session-id", self.mcp_session_id.encode())] if self.mcp_session_id else []
            try:
                await send({"type": "http.response.start", "status": 200, "headers": [*HEADERS, *session]})
                with suppress(anyio.EndOfStream, anyio.ClosedResourceError):
                    await forward(stream[1], send)
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            finally:
                # The newest stream that is left gets the messages from now on.
                self._opened.remove(stream)
                for end in stream:
                    end.close()

    async def _refuse(
        self, request: Request, send: Send, status: HTTPStatus, message: str, headers: dict[str, str] | None = None
    ) -> None:
        response: Any = self._create_error_response(f"{status.phrase}: {message}", status, headers=headers)
        await response(request.scope, request.receive, send)

    async def terminate(self) -> None:
        for sender, _ in self._opened:
            sender.close()
        await super().terminate()
