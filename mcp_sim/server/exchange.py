"""One HTTP request and its answer, which may be broken off on purpose, or given up when the client leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, NoReturn, TypeAlias

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST

from mcp_sim.server.access import Match
from mcp_sim.types import BrokenDelivery
from mcp_sim.types.errors import McpSimError
from mcp_sim.types.json_values import encode

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

EXCHANGE = "mcp-sim.exchange"
"""Where a request's scope holds its exchange."""

CLOSE = "mcp-sim.close"
"""Where a scope's extensions hold what closes the connection."""

EMPTY_RESULT = b'"result":{}}'

UNWATCHED = 0.05
"""So many seconds an answer may take before anybody looks whether its client is still there."""


class Exchange:
    """A request under way. `is_endless`: only its client, or the end of the server, will end it.

    `has_begun`: its client has been sent something.
    `takes_results`: its answer will be one JSON text, into which a result can be put that is JSON text already.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, body: bytes, claims: Match) -> None:
        self.scope, self.match = scope, claims
        self.is_endless = self.takes_results = False
        self.body = body
        self._result: bytes | None = None
        self._head: Message = {}
        self._receive, self._send = receive, send
        self.has_begun = self._is_read = self._is_late = False
        self._running = anyio.CancelScope()
        self._broken: BrokenDelivery | None = None
        self._watch: asyncio.Task[None] | None = None
        self._ended: anyio.Event | None = None
        scope[EXCHANGE] = self

    @property
    def ends_session(self) -> bool:
        """Was it broken off in such a way that its session is lost?"""
        return self._broken is not None and self._broken.ends_session

    @property
    def is_unanswered(self) -> bool:
        """Was it given up for being late, with nothing said to its client yet?"""
        return self._is_late and self._broken is None and not self.has_begun

    async def carry(self, app: App) -> None:
        """Have the request answered, as long as its client is there. Afterwards it may be unanswered."""
        timer = asyncio.get_running_loop().call_later(UNWATCHED, self._start_watch)
        try:
            with self._running:
                await app(self.scope, self.receive, self.send)
        finally:
            timer.cancel()
            if self._watch is not None:
                self._watch.cancel()
        if self._running.cancelled_caught and not self.is_unanswered:
            await self._break()
        if self._ended is not None:
            self._ended.set()

    async def receive(self) -> Message:
        """The request's body, then nothing until the client leaves."""
        if self._is_read:
            return await self._receive()
        self._is_read = True
        body, self.body = self.body, b""  # which may be large, and exchanges live until the collector comes
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        self.has_begun = True
        if self._result is None:
            await self._send(message)
        elif message["type"] == "http.response.start":
            self._head = message
        else:
            await self._send_whole(message["body"], self._result)

    def take_result(self, result: bytes) -> None:
        """Put this into the answer, in the place of an empty result."""
        self._result = result

    async def _send_whole(self, body: bytes, result: bytes) -> None:
        """The answer with its result, unless it has become an error in the meantime."""
        if body.endswith(EMPTY_RESULT):
            body = b"%b%b}" % (body[:-3], result)
        headers = [header for header in self._head["headers"] if header[0] != b"content-length"]
        await respond(self._send, self._head["status"], headers, body)

    def give_up(self) -> None:
        """Whoever works on the answer stops; a client that is still there finds its connection closed."""
        self._running.cancel()

    def be_late(self) -> None:
        """Whoever works on the answer stops; a client that has heard nothing yet can still be told so."""
        self._is_late = True
        self._running.cancel()

    async def break_off(self, broken: BrokenDelivery) -> NoReturn:
        """Break the answer in this way. Raises what ends the work on it, once the exchange is over."""
        ended = self._ended = anyio.Event()
        if broken.how == "no_answer":
            self.is_endless = True
        else:
            self._broken = broken
            self._running.cancel()
        await ended.wait()
        raise MCPError(INTERNAL_ERROR, "Connection closed")

    async def _break(self) -> None:
        """What a client sees of an answer that was broken off."""
        match self._broken:
            case BrokenDelivery(how="http", status=status, headers=headers, body=body) if not self.has_begun:
                sent = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
                await self._respond(status or 500, sent, body.encode())
                return
            case BrokenDelivery(how="garbled", body=body):
                await self._garble(body.encode())
                return
            case BrokenDelivery(how="partial", body=body):
                await self._begin(body.encode())
            case _:
                pass
        self.scope["extensions"][CLOSE]["now"]()
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _respond(self, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
        if not any(name == b"content-type" for name, _ in headers):
            headers.append((b"content-type", b"text/plain; charset=utf-8"))
        kept = [header for header in headers if header[0] != b"content-length"]
        await respond(self._send, status, kept, body)

    async def _garble(self, body: bytes) -> None:
        """A whole answer that holds something else than was asked for; in a stream, as an event of it."""
        if not self.has_begun:
            await respond(self._send, 200, [(b"content-type", b"application/json")], body)
            return
        event = b"event: message\r\ndata: %b\r\n\r\n" % body
        await self._send({"type": "http.response.body", "body": event, "more_body": False})

    async def _begin(self, body: bytes) -> None:
        """The beginning of an answer that promises more than will come."""
        if not self.has_begun:
            promised = str(len(body) + 1024).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", promised)]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": body, "more_body": True})

    def _start_watch(self) -> None:
        self._watch = asyncio.get_running_loop().create_task(self._until_left())

    async def _until_left(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._running.cancel()


async def respond(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    """A whole answer."""
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body, "more_body": False})


class Refusal(McpSimError):
    """An HTTP request that will not be answered: its status, and the JSON-RPC error that says why."""

    def __init__(self, status: int, code: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        self.status, self.code, self.headers = status, code, dict(headers or {})
        super().__init__(message)

    async def send(self, send: Send) -> None:
        """Tell the client."""
        body = encode({"jsonrpc": "2.0", "id": None, "error": {"code": self.code, "message": str(self)}})
        headers = {"content-type": "application/json", **self.headers}
        await respond(send, self.status, [(name.encode(), value.encode()) for name, value in headers.items()], body)


LONGEST_BODY = 4 * 1024 * 1024
BODY_SECONDS = 30.0
"""How long a client may take to send a request."""

MOST_HELD = 64 * 1024 * 1024
"""Where unfinished bodies hold more, those that have been under way for longest are given up."""


class Bodies:
    """The bodies that are under way."""

    def __init__(self) -> None:
        self._sizes: dict[anyio.CancelScope, int] = {}
        self._held = 0

    async def whole(self, receive: Receive) -> bytes:
        """The body of one request. Raises Refusal for one that is too long, or that does not arrive in time."""
        message = await receive()
        if not message.get("more_body"):
            return message.get("body", b"")
        with anyio.move_on_after(BODY_SECONDS) as scope:
            self._sizes[scope] = 0
            try:
                return await self._rest(bytearray(message["body"]), receive, scope)
            finally:
                self._held -= self._sizes.pop(scope)
        raise Refusal(408, INVALID_REQUEST, "The request took too long to arrive", {"connection": "close"})

    async def _rest(self, body: bytearray, receive: Receive, scope: anyio.CancelScope) -> bytes:
        while len(body) <= LONGEST_BODY:
            self._hold(scope, len(body))
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, INVALID_REQUEST, "The request did not arrive whole", {"connection": "close"})
            body += message.get("body", b"")
            if not message.get("more_body"):
                return bytes(body)
        raise Refusal(413, INVALID_REQUEST, "Request body too large", {"connection": "close"})

    def _hold(self, scope: anyio.CancelScope, size: int) -> None:
        self._held += size - self._sizes[scope]
        self._sizes[scope] = size
        if self._held > MOST_HELD:
            next(iter(self._sizes)).cancel()
