"""Attacks by the number or the form of requests: floods, unread streams, sessions, slow and odd bodies.

Each runs in a process of its own, so that it does not delay the client that measures.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from raw_client import ERAS
from raw_http import Connection, Listening, Refused

SECONDS = 4.0
"""How long the pressure of a flood is kept up."""

AT_ONCE = 64
ANNOUNCE = "announce"
"""A tool of the server `news` that sends notifications: a long log entry, and that the list of tools has changed."""


class Flood(Protocol):
    """An attack that runs in a process of its own."""

    async def run(self, server: Listening) -> str:
        """Attack a server. Return in a few words what was done."""
        ...


@asynccontextmanager
async def opened(server: Listening, paths: list[str], era: str) -> AsyncGenerator[list[Connection]]:
    """Yield open connections, which are aborted in the end. Those that are refused are left out."""
    limit, connections = asyncio.Semaphore(AT_ONCE), list[Connection]()

    async def open_one(path: str) -> None:
        connection = Connection(server.port, path, era)
        async with limit:
            try:
                await connection.open()
            except Refused:
                connection.abort()
            else:
                connections.append(connection)

    await asyncio.gather(*map(open_one, paths))
    try:
        yield connections
    finally:
        for connection in connections:
            connection.abort()


def call(connection: Connection, name: str, arguments: dict[str, Any] | None = None) -> bytes:
    return connection.encode_request("tools/call", {"name": name, "arguments": arguments or {}})


async def keep_calling(server: Listening, path: str, name: str) -> int:
    """Call a tool for some seconds, one call after the other. Return how many calls were answered."""
    answered = 0
    async with opened(server, [path], ERAS[1]) as (connection,):
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS):
                while True:
                    await connection.exchange(call(connection, name))
                    answered += 1
    return answered


@dataclass(frozen=True, slots=True)
class Ahead:
    """The same request on many connections, several times ahead; the answers are not read."""

    connections: int
    worlds: int
    ahead: int

    async def run(self, server: Listening) -> str:
        paths = [f"/w/flood{n % self.worlds}/desk/mcp" for n in range(self.connections)]
        async with opened(server, paths, ERAS[1]) as connections:
            for connection in connections:
                connection.send(call(connection, "list_items", {"limit": 50}) * self.ahead)
            await asyncio.sleep(SECONDS)
        return f"{self.connections * self.ahead:,} requests sent"


@dataclass(frozen=True, slots=True)
class UnreadStreams:
    """Event streams of sessions in one world that are never read, while calls cause notifications to all of them."""

    streams: int

    async def run(self, server: Listening) -> str:
        async with opened(server, ["/w/flood/news/mcp"] * self.streams, ERAS[0]) as connections:
            for connection in connections:
                await connection.exchange(connection.encode_request("logging/setLevel", {"level": "info"}))
                connection.listen()
            answered = await keep_calling(server, "/w/flood/news/mcp", ANNOUNCE)
        return f"{len(connections):,} streams, {answered:,} calls that notify"


@dataclass(frozen=True, slots=True)
class UnreadAnswers:
    """Calls that answer with long event streams, which are never read."""

    connections: int

    async def run(self, server: Listening) -> str:
        paths = [f"/w/flood{n}/news/mcp" for n in range(self.connections)]
        async with opened(server, paths, ERAS[0]) as connections:
            for connection in connections:
                connection.send(call(connection, ANNOUNCE) * 20)
            await asyncio.sleep(SECONDS)
        return f"{len(connections):,} connections with 20 calls each"


@dataclass(frozen=True, slots=True)
class ManySessions:
    """Sessions in new worlds, opened as fast as possible on some connections, each with a call; then all are ended."""

    sessions: int

    async def run(self, server: Listening) -> str:
        limit, left = asyncio.Semaphore(AT_ONCE), list[Connection]()

        async def open_one(number: int) -> None:
            async with limit, opened(server, [f"/w/flood{number}/desk/mcp"], ERAS[0]) as connections:
                for connection in connections:
                    await connection.exchange(call(connection, "list_items", {"limit": 1}))
                    left.append(connection)

        async def end(connection: Connection) -> None:
            async with limit:
                await connection.end_session()

        with suppress(TimeoutError):
            async with asyncio.timeout(2 * SECONDS):
                await asyncio.gather(*map(open_one, range(self.sessions)))
        await asyncio.gather(*map(end, left))
        return f"{len(left):,} sessions opened, and ended"


@dataclass(frozen=True, slots=True)
class Uploads:
    """Bodies that arrive in many pieces, on many connections at the same time."""

    connections: int
    head: bytes
    piece: bytes
    pause: float
    """Seconds between two pieces on one connection."""

    async def run(self, server: Listening) -> str:
        async with opened(server, ["/w/flood/desk/mcp"] * self.connections, ERAS[1]) as connections:
            pieces = await asyncio.gather(*map(self._upload, connections))
        return f"{sum(pieces):,} pieces of {len(self.piece):,} bytes"

    async def _upload(self, connection: Connection) -> int:
        """Send pieces for some seconds, or until the server closes the connection. Return how many were sent."""
        sent = 0
        with suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(SECONDS):
                await connection.send_and_drain(connection.head(self.head))
                while True:
                    await connection.send_and_drain(self.piece)
                    sent += 1
                    await asyncio.sleep(self.pause)
        return sent


@dataclass(frozen=True, slots=True)
class Body:
    """One request whose body is made by a function, with `@` where its arguments would be."""

    make: Callable[[bytes], bytes]

    async def run(self, server: Listening) -> str:
        async with opened(server, ["/w/attacked/desk/mcp"], ERAS[1]) as (connection,):
            whole = call(connection, "create_item", {"title": "a", "data": "@"})
            body = self.make(whole.partition(b"\r\n\r\n")[2])
            length = b"content-length: %d\r\nmcp-method: tools/call\r\nmcp-name: create_item" % len(body)
            try:
                answer = await connection.exchange(connection.head(length) + body)
            except Refused as refused:
                return f"HTTP status {refused.status}"
        return " ".join(json.dumps(json.loads(answer).get("error") or json.loads(answer)["result"])[:60].split())
