"""Start and stop the HTTP server: uvicorn with limits and its own signal handling."""

from __future__ import annotations

import asyncio
import math
import os
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from errno import EADDRINUSE, errorcode
from functools import partial
from typing import Any, ClassVar
from urllib.parse import urlsplit

import anyio
import uvicorn

from mcp_sim.server.connections import AnswerAtOnce, Connection, ConnectionLimits, answer_nothing
from mcp_sim.server.exchange import App
from mcp_sim.server.standard_streams import END_SECONDS, leave_at_signals
from mcp_sim.server.workers import Worker
from mcp_sim.types.errors import UsageError

LAST_SECONDS = 2
"""Seconds that the server waits for connections after the grace period of running calls. The answers of the last calls
are sent meanwhile."""

KEEP_ALIVE_SECONDS = 75  # the default of nginx: longer than agents pause between calls
BACKLOG = 2048  # the default of uvicorn; a trainer opens hundreds of connections at once
MOST_CONNECTIONS = 65_536  # as many as one client address has ports


LOOPBACK = "127.0.0.1"
ADDRESS = "PORT, or HOST:PORT"


def parse_address(text: str, option: str = "--http") -> tuple[str, int]:
    """Parse `PORT` of this machine or `HOST:PORT`, an IPv6 address in brackets. Raises `UsageError`."""
    written = f"{LOOPBACK}:{text}" if text.isdecimal() else text
    with suppress(ValueError):
        parts = urlsplit(f"//{written}")
        if parts.hostname and parts.port is not None and parts.netloc == written and not parts.username:
            return parts.hostname, parts.port
    raise UsageError(f"{option} takes {ADDRESS}, as in 8000, 127.0.0.1:8000 or [::1]:8000, not {text!r}")


def bind(host: str, port: int, option: str = "--http") -> socket.socket:
    """Return a listening socket. Raises `UsageError` that names the option if the address cannot be bound."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        free = f"; choose another port, or {option} {_written(host)}:0 for any free one"
        hint = free if error.errno == EADDRINUSE else ""
        raise UsageError(f"cannot listen on {_written(host)}:{port}: {_reason(error)}{hint}") from error


def _written(host: str) -> str:
    """Return a host as written before a port: an IPv6 address in brackets."""
    return f"[{host}]" if ":" in host else host


def _reason(error: OSError) -> str:
    """Return the message of the operating system; name resolution errors have codes of their own."""
    if error.errno is not None and error.errno in errorcode:
        return os.strerror(error.errno)
    return error.strerror or str(error)


def url(host: str, listener: socket.socket) -> str:
    """Return the URL of a socket for clients on this machine, without a path."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (shown, not bound)
    return f"http://{_written(name)}:{port}"


async def listen(
    app: App,
    listener: socket.socket,
    begun: Callable[[], None],
    leave: Callable[[], None],
    grace: float,
    unread: float,
    answer_at_once: AnswerAtOnce = answer_nothing,
    worker: Worker | None = None,
) -> int:
    """Serve until SIGINT or SIGTERM, then call `leave` and let running calls finish. Return the exit code.

    `begun` is called once signals are handled. Running calls get `grace` seconds. A client may leave an answer unread
    for `unread` seconds. What `answer_at_once` answers does not reach the application. A `worker` also takes over
    connections of others. It serves until SIGTERM, or until its lifeline ends.
    """
    _allow_connections()
    config = _config(app, grace, unread, answer_at_once)
    server = _Server(config, begun, leave) if worker is None else _Fellow(config, begun, leave, worker)
    server.grace = grace
    await server.serve([listener])
    return 128 + server.received[0] if server.received else 0


@asynccontextmanager
async def serving(
    app: App,
    listener: socket.socket,
    leave: Callable[[], None],
    grace: float,
    unread: float,
    answer_at_once: AnswerAtOnce = answer_nothing,
) -> AsyncGenerator[None]:
    """Serve within a block. Signals are left to the caller; the other arguments are those of `listen`."""
    _allow_connections()
    begun = anyio.Event()
    server = _Guest(_config(app, grace, unread, answer_at_once), begun.set, leave)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [listener])
        try:
            await begun.wait()
            yield
        finally:
            server.should_exit = True


def _config(app: App, grace: float, unread: float, answer_at_once: AnswerAtOnce) -> uvicorn.Config:
    return uvicorn.Config(
        app,  # pyright: ignore[reportArgumentType] (an ASGI application, whose messages are plain mappings)
        http=partial(Connection, ConnectionLimits(unread), answer_at_once),  # pyright: ignore[reportArgumentType] (called like a class)
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=math.ceil(grace) + LAST_SECONDS,
    )


def _allow_connections() -> None:
    """Raise the limit of open files as far as the system allows, up to MOST_CONNECTIONS."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 (not on every platform)

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = MOST_CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, MOST_CONNECTIONS)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class _Server(uvicorn.Server):
    """uvicorn's server, which shuts down at the first signal and ends at the second."""

    signals: ClassVar = (signal.SIGINT, signal.SIGTERM)

    def __init__(self, config: uvicorn.Config, begun: Callable[[], None], leave: Callable[[], None]) -> None:
        super().__init__(config)
        self._begun = begun
        self._leave = leave
        self.grace = 0.0
        self.received = list[int]()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._leave()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        leave = partial(setattr, self, "should_exit", True)
        with leave_at_signals(leave, self.signals, lambda: max(END_SECONDS, self.grace + 0.5)) as self.received:
            self._begun()
            yield


class _Guest(_Server):
    """A server in a program that handles signals itself."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        self._begun()
        yield


class _Fellow(_Server):
    """A server among others with the same port."""

    signals: ClassVar = (signal.SIGTERM,)

    def __init__(
        self, config: uvicorn.Config, begun: Callable[[], None], leave: Callable[[], None], worker: Worker
    ) -> None:
        super().__init__(config, begun, leave)
        self._worker = worker
        self._adopting = set[asyncio.Task[Any]]()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._worker.open(self._adopt)
        asyncio.get_running_loop().add_reader(self._worker.lifeline, self._end)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._worker.close()
        await super().shutdown(sockets)

    def _end(self) -> None:
        asyncio.get_running_loop().remove_reader(self._worker.lifeline)
        self.should_exit = True

    def _adopt(self, connection: socket.socket, read: bytes) -> None:
        """Serve a connection that another worker has accepted."""
        loop = asyncio.get_running_loop()
        connection.setblocking(False)
        make: Any = self.config.http_protocol_class
        protocol = partial(
            make, config=self.config, server_state=self.server_state, app_state=self.lifespan.state, read=read
        )
        task = loop.create_task(loop.connect_accepted_socket(protocol, connection))
        self._adopting.add(task)
        task.add_done_callback(self._adopting.discard)
