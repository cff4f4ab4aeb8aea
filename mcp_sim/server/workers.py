"""Several processes on one port: which of them has a world, and how a connection reaches it.

All workers accept connections. A worker that gets a request for a world of another one passes the connection on, with
the request and what was sent after it. From then on the connection is the other worker's.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import TypeAlias
from uuid import uuid4
from zlib import crc32

logger = logging.getLogger(__name__)

LONGEST_MESSAGE = 1500
"""Bytes that are passed on in a message; more are passed on in a file. macOS allows messages of 2048 bytes."""

MOST_WAITING = 1024
"""Connections that wait until a busy worker takes them. Beyond, clients are refused with 503."""

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of requests that wait with them, for all workers together. A worker that hangs must not fill the memory of the
process that accepts."""

MOST_AT_ONCE = 32
"""Connections that are taken over in one round of the loop. More would keep the calls of connections that are open
waiting."""

RETRY_SECONDS = 0.002  # zero would keep the loop busy, and new connections wait for it

BUSY = frozenset({errno.EAGAIN, errno.EWOULDBLOCK, errno.EINTR, errno.ENOBUFS, errno.ETOOMANYREFS})
"""Errors after which a message can be sent later."""

IN_FILE = b"-"
"""The text of a message whose data are in a file."""

Door: TypeAlias = "tuple[socket.socket, socket.socket]"
"""Where connections for a worker are sent to, and where it receives them. It outlives the worker."""

Adopt: TypeAlias = Callable[[socket.socket, bytes], None]
"""Takes over a connection, with what was read from it."""


def worker_of(world: str, workers: int) -> int:
    """Return the number of the worker that has a world: the CRC-32 of its name, modulo the number of workers."""
    return crc32(world.encode("utf-8", "replace")) % workers


def open_door() -> Door:
    """Return a pair of sockets for messages with descriptors, which never block."""
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    for end in pair:
        end.setblocking(False)
    return pair


@dataclass(slots=True)
class Detached:
    """A connection that was taken from its event loop: its descriptor, and what was read from it."""

    descriptor: int
    data: bytes


@dataclass(slots=True)
class _Message:
    """A message with the descriptor of a connection, and that of a file with what was read from it if that is long."""

    text: bytes
    descriptors: list[int]
    size: int

    def drop(self) -> None:
        """Close the descriptors. A connection that was sent stays open in the worker that received it."""
        for descriptor in self.descriptors:
            os.close(descriptor)


class Worker:
    """One of the workers of a server, by number. It ends when `lifeline` does.

    `names` is a file that survives the worker. It holds the names of the worlds that were created here, and those that
    a worker of this number had before it died are `lost`. The first worker has a descriptor to write to once it has
    `begun`; the last one `announces` the server.
    """

    def __init__(
        self, number: int, doors: Sequence[Door], lifeline: int, names: int, begun: int | None, announces: bool
    ) -> None:
        self.number, self.lifeline, self._begun, self._announces = number, lifeline, begun, announces
        self._doors, self._names = doors, names
        self._waiting = [deque[_Message]() for _ in doors]
        self._timers: list[asyncio.TimerHandle | None] = [None for _ in doors]
        self._held = 0
        self._adopt: Adopt | None = None
        size = os.fstat(names).st_size
        self.lost = frozenset(os.pread(names, size, 0).decode().split())

    def begin(self, announce: Callable[[], None]) -> None:
        """Report that this worker serves, and announce the server if it is the last one to start."""
        if self._begun is not None:
            os.write(self._begun, b".")
            os.close(self._begun)
        if self._announces:
            announce()

    def has(self, world: str) -> bool:
        """Whether a world belongs to this worker."""
        return worker_of(world, len(self._doors)) == self.number

    def new_session(self) -> str:
        """Return the id of a new session, which as the name of a world belongs to this worker."""
        while not self.has(name := uuid4().hex):
            pass
        return name

    def note(self, world: str) -> None:
        """Note the name of a new world."""
        os.write(self._names, f"{world}\n".encode())

    # connections ------------------------------------------------------------------------------------------------------

    def has_room(self, world: str) -> bool:
        """Whether a connection can be passed to the worker that has a world."""
        return len(self._waiting[worker_of(world, len(self._doors))]) < MOST_WAITING and self._held < MOST_BYTES

    def pass_on(self, connection: Detached, world: str) -> None:
        """Pass a connection to the worker that has a world, as soon as that takes it."""
        number = worker_of(world, len(self._doors))
        message = _message(connection)
        self._held += message.size
        self._waiting[number].append(message)
        if self._timers[number] is None:
            self._send(number)

    def _send(self, number: int) -> None:
        """Send what waits for a worker, and try again later if it is busy.

        A timer is used, since not every system says when a message can be sent.
        """
        waiting, door = self._waiting[number], self._doors[number][0]
        self._timers[number] = None
        while waiting:
            try:
                socket.send_fds(door, [waiting[0].text], waiting[0].descriptors)
            except OSError as error:
                if error.errno in BUSY:
                    loop = asyncio.get_running_loop()
                    self._timers[number] = loop.call_later(RETRY_SECONDS, self._send, number)
                    return
                logger.exception("a connection could not be passed to worker %d", number)
            self._held -= waiting[0].size
            waiting.popleft().drop()

    def open(self, adopt: Adopt) -> None:
        """Take over connections from now on."""
        self._adopt = adopt
        asyncio.get_running_loop().add_reader(self._doors[self.number][1], self._receive)

    def _receive(self) -> None:
        assert self._adopt is not None
        door = self._doors[self.number][1]
        for _ in range(MOST_AT_ONCE):
            try:
                data, descriptors, _, _ = socket.recv_fds(door, LONGEST_MESSAGE, 2)
            except (BlockingIOError, InterruptedError):
                return
            if descriptors:
                connection, *files = descriptors
                self._adopt(socket.socket(fileno=connection), _read(files[0]) if files else data)

    def close(self) -> None:
        """Take over no more connections, and close those that wait."""
        asyncio.get_running_loop().remove_reader(self._doors[self.number][1])
        for waiting, timer in zip(self._waiting, self._timers, strict=True):
            if timer is not None:
                timer.cancel()
            while waiting:
                waiting.popleft().drop()


def _message(connection: Detached) -> _Message:
    if len(connection.data) <= LONGEST_MESSAGE:
        return _Message(connection.data, [connection.descriptor], len(connection.data))
    with TemporaryFile(buffering=0) as file:
        rest = memoryview(connection.data)
        while rest:
            rest = rest[file.write(rest) :]
        return _Message(IN_FILE, [connection.descriptor, os.dup(file.fileno())], len(connection.data))


def _read(file: int) -> bytes:
    """Return the content of a file, and close it."""
    with os.fdopen(file, "rb", buffering=0) as stream:
        stream.seek(0)
        return stream.read()
