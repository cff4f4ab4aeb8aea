"""A server over stdin and stdout, until its client leaves or a signal arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Semaphore, Thread
from typing import Any, Protocol

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId

from mcp_sim.server.descriptors import write_all, write_ready
from mcp_sim.server.impersonation import Context
from mcp_sim.server.lines import Batch, Refused, encode_line, lines, parse_message
from mcp_sim.server.opening import Opened
from mcp_sim.server.standard_streams import StandardStreams
from mcp_sim.types import BrokenDelivery

FINISH_SECONDS = 1.0
"""Seconds that running calls may continue once stdin is closed. Clients wait 2 seconds."""

LEAVE_SECONDS = 1.0
"""Seconds that the shutdown may take after that, or after a signal."""

LINES_AHEAD = 4
"""Messages that are read ahead of processing. The next message is parsed while a call runs; more would only hold
memory."""


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

    def __init__(self, streams: StandardStreams, opened: Opened | None = None) -> None:
        self.left = streams.left
        self._streams, self._out = streams, streams.target
        self._opened = Opened() if opened is None else opened
        self._open = set[RequestId]()
        self._quiet = anyio.Event()
        self._is_broken = False
        self._version = ""
        self._batches = dict[RequestId, Batch]()
        self._writing = anyio.Lock()

    async def serve(self, server: Served) -> int:
        """Serve until stdin ends, stdout is closed, or SIGINT or SIGTERM arrives. Return the exit code."""
        await self._write(self._opened.unwritten)
        incoming, requests = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        answers, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks:
            sent = anyio.Event()
            tasks.start_soon(self._receive, incoming)
            tasks.start_soon(self._send, outgoing, sent)
            tasks.start_soon(_cancel_after, self.left, tasks.cancel_scope, LEAVE_SECONDS)
            await server.run(requests, answers, server.create_initialization_options())
            with anyio.move_on_after(LEAVE_SECONDS):
                await sent.wait()
            tasks.cancel_scope.cancel()
        received = self._streams.signals
        return 128 + received[0] if received else 0

    async def break_off(self, ctx: Context, broken: BrokenDelivery) -> None:
        """Break the delivery of an answer: send nothing, an invalid message, or end the connection."""
        if broken.how in ("no_answer", "garbled"):
            if broken.how == "garbled":
                await self._write(broken.body.encode() + b"\n")
            if ctx.request_id is not None:
                await self._leave_out(ctx.request_id)
            return
        await self._write(broken.body.encode())
        self._break()

    async def _receive(self, incoming: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        """Receive messages until stdin has ended and its requests are answered, or until the server leaves."""
        arrived, room = asyncio.Queue[bytes | None](), Semaphore(LINES_AHEAD)
        arrive = partial(asyncio.get_running_loop().call_soon_threadsafe, arrived.put_nowait)
        read = self._opened.reader(self._streams.source)
        # A daemon, since a read from stdin cannot be interrupted.
        Thread(target=_pump, args=(read, arrive, room), daemon=True).start()
        async with incoming, anyio.create_task_group() as tasks:
            tasks.start_soon(_cancel_after, self.left, tasks.cancel_scope)
            while (line := await arrived.get()) is not None:
                room.release()
                if line.strip():
                    await self._take(line, incoming)
            with anyio.move_on_after(FINISH_SECONDS):
                while self._open:
                    self._quiet = anyio.Event()
                    await self._quiet.wait()
            tasks.cancel_scope.cancel()

    async def _take(self, line: bytes, incoming: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        try:
            batch = Batch(line) if self._version == Batch.ERA and line.lstrip().startswith(b"[") else None
            messages = [parse_message(line)] if batch is None else batch.messages
        except Refused as refused:
            await self._write(encode_line(refused.answer))
            return
        if batch is not None:
            self._batches.update(dict.fromkeys(batch.open, batch))
            if batch.is_complete:
                await self._write(batch.line())
        for message in messages:
            await self._pass_on(message, incoming)

    async def _pass_on(
        self, message: JSONRPCMessage, incoming: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        match message:
            case JSONRPCRequest(id=request, method="initialize", params={"protocolVersion": str(version)}):
                self._open.add(request)
                self._version = version  # a version that the server does not know has no batches
            # It is never answered, and must not keep the process from ending.
            case JSONRPCRequest(id=request, method=method) if method != "subscriptions/listen":
                self._open.add(request)
            case JSONRPCNotification(method="notifications/cancelled", params={"requestId": str() | int() as request}):
                self._answered(request)
                await self._leave_out(request)
            case _:
                pass
        await incoming.send(SessionMessage(message))

    async def _send(self, outgoing: MemoryObjectReceiveStream[SessionMessage], sent: anyio.Event) -> None:
        async with outgoing:
            async for item in outgoing:
                answered = item.message.id if isinstance(item.message, JSONRPCResponse | JSONRPCError) else None
                # The handshake was answered before the SDK was imported, which takes half of the start; its own answer
                # is dropped.
                if answered not in self._opened.answered:
                    await self._write(self._line(item.message))
                if answered is not None:
                    self._opened.answered.discard(answered)
                    self._answered(answered)
        sent.set()

    def _line(self, message: JSONRPCMessage) -> bytes:
        """Return a message as a line. The answers to a batch are one line, with the last of them."""
        if not isinstance(message, JSONRPCResponse | JSONRPCError) or message.id not in self._batches:
            return encode_line(message)
        batch = self._batches.pop(message.id)
        batch.add(message)
        return batch.line() if batch.is_complete else b""

    async def _leave_out(self, request: RequestId) -> None:
        """Answer the other requests of a batch without waiting for this one, which gets no answer."""
        batch = self._batches.pop(request, None)
        if batch is None:
            return
        batch.open.discard(request)
        if batch.is_complete:
            await self._write(batch.line())

    def _answered(self, request: RequestId) -> None:
        self._open.discard(request)
        if not self._open:
            self._quiet.set()

    async def _write(self, data: bytes) -> None:
        """Write without blocking the event loop. A closed stdout ends the connection."""
        async with self._writing:
            try:
                # A pipe nearly always has room: the thread is for the answer that has to wait.
                rest = write_ready(self._out, memoryview(b"" if self._is_broken else data))
                if rest:
                    await _in_daemon_thread(partial(write_all, self._out, rest))
            except OSError:
                self._break()

    def _break(self) -> None:
        self._is_broken = True
        self.left.set()


def _pump(read: Callable[[int], bytes], arrive: Callable[[bytes | None], object], room: Semaphore) -> None:
    """Read in a thread: no other way works for pipes, terminals and files on every platform."""
    with suppress(RuntimeError):  # the loop is closed
        with suppress(OSError):
            for line in lines(read):
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


async def _cancel_after(event: anyio.Event, scope: anyio.CancelScope, seconds: float = 0.0) -> None:
    """Cancel some seconds after an event."""
    await event.wait()
    if seconds:
        await anyio.sleep(seconds)
    scope.cancel()
