"""The pipes to an MCP server that is started as a process, with a limit on the length of its lines.

Imports the MCP SDK: import it late.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

import anyio
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.os.win32.utilities import (
    ServerProcess,
    close_process_job,
    create_windows_process,
    get_windows_executable_command,
    terminate_windows_process_tree,
)
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from mcp_sim.types.json_values import decode

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes of a message. A server that writes a longer line is ended."""

FLUSH_SECONDS = 0.5
"""Seconds that the last messages to a server may take, once its client leaves."""

LEAVE_SECONDS = 2.0
"""Seconds that a server may take to end after its stdin is closed, and once more after it is asked to. Servers save
their state then; the MCP specification has clients wait, terminate, and kill."""

GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError)
"""What reading and writing raise once the other side has gone."""


@asynccontextmanager
async def process_streams(
    command: Sequence[str], environment: dict[str, str], folder: Path | None, stderr: IO[bytes]
) -> AsyncGenerator[Any]:
    """Start a process for the duration of the block, and yield the streams of its messages.

    Raises `ValueError`, in a group, if it writes a line that is too long. Bytes that are not UTF-8 are replaced.
    """
    process = await _start(command, get_default_environment() | environment, folder, stderr)
    stdin, stdout = cast("ByteSendStream", process.stdin), cast("ByteReceiveStream", process.stdout)
    arriving, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](0)
    written = anyio.Event()
    async with anyio.create_task_group() as tasks, arriving, incoming, outgoing, leaving:
        tasks.start_soon(_read, stdout, arriving)
        tasks.start_soon(_write, stdin, leaving, arriving, written)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                incoming.close()
                outgoing.close()
                with anyio.move_on_after(FLUSH_SECONDS):
                    await written.wait()
                await _end(process, stdin, stdout)
            tasks.cancel_scope.cancel()


async def _start(
    command: Sequence[str], environment: dict[str, str], folder: Path | None, stderr: IO[bytes]
) -> ServerProcess:
    if sys.platform == "win32":
        program = get_windows_executable_command(command[0])
        return await create_windows_process(program, [*command[1:]], environment, cast("Any", stderr), folder)
    return await anyio.open_process([*command], env=environment, cwd=folder, stderr=stderr, start_new_session=True)


async def _read(stdout: ByteReceiveStream, arriving: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
    """Pass messages on. Read on after the client has left: a server that cannot write may not end."""
    with suppress(*GONE):
        async with arriving:
            is_wanted = True
            async for line in lines(stdout):
                if is_wanted:
                    try:
                        await arriving.send(_message(line))
                    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                        is_wanted = False


async def lines(chunks: AsyncIterable[bytes], longest: int = LONGEST_LINE) -> AsyncGenerator[bytes]:
    """Yield lines without their ends. Raises `ValueError` for one that is longer than `longest` bytes."""
    parts, size = list[bytes](), 0
    async for chunk in chunks:
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield b"".join((*parts, end))
            parts, size = [], 0
        parts.append(rest)
        size += len(rest)
        if size > longest:
            raise ValueError(f"it wrote a line of more than {longest >> 20} MiB")


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        message = decode(line.decode("utf-8", "replace"))
        return SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False))
    except ValueError as error:
        return error


async def _write(
    stdin: ByteSendStream,
    leaving: MemoryObjectReceiveStream[SessionMessage],
    arriving: MemoryObjectSendStream[SessionMessage | Exception],
    written: anyio.Event,
) -> None:
    """Send messages. Once the server takes none, its connection ends."""
    try:
        async for item in leaving:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await stdin.send(text.encode() + b"\n")
    except GONE:
        await arriving.aclose()
    finally:
        written.set()


async def _end(process: ServerProcess, stdin: ByteSendStream, stdout: ByteReceiveStream) -> None:
    """Close stdin, wait for the process to end, and end it with those that it started if it does not."""
    with suppress(*GONE):
        await stdin.aclose()
    if not await _has_ended(process):
        if sys.platform == "win32":
            await terminate_windows_process_tree(process)
        else:
            await terminate_posix_process_tree(cast("Process", process), LEAVE_SECONDS)
        await _has_ended(process)
    close_process_job(process)
    with suppress(*GONE):
        await stdout.aclose()
    # Something else may still hold the pipes open, or they were not read to their end.
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    if transport is not None:
        with suppress(PermissionError):
            transport.close()


async def _has_ended(process: ServerProcess) -> bool:
    """Whether the process ends in time. Its `wait` also waits for processes that hold its pipes open."""
    with anyio.move_on_after(LEAVE_SECONDS):
        while process.returncode is None:  # noqa: ASYNC110 (there is no event for it)
            await anyio.sleep(0.01)
    return process.returncode is not None
