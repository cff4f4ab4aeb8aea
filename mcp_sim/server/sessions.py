"""Sessions of HTTP clients with a handshake (protocols up to 2025-11-25), limited in number and idle time."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable
from dataclasses import dataclass

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.connection import Connection
from mcp.server.runner import serve_connection
from mcp.shared.exceptions import MCPError
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST

from mcp_sim.server.access import WorldNames
from mcp_sim.server.event_streams import Transport
from mcp_sim.server.exchange import App, Exchange, Message, Receive, Refusal, Scope, Send
from mcp_sim.server.impersonation import Impersonation
from mcp_sim.server.worlds import DEFAULT
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import decode

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class SessionOwner:
    """The server, world and bearer that a session belongs to. It is unknown to all others.

    The world is that of the path; among several workers also that of the query or the header.
    """

    server: str
    world: str | None
    principal: str | None


@dataclass(slots=True)
class Addressee:
    """Where a request belongs, by its head. `names` are the worlds that it names outside its JSON."""

    owner: SessionOwner
    names: WorldNames
    is_modern: bool
    end: str = "mcp"
    """The last part of the path, which for HTTP+SSE is another one."""

    @property
    def server(self) -> str:
        return self.owner.server

    @property
    def is_clear(self) -> bool:
        """Whether the head decides which process has the world."""
        return self.names.path is not None or not self.is_modern

    def deciding_world(self, body: bytes) -> str | None:
        """Return the world that decides which process answers a request; None if each of them can.

        A session is where its world is. Without the name of a world it is where it was opened, as its id says.
        """
        names = self.names
        if names.path is not None:
            return names.path
        if not self.is_modern:
            return next(iter(names.explicit), None) or names.session
        try:
            message = as_object(decode(body))
        except ValueError:
            message = {}
        try:
            return names.world(as_object(message.get("params"))) or DEFAULT
        except MCPError:
            return None


@dataclass(slots=True)
class _Session:
    owner: SessionOwner
    transport: Transport
    connection: Connection | None = None


class Sessions:
    """The sessions of a process, at most `most`. One ends after `idle` seconds; `on_end` gets its id.

    `new_id` makes the id of a session.
    """

    def __init__(
        self, tasks: TaskGroup, most: int, idle: float, on_end: Callable[[str], None], new_id: Callable[[], str]
    ) -> None:
        self._tasks, self._most, self._idle, self._on_end, self._new_id = tasks, most, idle, on_end, new_id
        self._open: dict[str, _Session] = {}

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, session: str) -> bool:
        return session in self._open

    def find(self, session: str, owner: SessionOwner) -> Transport:
        """Return the transport of an open session. Raises `Refusal` for an unknown one."""
        opened = self._open.get(session)
        if opened is None or opened.owner != owner:
            reason = "the session is unknown, or has ended (--session-idle)"
            raise Refusal(404, INVALID_REQUEST, "Session not found", reason=reason)
        return opened.transport

    def connection(self, session: str, owner: SessionOwner) -> Connection | None:
        """Return the connection of an open session after its handshake, which is idle from now on.

        None if its answers are event streams, or if it has ended or is about to end.
        """
        opened = self._open.get(session)
        if opened is None or opened.owner != owner or opened.connection is None:
            return None
        transport, idle = opened.transport, opened.transport.idle_scope
        if not transport.is_json_response_enabled or transport.is_terminated or idle is None or idle.cancel_called:
            return None
        if opened.connection.client_params is None:
            return None
        if idle.deadline != math.inf:  # else a request holds it
            idle.deadline = asyncio.get_running_loop().time() + self._idle
        return opened.connection

    def version(self, session: str, owner: SessionOwner) -> str:
        """Return the version of the protocol in a session. Raises `Refusal` for an unknown one."""
        self.find(session, owner)
        connection = self._open[session].connection
        return "" if connection is None else connection.protocol_version

    async def answer(self, exchange: Exchange, session: str, owner: SessionOwner) -> None:
        """Answer a request of an open session. Raises `Refusal` for an unknown one."""
        transport = self.find(session, owner)
        exchange.takes_results = transport.is_json_response_enabled
        await exchange.answer_with(transport.handle_request)
        if transport.is_terminated or exchange.ends_session:
            await self._end(session)

    async def open_and_answer(self, exchange: Exchange, server: Impersonation, owner: SessionOwner) -> None:
        """Answer a request without a session, which opens one if it succeeds. Raises `Refusal` if too many are open."""
        if len(self._open) >= self._most:
            reason = f"{len(self._open)} sessions are open (--max-sessions)"
            raise Refusal(503, INTERNAL_ERROR, "Too many open sessions", reason=reason)
        name = self._new_id()
        transport = Transport(name, is_json_response_enabled=not server.sends_during_calls, idle_timeout=self._idle)
        session = self._open[name] = _Session(owner, transport)
        status = _Status()
        try:
            await self._tasks.start(self._run, server, name, session)
            await exchange.answer_with(status.watching(transport.handle_request))
        finally:
            if not status.is_good:
                await self._end(name)

    async def _run(
        self,
        server: Impersonation,
        name: str,
        session: _Session,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        transport = session.transport
        try:
            async with transport.connect() as (read, write):
                task_status.started()
                with transport.idle_scope or anyio.CancelScope():
                    # As the SDK's `serve_loop`, which does not show the connection.
                    dispatcher = JSONRPCDispatcher[TransportContext](
                        read, write, inline_methods=frozenset({"initialize"})
                    )
                    session.connection = connection = Connection.for_loop(dispatcher, session_id=name)
                    await serve_connection(server, dispatcher, connection=connection, lifespan_state={})
        except Exception:
            logger.exception("a session failed")
        finally:
            await self._end(name)

    async def _end(self, name: str) -> None:
        session = self._open.pop(name, None)
        if session is None:
            return
        self._on_end(name)
        if not session.transport.is_terminated:
            with anyio.CancelScope(shield=True):
                await session.transport.terminate()


class _Status:
    """The HTTP status of a response."""

    def __init__(self) -> None:
        self._status = 500

    @property
    def is_good(self) -> bool:
        return self._status < 400

    def watching(self, app: App) -> App:
        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start":
                    self._status = message["status"]
                await send(message)

            await app(scope, receive, noting)

        return watched
