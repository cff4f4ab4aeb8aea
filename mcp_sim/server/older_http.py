"""HTTP+SSE, the transport of protocol 2024-11-05: answers to messages arrive on one event stream of the client.

`GET .../sse` opens the stream, whose first event names where the client posts its messages. What breaks the delivery of
an answer breaks the stream.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.connection import Connection
from mcp.server.runner import serve_connection
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.shared.transport_context import TransportContext
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST
from starlette.requests import Request

from mcp_sim.server.event_streams import HEADERS, event, forward
from mcp_sim.server.exchange import Exchange, Receive, Refusal, Scope, Send, respond
from mcp_sim.server.impersonation import Impersonation
from mcp_sim.server.lines import Refused, parse_message
from mcp_sim.server.sessions import SessionOwner
from mcp_sim.types.json_values import encode

STREAM, MESSAGES = "sse", "messages"
"""The last part of the paths."""
SESSION = "session_id"
"""The key of the session in the query of a message."""


@dataclass(slots=True)
class _Stream:
    owner: SessionOwner
    scope: Scope
    incoming: MemoryObjectSendStream[SessionMessage | Exception]


class OlderHttp:
    """The streams of a process, at most `most`. `on_end` gets the id of one that has ended; `new_id` makes ids."""

    def __init__(self, most: int, on_end: Callable[[str], None], new_id: Callable[[], str]) -> None:
        self._most, self._on_end, self.new_id = most, on_end, new_id
        self._open = dict[str, _Stream]()

    def __contains__(self, session: str) -> bool:
        return session in self._open

    async def open(self, exchange: Exchange, server: Impersonation, owner: SessionOwner, session: str) -> None:
        """Answer the request for a stream, until its client leaves. Raises `Refusal` if too many are open."""
        if exchange.scope["method"] != "GET":
            raise Refusal(405, INVALID_REQUEST, "Method Not Allowed", {"allow": "GET"})
        if len(self._open) >= self._most:
            reason = f"{len(self._open)} streams are open (--max-sessions)"
            raise Refusal(503, INTERNAL_ERROR, "Too many open sessions", reason=reason)
        exchange.is_endless = True
        try:
            await exchange.answer_with(partial(self._serve, server, owner, session))
        finally:
            self._open.pop(session, None)
            self._on_end(session)

    async def take(self, exchange: Exchange, owner: SessionOwner, session: str) -> None:
        """Take a message of a stream's client. Raises `Refusal` for an unknown stream, or no message."""
        if exchange.scope["method"] != "POST":
            raise Refusal(405, INVALID_REQUEST, "Method Not Allowed", {"allow": "POST"})
        stream = self._open.get(session)
        if stream is None or stream.owner != owner:
            raise Refusal(404, INVALID_REQUEST, "Session not found", reason="the stream of this session has ended")
        try:
            message = parse_message(exchange.body)
        except Refused as refused:
            body = encode(refused.answer.model_dump(by_alias=True, exclude_unset=True))
            await respond(exchange.send, 400, [(b"content-type", b"application/json")], body)
            return
        metadata = ServerMessageMetadata(request_context=Request(stream.scope))
        await stream.incoming.send(SessionMessage(message, metadata))
        await respond(exchange.send, 202, [(b"content-type", b"text/plain")], b"Accepted")

    async def _serve(
        self, server: Impersonation, owner: SessionOwner, session: str, scope: Scope, _receive: Receive, send: Send
    ) -> None:
        incoming, requests = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        answers, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        self._open[session] = _Stream(owner, scope, incoming)
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        path: str = scope["path"].rstrip("/").removesuffix(STREAM) + MESSAGES
        others = [option for option in scope["query_string"].split(b"&") if option]
        endpoint = path.encode() + b"?" + b"&".join([*others, f"{SESSION}={session}".encode()])
        beginning = event(endpoint, b"endpoint")
        await send({"type": "http.response.body", "body": beginning, "more_body": True})
        dispatcher = JSONRPCDispatcher[TransportContext](requests, answers, inline_methods=frozenset({"initialize"}))
        connection = Connection.for_loop(dispatcher, session_id=session)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(forward, outgoing, send)
            await serve_connection(server, dispatcher, connection=connection, lifespan_state={})
            tasks.cancel_scope.cancel()
