"""A proxy in front of a server over HTTP. Bodies pass unchanged, as they come; so do headers but hop-by-hop ones.

With an approval, bodies of POST are read as a whole, and those with calls that are not approved are answered here.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, MutableMapping
from contextlib import asynccontextmanager
from itertools import count
from typing import Any, TypeAlias

import anyio
import httpx2
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST

from mcp_sim.recordings.capture.parsing import Body, Events
from mcp_sim.recordings.relays.approval import Approval
from mcp_sim.server.access import LOOPBACK, Access
from mcp_sim.server.exchange import CONNECTION, LONGEST_BODY, App, Receive, Refusal, Scope, Send, replayed, respond
from mcp_sim.types.urls import split_url

CONNECT_SECONDS = 10.0  # a host that drops packets is given up by TCP only after minutes

_HOP_BY_HOP = frozenset({
    b"connection", b"expect", b"host", b"keep-alive", b"proxy-authenticate", b"proxy-authorization",
    b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade",
})  # fmt: skip
"""Headers of one connection. The server gets its own name as Host."""

Tap: TypeAlias = Callable[[str, int, Any], None]
"""Gets what happens in an exchange, by its number, before it is passed on.

`request`, bytes of the `client`, `asked` at the end of the body, `response`, bytes of the `server`, `late` if it took
too long, `done`.
"""


class ClientLeft(Exception):
    """Raised when the client leaves before the end of its request."""


class HttpRelay:
    """An ASGI application in front of the server at `url`. Paths are those of the server.

    The server may send nothing for `seconds` in answer to a request, but to a GET: that is a stream without an end.
    """

    def __init__(self, url: str, access: Access, tap: Tap, seconds: float, approval: Approval | None = None) -> None:
        parts = split_url(url)
        self._origin = f"{parts.scheme}://{parts.netloc}"
        self._is_near = parts.hostname in LOOPBACK
        self._access, self._tap, self._seconds, self._approval = access, tap, seconds, approval
        self._numbers = count(1)
        self._endless = set[anyio.CancelScope]()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[App]:
        """Yield the application, ready to be served."""
        limits = httpx2.Limits(max_connections=None)
        timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
        async with httpx2.AsyncClient(limits=limits, timeout=timeout, trust_env=not self._is_near) as self._client:
            yield self

    def leave(self) -> None:
        """End the streams that have no end of their own."""
        for scope in tuple(self._endless):
            scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._admit(dict(scope["headers"]))
            if self._approval is not None and scope["method"] == "POST":
                body = await _whole(receive)
                answer = await anyio.to_thread.run_sync(self._approval.answer, body)
                if answer is not None:
                    reads_bodies = b"text/event-stream" in dict(scope["headers"]).get(b"accept", b"")
                    status = (200 if answer else 202) if reads_bodies else 403  # HTTP+SSE answers on another stream
                    await respond(send, status, [(b"content-type", b"application/json")], answer)
                    return
                receive = replayed(body, receive)
        except Refusal as refusal:
            await refusal.send(send)
            return
        except ClientLeft:
            return
        number = next(self._numbers)
        try:
            exchange = _Exchange(self._client, self._origin, number, self._tap, self._seconds, self._approval)
            await exchange.run(scope, receive, send, self._endless)
        finally:
            self._tap("done", number, None)

    def _admit(self, headers: dict[bytes, bytes]) -> None:
        """Raise `Refusal` for a page that reaches this proxy by DNS rebinding: the server cannot notice that itself."""
        host, origin = headers.get(b"host"), headers.get(b"origin")
        if not self._access.is_host(host):
            raise Refusal(421, INVALID_REQUEST, "Invalid Host header; --allow-host adds a name")
        if not self._access.is_origin(origin, host):
            raise Refusal(403, INVALID_REQUEST, "Invalid Origin header; --allow-host adds a name")


class _Exchange:
    """A request that is passed on, and its response."""

    def __init__(
        self, client: httpx2.AsyncClient, origin: str, number: int, tap: Tap, seconds: float, approval: Approval | None
    ) -> None:
        self._client, self._origin, self._seconds = client, origin, seconds
        self._number, self._tap, self._approval = number, tap, approval
        self._has_begun = False

    async def run(self, scope: Scope, receive: Receive, send: Send, endless: set[anyio.CancelScope]) -> None:
        """Pass a request on, and its response back, until either side leaves."""
        left_out = _HOP_BY_HOP if self._approval is None else {*_HOP_BY_HOP, b"accept-encoding"}
        headers = [(name, value) for name, value in scope["headers"] if name not in left_out]
        about = {"method": scope["method"], "path": _path(scope), "headers": headers, "peer": scope.get("client")}
        self._tap("request", self._number, about)
        async with anyio.create_task_group() as tasks:
            if scope["method"] == "GET":
                endless.add(tasks.cancel_scope)
            self._watch = lambda: tasks.start_soon(_cancel_when_gone, receive, tasks.cancel_scope)
            try:
                await self._pass_on(self._request(scope, receive, headers), send)
            except ClientLeft:
                return
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                await self._fail(error, scope, send)
            finally:
                endless.discard(tasks.cancel_scope)
                tasks.cancel_scope.cancel()
        if self._has_begun and not self._is_complete:
            scope["extensions"][CONNECTION]["close"]()

    def _request(self, scope: Scope, receive: Receive, headers: list[tuple[bytes, bytes]]) -> httpx2.Request:
        has_body = any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])
        length = [] if any(name == b"content-length" for name, _ in headers) else [(b"transfer-encoding", b"chunked")]
        host = (b"host", split_url(self._origin).netloc.rpartition("@")[2].encode())
        sent = [host, *headers, *(length if has_body else [])]
        body = _Body(self._body(receive, has_body=has_body))
        seconds = None if scope["method"] == "GET" else self._seconds
        limits = {"timeout": httpx2.Timeout(seconds, connect=CONNECT_SECONDS, pool=None).as_dict()}
        target = f"{self._origin}{_path(scope)}"
        return httpx2.Request(scope["method"], target, headers=sent, stream=body, extensions=limits)

    async def _body(self, receive: Receive, *, has_body: bool) -> AsyncIterator[bytes]:
        is_last = False
        while not is_last:
            message: MutableMapping[str, Any] = await receive() if has_body else {"type": "http.request"}
            if message["type"] == "http.disconnect":
                raise ClientLeft
            is_last, data = not message.get("more_body", False), message.get("body", b"")
            if data:
                self._tap("client", self._number, data)
            if is_last:
                self._tap("asked", self._number, None)
                self._watch()
            if has_body:
                yield data

    async def _pass_on(self, request: httpx2.Request, send: Send) -> None:
        response = await self._client.send(request, stream=True)
        try:
            headers = [(name.lower(), value) for name, value in response.headers.raw if name.lower() not in _HOP_BY_HOP]
            self._tap("response", self._number, {"status": response.status_code, "headers": headers})
            self._has_begun, self._is_complete = True, False
            await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
            parser = Events() if response.headers.get("content-type", "").startswith("text/event-stream") else Body()
            async for data in response.aiter_raw():
                self._tap("server", self._number, data)
                self._learn(parser, data)
                await send({"type": "http.response.body", "body": data, "more_body": True})
            self._learn(parser)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
            self._is_complete = True
        finally:
            with anyio.CancelScope(shield=True):
                await response.aclose()

    def _learn(self, parser: Body | Events, data: bytes | None = None) -> None:
        """Take bytes of the server; None are their end."""
        if self._approval is not None:
            for message in parser.rest() if data is None else parser.feed(data):
                self._approval.learn(message.value)

    async def _fail(self, error: Exception, scope: Scope, send: Send) -> None:
        """Answer that the server does not, unless its response has begun: that is cut off as the server's was."""
        is_late = isinstance(error, httpx2.ReadTimeout | httpx2.WriteTimeout)
        if is_late:
            self._tap("late", self._number, None)
        if self._has_begun:
            scope["extensions"][CONNECTION]["close"]()
            self._is_complete = True
            return
        reason = f"it sent nothing for {self._seconds:g} s" if is_late else str(error) or type(error).__name__
        await Refusal(502, INTERNAL_ERROR, f"The recorded server does not answer: {reason}").send(send)


class _Body(httpx2.AsyncByteStream):
    """The body of a request, as it comes."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._pieces:
            yield piece


async def _whole(receive: Receive) -> bytes:
    """Return the body of a request. Raises `Refusal` for a long one, and `ClientLeft`."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft
        body += message.get("body", b"")
        if len(body) > LONGEST_BODY:
            raise Refusal(413, INVALID_REQUEST, "The message is too long to be judged")
        if not message.get("more_body", False):
            return bytes(body)


def _path(scope: Scope) -> str:
    """Return path and query of a request, as they were sent."""
    raw: bytes = scope.get("raw_path") or scope["path"].encode()
    query: bytes = scope["query_string"]
    return (raw.partition(b"?")[0] + (b"?" + query if query else b"")).decode("latin-1")


async def _cancel_when_gone(receive: Receive, running: anyio.CancelScope) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    running.cancel()
