"""An HTTP request and its response, which may be broken on purpose, or abandoned when the client leaves.

Web pages on other origins get answers to their preflights, and headers that let them read a response.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Generator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import anyio
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST

from mcp_sim.server.lines import Refused, parse_message
from mcp_sim.server.turns import Turn
from mcp_sim.types import BrokenDelivery
from mcp_sim.types.errors import McpSimError
from mcp_sim.types.json_values import encode, has_many_values

if TYPE_CHECKING:
    from mcp_sim.server.access import WorldNames

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

EXCHANGE = "mcp-sim.exchange"
"""The key of the exchange in an ASGI scope."""

CONNECTION = "mcp-sim.connection"
"""The key of functions of the connection, in the extensions of an ASGI scope: `close`, `detach`, `has_more`."""

EMPTY_RESULT = b'"result":{}}'

LEAVING = "The server is shutting down"

UNWATCHED = 0.05
"""Seconds after which the server starts to check that the client of a request is still connected. Most calls end
before, and are spared the cost of watching."""
_SINGLE = frozenset({b"host", b"origin", b"authorization", b"mcp-session-id", b"mcp-protocol-version"})
"""Headers that decide where a request belongs: a proxy might have read another one of the same name."""


class Exchange:
    """A request in progress. `is_endless`: it ends only with its client or with the server.

    `has_begun`: a part of the response was sent.
    `takes_results`: the response will be a single JSON text, into which an encoded result can be inserted.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, body: bytes, names: WorldNames) -> None:
        self.scope, self.names = scope, names
        self.is_endless = self.takes_results = False
        self.body = body
        self._result: bytes | None = None
        self._head: Message = {}
        self._receive, self._send = receive, send
        self.has_begun = self._is_complete = self._is_read = self._is_timed_out = False
        self._running = anyio.CancelScope()
        self._stage: anyio.CancelScope | None = None
        self._is_certain = False
        self.turn: Turn | None = None
        self._broken: BrokenDelivery | None = None
        self._watch: asyncio.Task[None] | None = None
        self._ended: anyio.Event | None = None
        scope[EXCHANGE] = self

    @property
    def ends_session(self) -> bool:
        """Whether the response was broken in a way that ends the session."""
        return self._broken is not None and self._broken.ends_session

    @property
    def is_unanswered(self) -> bool:
        """Whether it was cancelled for being late before anything was sent."""
        return self._is_timed_out and not (self._is_certain or self._broken is not None or self.has_begun)

    async def answer_with(self, app: App) -> None:
        """Let an application answer the request until the client leaves. It may still be unanswered afterwards."""
        # A timer instead of a task for each request, since most end before.
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
        """Return the body of the request, then block until the client leaves."""
        if self._is_read:
            return await self._receive()
        self._is_read = True
        body, self.body = self.body, b""  # may be large, and exchanges live until garbage collection
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        if self.is_unanswered:
            await anyio.sleep_forever()  # it is being cancelled, and refused as a whole
        self.has_begun = True
        if self.is_endless and self.turn is not None:
            self.turn.end()  # a stream has begun, which may last
        self._is_complete = message["type"] == "http.response.body" and not message.get("more_body")
        if self._result is None:
            await self._send(message)
        elif message["type"] == "http.response.start":
            self._head = message
        else:
            body = message["body"]
            # The SDK wraps an empty result, and the bytes replace it: it would validate and copy a large one.
            if body.endswith(EMPTY_RESULT):
                body = b"%b%b}" % (body[:-3], self._result)
            headers = [header for header in self._head["headers"] if header[0] != b"content-length"]
            await respond(self._send, self._head["status"], headers, body)

    def take_result(self, result: bytes) -> None:
        """Replace the empty result of the response by this one."""
        self._result = result

    def abandon(self) -> None:
        """Cancel the request and close the connection."""
        self._running.cancel()

    def time_out(self) -> None:
        """End the request, since the server ends.

        A call that the world has answered gets its answer at once. Another one is cancelled, and changes nothing; if
        nothing was sent yet, it can still be answered with an error.
        """
        self._is_timed_out = True
        if self._stage is not None:
            self._stage.cancel()
        # A committed call keeps its connection: its answer must reach the client, who would make the call again.
        elif self.is_endless or not self._is_certain:
            self._running.cancel()

    def calling(self) -> Calling:
        """Enclose the call of a world. Raises `MCPError` if the end of the server cancels or prevents it."""
        return Calling(self)

    def begin_call(self) -> anyio.CancelScope:
        """Return the scope of the call of a world, which is open."""
        if self._is_timed_out:
            raise self._cancelled()
        self._stage = anyio.CancelScope()
        return self._stage.__enter__()

    def end_call(self, *, is_cancelled: bool) -> None:
        """Note that the world has answered, or that its call was cancelled. Raises `MCPError` in the latter case."""
        self._stage, self._is_certain = None, not is_cancelled
        if self.turn is not None:
            self.turn.end()
        if is_cancelled:
            raise self._cancelled()

    def _cancelled(self) -> MCPError:
        self._running.cancel()
        return MCPError(INTERNAL_ERROR, LEAVING)

    @contextmanager
    def delayed(self) -> Generator[None]:
        """Enclose the delay of an answer, which the end of the server cuts short."""
        with anyio.CancelScope() as self._stage:
            if self._is_timed_out:
                self._stage.cancel()
            yield
        self._stage = None

    async def break_off(self, broken: BrokenDelivery) -> NoReturn:
        """Break the response. Raises `MCPError` once the exchange is over, to end the work on it."""
        ended = self._ended = anyio.Event()
        if broken.how == "no_answer":
            self.is_endless = True
        else:
            self._broken = broken
            self._running.cancel()
        await ended.wait()
        raise MCPError(INTERNAL_ERROR, "Connection closed")

    async def _break(self) -> None:
        """Send what a client sees of a broken response."""
        match self._broken:
            case BrokenDelivery(how="http", status=status, headers=headers, body=body) if not self.has_begun:
                sent = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
                if not any(name == b"content-type" for name, _ in sent):
                    sent.append((b"content-type", b"text/plain; charset=utf-8"))
                kept = [header for header in sent if header[0] != b"content-length"]
                await respond(self._send, status or 500, kept, body.encode())
                return
            case BrokenDelivery(how="garbled", body=body):
                await self._garble(body.encode())
                return
            case BrokenDelivery(how="partial", body=body):
                begun = body.encode()
                if not self.has_begun:
                    promised = str(len(begun) + 1024).encode()
                    announced = [(b"content-type", b"application/json"), (b"content-length", promised)]
                    await self._send({"type": "http.response.start", "status": 200, "headers": announced})
                await self._send({"type": "http.response.body", "body": begun, "more_body": True})
            case _:
                pass
        self.scope["extensions"][CONNECTION]["close"]()
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _garble(self, body: bytes) -> None:
        """Send a complete response with garbled content; within a stream, as an event."""
        if not self.has_begun:
            await respond(self._send, 200, [(b"content-type", b"application/json")], body)
            return
        event = b"event: message\r\ndata: %b\r\n\r\n" % body
        await self._send({"type": "http.response.body", "body": event, "more_body": False})

    def _start_watch(self) -> None:
        self._watch = asyncio.get_running_loop().create_task(self._until_left())

    async def _until_left(self) -> None:
        """Cancel the request when its client leaves. The end of the response looks the same."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if not self._is_complete:
            self._running.cancel()


class Calling:
    """The stage of a request in which a world is called."""

    __slots__ = ("_exchange", "_scope")

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    def __enter__(self) -> None:
        self._scope = self._exchange.begin_call()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        is_handled = self._scope.__exit__(kind, error, trace)
        self._exchange.end_call(is_cancelled=self._scope.cancelled_caught)
        return is_handled


async def respond(send: Send, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> None:
    """Send a complete response."""
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def check_values(body: bytes) -> None:
    """Raise `Refusal` for a body with too many values."""
    if has_many_values(body):
        raise Refusal(413, INVALID_REQUEST, "Request body too large", reason="its JSON has too many values")


_SUSPICIOUS = re.compile(rb'"id"\s*:\s*(?:[^"\-\d\s]|-?\d+[.eE])|"params"\s*:\s*[^{\s]|"method"\s*:\s*[^"\s]')
"""An odd id, parameters that are not an object, or a method that is not a text, perhaps in a part of the message."""
_VERSION = re.compile(rb'"jsonrpc"\s*:\s*"2\.0"')
_KIND = re.compile(rb'"(?:method|result|error)"\s*:')


def check_single(headers: Sequence[tuple[bytes, bytes]]) -> None:
    """Raise `Refusal` if a header that must be the only one of its name occurs twice."""
    names = [name for name, _ in headers if name in _SINGLE]
    if len(names) > len(set(names)):
        twice = next(name.decode() for name in names if names.count(name) > 1)
        raise Refusal(400, INVALID_REQUEST, "Bad Request", reason=f"the header {twice} occurs twice")


def check_message(body: bytes) -> None:
    """Raise `Refusal` for a value that is not a message, as over stdio. Parses suspicious ones only; batches never."""
    first = body.lstrip()[:1]
    is_usual = _VERSION.search(body) and _KIND.search(body) and not _SUSPICIOUS.search(body)
    if first == b"[" or (first == b"{" and is_usual):
        return
    try:
        parse_message(body)
    except Refused as refused:
        if refused.answer.error.code == INVALID_REQUEST:
            raise Refusal(400, INVALID_REQUEST, str(refused), number=refused.answer.id) from None


class Refusal(McpSimError):
    """A refused HTTP request: the status and the JSON-RPC error of the response.

    `reason` says more to the operator of the server. The client does not see it. `number` is the id of the request.
    """

    def __init__(
        self,
        status: int,
        code: int,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        reason: str = "",
        number: int | str | None = None,
    ) -> None:
        self.status, self.code, self.headers, self.number = status, code, dict(headers or {}), number
        self.reason = reason or message
        super().__init__(message)

    async def send(self, send: Send) -> None:
        body = encode({"jsonrpc": "2.0", "id": self.number, "error": {"code": self.code, "message": str(self)}})
        headers = {"content-type": "application/json", **self.headers}
        await respond(send, self.status, [(name.encode(), value.encode()) for name, value in headers.items()], body)


LONGEST_BODY = 4 * 1024 * 1024  # as much as the MCP SDK for TypeScript accepts
BODY_SECONDS = 30.0
"""Seconds that a client may take to send a request."""

MOST_HELD = 64 * 1024 * 1024
"""Bytes of unfinished bodies beyond which the oldest are abandoned."""


class Bodies:
    """Bodies that are being received, limited in size (`longest`, in bytes), time and memory."""

    def __init__(self, longest: int = LONGEST_BODY) -> None:
        self._longest = longest
        self._sizes: dict[anyio.CancelScope, int] = {}
        self._held = 0

    async def whole(self, receive: Receive) -> bytes:
        """Return the body of a request. Raises `Refusal` if it is too long, incomplete or late."""
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
        while len(body) <= self._longest:
            self._held += len(body) - self._sizes[scope]
            self._sizes[scope] = len(body)
            if self._held > MOST_HELD:
                next(iter(self._sizes)).cancel()
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Refusal(400, INVALID_REQUEST, "The request did not arrive whole", {"connection": "close"})
            body += message.get("body", b"")
            if not message.get("more_body") and len(body) <= self._longest:
                return bytes(body)
        raise Refusal(413, INVALID_REQUEST, "Request body too large", {"connection": "close"})


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a function that gives the body of a request that was read, then what its client does next."""
    unread = [body]

    async def replay() -> Message:
        if unread:
            return {"type": "http.request", "body": unread.pop(), "more_body": False}
        return await receive()

    return replay


# web pages on other origins -------------------------------------------------------------------------------------------


_EXPOSED = b"mcp-session-id, mcp-protocol-version, www-authenticate, retry-after"
"""Headers of answers that clients in browsers need."""
_METHODS = b"GET, POST, DELETE, OPTIONS"
_SECONDS = b"600"
"""Seconds that a browser remembers a preflight: Chromium allows 7,200, and a restarted server may allow less."""
_REQUESTED, _NEAR = b"access-control-request-headers", b"access-control-request-private-network"


def is_preflight(method: str, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a browser asks whether a page may send a request."""
    return method == "OPTIONS" and b"access-control-request-method" in headers


def preflight_headers(headers: Mapping[bytes, bytes]) -> list[tuple[bytes, bytes]]:
    """Return what allows the request that a preflight announces, with the headers that it names."""
    allowed = [(b"access-control-allow-methods", _METHODS), (b"access-control-max-age", _SECONDS)]
    if _REQUESTED in headers:
        allowed.append((b"access-control-allow-headers", headers[_REQUESTED]))
    if _NEAR in headers:  # a page of the Internet asks for a server on this machine
        allowed.append((b"access-control-allow-private-network", b"true"))
    return allowed


def readable_by(origin: bytes, send: Send) -> Send:
    """Return a `send` whose responses the pages of an origin may read."""
    added = [
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", _EXPOSED),
        (b"vary", b"origin"),
    ]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sending
