"""A server over stdin and stdout, until its client leaves or a signal arrives."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from threading import Semaphore, Thread
from types import FrameType
from typing import Any, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId

from mcp_sim.server.descriptors import write_all, write_ready
from mcp_sim.server.impersonation import Context
from mcp_sim.server.lines import Refused, encode_line, lines, parse_message
from mcp_sim.types import BrokenDelivery

FINISH_SECONDS = 1.0
"""Seconds that running calls may continue once stdin is closed. Clients wait 2 seconds."""

LEAVE_SECONDS = 1.0
"""Seconds that the shutdown may take after that, or after a signal."""

LINES_AHEAD = 4
"""Messages that are read ahead of processing."""


class Served(Protocol):
    """The interface of what is served: the SDK's servers and the bridge."""

    def create_initialization_options(self) -> Any: ...

    async def run(
        self,
        read_stream: MemoryObjectReceiveStream[SessionMessage | Exception],
        write_stream: MemoryObjectSendStream[SessionMessage],
        initialization_options: Any,
        /,
    ) -> None: ...


class Stdio:
    """The stdio connection of this process. Answers go to stdout; other output goes to stderr."""

    def __init__(self) -> None:
        self.left = anyio.Event()
        self._open = set[RequestId]()
        self._quiet = anyio.Event()
        self._out = -1
        self._is_broken = False
        self._writing = anyio.Lock()

    async def serve(self, server: Served) -> int:
        """Serve until stdin ends, stdout is closed, or SIGINT or SIGTERM arrives. Return the exit code."""
        with _reserved_streams() as (source, self._out), _signals(self.left.set) as received:
            await self._serve(server, source)
            return 128 + received[0] if received else 0

    async def break_off(self, _ctx: Context, broken: BrokenDelivery) -> None:
        """Break the delivery of an answer: send nothing, an invalid message, or end the connection."""
        if broken.how == "no_answer":
            return
        if broken.how == "garbled":
            await self._write(broken.body.encode() + b"\n")
            return
        await self._write(broken.body.encode())
        self._break()

    async def _serve(self, server: Served, source: int) -> None:
        incoming, requests = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        answers, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            sent = anyio.Event()
            tasks.start_soon(self._receive, source, incoming)
            tasks.start_soon(self._send, outgoing, sent)
            tasks.start_soon(self._hurry, tasks.cancel_scope)
            await server.run(requests, answers, server.create_initialization_options())
            with anyio.move_on_after(LEAVE_SECONDS):
                await sent.wait()
            tasks.cancel_scope.cancel()

    async def _hurry(self, everything: anyio.CancelScope) -> None:
        await self.left.wait()
        await anyio.sleep(LEAVE_SECONDS)
        everything.cancel()

    async def _receive(self, source: int, incoming: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Receive messages until stdin has ended and its requests are answered, or until the server leaves."""
        arrived, room = asyncio.Queue[bytes | None](), Semaphore(LINES_AHEAD)
        arrive = partial(asyncio.get_running_loop().call_soon_threadsafe, arrived.put_nowait)
        Thread(target=_pump, args=(source, arrive, room), daemon=True).start()
        async with incoming, anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_after, self.left, tasks.cancel_scope)
            while (line := await arrived.get()) is not None:
                room.release()
                if line.strip():
                    await self._take(line, incoming)
            with anyio.move_on_after(FINISH_SECONDS):
                await self._all_answered()
            tasks.cancel_scope.cancel()

    async def _take(self, line: bytes, incoming: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        try:
            message = parse_message(line)
        except Refused as refused:
            await self._write(encode_line(refused.answer))
            return
        match message:
            case JSONRPCRequest(id=request, method=method) if method != "subscriptions/listen":
                self._open.add(request)
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as request}):
                self._answered(request)
            case _:
                pass
        await incoming.send(SessionMessage(message))

    async def _send(self, outgoing: MemoryObjectReceiveStream[SessionMessage], sent: anyio.Event) -> None:
        async with outgoing:
            async for item in outgoing:
                await self._write(encode_line(item.message))
                if isinstance(item.message, JSONRPCResponse | JSONRPCError) and item.message.id is not None:
                    self._answered(item.message.id)
        sent.set()

    def _answered(self, request: RequestId) -> None:
        self._open.discard(request)
        if not self._open:
            self._quiet.set()

    async def _all_answered(self) -> None:
        while self._open:
            self._quiet = anyio.Event()
            await self._quiet.wait()

    async def _write(self, data: bytes) -> None:
        """Write without blocking the event loop. A closed stdout ends the connection."""
        async with self._writing:
            try:
                rest = write_ready(self._out, memoryview(b"" if self._is_broken else data))
                if rest:
                    await _in_daemon_thread(partial(write_all, self._out, rest))
            except OSError:
                self._break()

    def _break(self) -> None:
        self._is_broken = True
        self.left.set()


def _pump(source: int, arrive: Callable[[bytes | None], object], room: Semaphore) -> None:
    """Read in a thread: no other way works for pipes, terminals and files on every platform."""
    with suppress(RuntimeError):  # the loop is closed
        with suppress(OSError):
            for line in lines(partial(os.read, source)):
                room.acquire()
                arrive(line)
        arrive(None)


async def _in_daemon_thread(function: Callable[[], None]) -> None:
    """Run a function that may block forever, in a thread that does not keep the process alive."""
    ended, loop, failures = anyio.Event(), asyncio.get_running_loop(), list[OSError]()

    def run() -> None:
        try:
            function()
        except OSError as error:
            failures.append(error)
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(ended.set)

    Thread(target=run, daemon=True).start()
    await ended.wait()
    if failures:
        raise failures[0]


async def _cancel_after(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


@contextmanager
def _reserved_streams() -> Generator[tuple[int, int]]:
    """Reserve stdin and stdout for the protocol: other readers find an empty input, other output goes to stderr."""
    sys.stdout.flush()
    source, target, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(nothing, 1)
    os.close(nothing)
    try:
        yield source, target
    finally:
        sys.stdout.flush()
        os.dup2(source, 0)
        os.dup2(target, 1)


@contextmanager
def _signals(leave: Callable[[], None]) -> Generator[list[int]]:
    """Yield the list of received signals. The first makes the server leave; the same one again ends the process."""
    loop, received = asyncio.get_running_loop(), list[int]()

    def note(number: int, _frame: FrameType | None) -> None:
        received.append(number)
        signal.signal(number, signal.SIG_DFL)
        loop.call_soon_threadsafe(leave)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
