"""Reach a live MCP server: transports, its messages as they came, and what can go wrong. Imports the MCP SDK late."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import IO, Any, Self, cast

import anyio
from pydantic import ValidationError

from mcp_sim.spec.foreign.files import shortened
from mcp_sim.types import Record

_SHOWN_LINES = 10
_SHOWN_BYTES = 4096


# transports -----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def started(
    command: Sequence[str], environment: dict[str, str], folder: Path | None, stderr: IO[bytes]
) -> AsyncGenerator[Any]:
    """Start a process for the duration of the block, and yield its pipes.

    Bytes that are no UTF-8 are replaced: the SDK stops to read at the first one, and every later call would wait.
    """
    from mcp import StdioServerParameters  # noqa: PLC0415 (half a second, only where a server is asked)
    from mcp.client.stdio import stdio_client  # noqa: PLC0415 (see above)

    parameters = StdioServerParameters(
        command=command[0], args=[*command[1:]], env=environment, cwd=folder, encoding_error_handler="replace"
    )
    async with stdio_client(parameters, errlog=cast("Any", stderr)) as streams:
        yield streams


@asynccontextmanager
async def over_http(url: str, headers: dict[str, str]) -> AsyncGenerator[Any]:
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 (see above)
    from mcp.shared._httpx_utils import create_mcp_http_client  # noqa: PLC0415 (see above)

    async with (
        create_mcp_http_client(headers=headers) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams


def over_sse(url: str, headers: dict[str, str]) -> AbstractAsyncContextManager[Any]:
    from mcp.client.sse import sse_client  # noqa: PLC0415 (see above)

    return sse_client(url, headers=headers)


class _Tap:
    """A stream of messages that also keeps the results in it, unvalidated."""

    def __init__(self, stream: Any, seen: list[Record]) -> None:
        self._stream, self._seen = stream, seen

    async def receive(self) -> Any:
        return self._noted(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        return self._noted(await self._stream.__anext__())

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> Any:
        return await self._stream.__aexit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _noted(self, message: Any) -> Any:
        result: Any = getattr(getattr(message, "message", None), "result", None)
        if isinstance(result, dict):
            self._seen.append(cast("Record", result))
        return message


@asynccontextmanager
async def tapped(transport: AbstractAsyncContextManager[Any], seen: list[Record]) -> AsyncGenerator[Any]:
    async with transport as (read, write):
        yield _Tap(read, seen), write


# failures -------------------------------------------------------------------------------------------------------------


def failures() -> tuple[type[BaseException], ...]:
    """Return the exceptions that a server can cause; any other one is a bug of mcp-sim."""
    from httpx2 import HTTPError, InvalidURL  # noqa: PLC0415 (see above)
    from mcp import MCPError  # noqa: PLC0415 (see above)

    return (OSError, ValueError, HTTPError, InvalidURL, MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError)


def stop_if_interrupted() -> None:
    """Raise `CancelledError` after Ctrl-C, when the client being closed may raise as if the server had failed."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from leaves(inner)
    else:
        yield error


def reason_of(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"program or folder {error.filename!r} not found"
    if isinstance(error, ValidationError):
        return "its answer is not a valid MCP message"
    text = shortened(" ".join(str(error).split()), 300)
    return text or type(error).__name__


def last_lines(stderr: IO[bytes]) -> str:
    """Return the last lines that the server's process wrote to stderr."""
    end = stderr.seek(0, os.SEEK_END)
    stderr.seek(max(0, end - _SHOWN_BYTES))
    lines = [line.rstrip() for line in stderr.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return "\n  ".join(["; its stderr:", *lines[-_SHOWN_LINES:]]) if lines else ""
