"""A bridge between a client over stdio and a server over HTTP, which forwards each message unchanged."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import anyio
import httpx2
from anyio.abc import TaskGroup
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
    find_invalid_x_mcp_header,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    PROTOCOL_VERSION_META_KEY,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
    jsonrpc_message_adapter,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcp_sim.server.lines import LONGEST_LINE
from mcp_sim.types.errors import McpSimError
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.urls import split_url

SESSION_HEADER = "mcp-session-id"
STREAM = "text/event-stream"
CONNECT_SECONDS = 10.0  # a host that drops packets is given up by TCP only after minutes

NOTIFY_SECONDS = 2.0
"""Seconds that later messages wait for the server to accept a notification. Longer, and a server that never accepts one
would delay every later call."""

ACCEPT_SECONDS = 30.0
"""Seconds after which a notification that the server has not accepted is abandoned. A server that loads something at
its start may take as long."""

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class TooLong(httpx2.RequestError):
    """Raised for an answer with more bytes than a message may have."""

    def __init__(self) -> None:
        super().__init__(f"The answer is longer than {LONGEST_LINE} bytes")


class ServerGone(McpSimError):
    """Raised when the server at a URL does not answer any more."""

    def __init__(self, url: str, reason: str) -> None:
        self.url, self.reason = url, reason
        super().__init__(f"no server answers at {url}: {reason}")


class Bridge:
    """A bridge to the server at `url`, run like a server itself. `gone` is why it ended before its client left."""

    def __init__(self, url: str, token: str | None) -> None:
        self.gone: ServerGone | None = None
        self._url = url
        self._token_header = {b"authorization": b"Bearer " + token.encode()} if token else dict[bytes, bytes]()
        self._session: dict[str, str] = {}
        self._handshake: anyio.Event | None = None
        self._requests: dict[RequestId, anyio.CancelScope] = {}
        self._mirrored: dict[str, Mapping[tuple[str, ...], str]] = {}

    def create_initialization_options(self) -> None:
        """Return no options, since the remote server has its own."""

    async def run(
        self,
        read: MemoryObjectReceiveStream[SessionMessage | Exception],
        write: MemoryObjectSendStream[SessionMessage],
        _options: None,
    ) -> None:
        """Forward messages until the client leaves or the server is gone."""
        is_near = split_url(self._url).hostname in LOOPBACK
        limits = httpx2.Limits(max_connections=None)
        timeout = httpx2.Timeout(None, connect=CONNECT_SECONDS)
        async with (
            write,
            httpx2.AsyncClient(
                headers=self._token_header, limits=limits, timeout=timeout, trust_env=not is_near
            ) as self._client,
            anyio.create_task_group() as self._tasks,
        ):
            self._write = write
            async for item in read:
                if isinstance(item, SessionMessage):
                    await self._take(item.message, self._tasks)
            self._tasks.cancel_scope.cancel()
            # End the session, if there is one. A server that does not answer is ignored.
            if SESSION_HEADER in self._session:
                with suppress(httpx2.RequestError), anyio.move_on_after(1.0, shield=True):
                    await self._client.delete(self._url, headers=self._session)

    async def _take(self, message: JSONRPCMessage, tasks: TaskGroup) -> None:
        """Forward a request concurrently with others, and a notification in order.

        Messages after a handshake wait for its answer, which determines headers of later requests.
        """
        if self._handshake is not None:
            with anyio.move_on_after(CONNECT_SECONDS):
                await self._handshake.wait()
        match message:
            case JSONRPCRequest(id=request):
                self._handshake = anyio.Event() if message.method == "initialize" else self._handshake
                scope = self._requests[request] = anyio.CancelScope()
                tasks.start_soon(self._ask, message, scope)
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as request}):
                # Cancel a request: with a session by a notification, without one by closing its connection.
                if self._session:
                    await self._notify_in_order(message)
                if request in self._requests:
                    self._requests[request].cancel()
            case _:
                await self._notify_in_order(message)
        if isinstance(message, JSONRPCNotification) and message.method == "notifications/initialized":
            tasks.start_soon(self._receive_events)

    async def _notify_in_order(self, message: JSONRPCMessage) -> None:
        """Post a message that has no answer before later ones. A slow server delays those for TELL_SECONDS at most."""
        accepted = anyio.Event()
        self._tasks.start_soon(self._notify, message, accepted)
        with anyio.move_on_after(NOTIFY_SECONDS):
            await accepted.wait()

    async def _notify(self, message: JSONRPCMessage, accepted: anyio.Event) -> None:
        content, headers = _written(message), self._headers(message)
        with suppress(httpx2.RequestError), anyio.move_on_after(ACCEPT_SECONDS):
            async with self._client.stream("POST", self._url, content=content, headers=headers) as response:
                await _body(response)
        accepted.set()

    async def _ask(self, request: JSONRPCRequest, scope: anyio.CancelScope) -> None:
        """Post a request and forward every message of the response; an error is the answer if the response is empty."""
        with scope:
            try:
                await self._post(request)
            except httpx2.ConnectError as error:
                self._leave(str(error) or "connection refused")
            except httpx2.ConnectTimeout:
                self._leave("connecting takes too long")
            except TooLong as error:
                await self._fail(request, str(error))
            except httpx2.RequestError as error:
                await self._fail(request, f"Connection closed: {type(error).__name__}")
        if request.method == "initialize" and self._handshake is not None:
            self._handshake.set()
        if self._requests.get(request.id) is scope:
            del self._requests[request.id]

    async def _post(self, request: JSONRPCRequest) -> None:
        content, headers = _written(request), self._headers(request)
        async with self._client.stream("POST", self._url, content=content, headers=headers) as response:
            if response.headers.get("content-type", "").startswith(STREAM):
                is_answered = await self._forward_events(response, request)
            else:
                is_answered = await self._forward(await _body(response), request)
            session = response.headers.get(SESSION_HEADER, "")
            if session and session.isascii():
                self._session[SESSION_HEADER] = session
            if not is_answered:
                await self._fail(request, f"HTTP {response.status_code} {response.reason_phrase}".strip())

    async def _forward_events(self, response: httpx2.Response, request: JSONRPCRequest | None) -> bool:
        async for event in httpx2.EventSource(response, max_event_size=LONGEST_LINE):
            if event.data and await self._forward(event.data.encode(), request):
                return True
        return False

    async def _forward(self, body: bytes, request: JSONRPCRequest | None) -> bool:
        """Forward a message to the client. Return whether it is the answer to this request."""
        try:
            message = jsonrpc_message_adapter.validate_json(body, by_name=False)
        except ValidationError:
            return False
        is_answer = isinstance(message, JSONRPCResponse | JSONRPCError)
        if is_answer and request is not None:
            message = message.model_copy(update={"id": request.id})
            self._learn(request, message)
        await self._write.send(SessionMessage(message))
        return is_answer

    async def _fail(self, request: JSONRPCRequest, reason: str) -> None:
        error = ErrorData(code=CONNECTION_CLOSED, message=reason)
        await self._write.send(SessionMessage(JSONRPCError(jsonrpc="2.0", id=request.id, error=error)))

    async def _receive_events(self) -> None:
        """Forward messages that the server sends outside of requests, where it has sessions."""
        headers = {**self._session, "accept": STREAM}
        with suppress(httpx2.RequestError, httpx2.SSEError):
            async with self._client.stream("GET", self._url, headers=headers) as response:
                if response.is_success:
                    await self._forward_events(response, None)

    def _learn(self, request: JSONRPCRequest, answer: JSONRPCResponse | JSONRPCError) -> None:
        """Remember what later requests need as headers: the negotiated version, and arguments mirrored in headers."""
        result = answer.result if isinstance(answer, JSONRPCResponse) else dict[str, Any]()
        if request.method == "initialize" and "protocolVersion" in result:
            self._session[MCP_PROTOCOL_VERSION_HEADER] = encode_header_value(str(result["protocolVersion"]))
        if request.method == "tools/list":
            for tool in map(as_object, as_list(result.get("tools"))):
                name, schema = tool.get("name"), tool.get("inputSchema")
                if isinstance(name, str) and find_invalid_x_mcp_header(schema) is None:
                    self._mirrored[name] = x_mcp_header_map(schema)

    def _headers(self, message: JSONRPCMessage) -> dict[str, str]:
        """Return the HTTP headers of a message."""
        headers = {"accept": f"application/json, {STREAM}", "content-type": "application/json", **self._session}
        params = as_object(getattr(message, "params", None))
        version = as_object(params.get("_meta")).get(PROTOCOL_VERSION_META_KEY)
        if not isinstance(message, JSONRPCRequest | JSONRPCNotification) or version not in MODERN_PROTOCOL_VERSIONS:
            return headers
        headers |= {MCP_PROTOCOL_VERSION_HEADER: version, MCP_METHOD_HEADER: encode_header_value(message.method)}
        name = params.get(NAME_BEARING_METHODS.get(message.method, ""))
        if isinstance(name, str):
            headers[MCP_NAME_HEADER] = encode_header_value(name)
            headers |= mcp_param_headers(self._mirrored.get(name, {}), as_object(params.get("arguments")))
        return headers

    def _leave(self, reason: str) -> None:
        self.gone = ServerGone(self._url, reason)
        self._tasks.cancel_scope.cancel()


async def _body(response: httpx2.Response) -> bytes:
    """Return the whole body of a response. Raises `TooLong` for one that exceeds LONGEST_LINE."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > LONGEST_LINE:
            raise TooLong
    return bytes(body)


def _written(message: JSONRPCMessage) -> bytes:
    return json.dumps(message.model_dump(by_alias=True, mode="json", exclude_unset=True)).encode()
