"""The sessions of clients that shake hands (protocols up to 2025-11-25): who they are, how many, until when."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup, TaskStatus
from mcp.server.runner import serve_loop
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp_types import INTERNAL_ERROR, INVALID_REQUEST

from mcp_sim.server.exchange import App, Exchange, Message, Receive, Refusal, Scope, Send
from mcp_sim.server.impersonation import Impersonation

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session was opened, and by whom; elsewhere it does not exist."""

    server: str
    path: str | None
    principal: str | None


@dataclass(frozen=True, slots=True)
class _Session:
    place: Place
    transport: StreamableHTTPServerTransport


class Sessions:
    """All sessions of a process, at most `most`; one that is idle for `idle` seconds ends, and `on_end` is told."""

    def __init__(self, tasks: TaskGroup, most: int, idle: float, on_end: Callable[[str], None]) -> None:
        self._tasks, self._most, self._idle, self._on_end = tasks, most, idle, on_end
        self._open: dict[str, _Session] = {}

    def __len__(self) -> int:
        return len(self._open)

    def find(self, session: str, place: Place) -> StreamableHTTPServerTransport:
        """The transport of an open session. Raises Refusal."""
        found = self._open.get(session)
        if found is None or found.place != place:
            raise Refusal(404, INVALID_REQUEST, "Session not found")
        return found.transport

    async def carry_on(self, exchange: Exchange, session: str, place: Place) -> None:
        """Answer a request of an open session. Raises Refusal."""
        transport = self.find(session, place)
        exchange.takes_results = transport.is_json_response_enabled
        await exchange.carry(transport.handle_request)
        if transport.is_terminated or exchange.ends_session:
            await self._end(session)

    async def begin(self, exchange: Exchange, server: Impersonation, place: Place) -> None:
        """Answer a request that comes without a session: if it is answered well, it has opened one. Raises Refusal."""
        if len(self._open) >= self._most:
            logger.warning("a session is refused: %d are open", len(self._open))
            raise Refusal(503, INTERNAL_ERROR, "Too many open sessions")
        name = uuid4().hex
        transport = StreamableHTTPServerTransport(
            name, is_json_response_enabled=not server.speaks_during_calls, idle_timeout=self._idle
        )
        self._open[name] = _Session(place, transport)
        status = _Status()
        try:
            await self._tasks.start(self._run, server, name, transport)
            await exchange.carry(status.watching(transport.handle_request))
        finally:
            if not status.is_good:
                await self._end(name)

    async def _run(
        self,
        server: Impersonation,
        name: str,
        transport: StreamableHTTPServerTransport,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """A session's life, from its opening to its end."""
        try:
            async with transport.connect() as (read, write):
                task_status.started()
                with transport.idle_scope or anyio.CancelScope():
                    await serve_loop(server, read, write, lifespan_state={}, session_id=name)
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
    """The status that a request was answered with."""

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
