"""Reach a live MCP server: transports, its messages as they came, and what can go wrong. Imports the MCP SDK late."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any, Protocol, Self, cast

import anyio
from pydantic import ValidationError

from mcp_sim.spec.foreign.files import shortened
from mcp_sim.types import Record
from mcp_sim.types.frozen import frozen

_SHOWN_LINES = 10  # the end of a traceback: the message and where it was raised
_SHOWN_BYTES = 4096  # as many lines as are shown, unless they are very long

_LAST_SECONDS = 0.1
"""How long the last bytes of a process that has ended may take. They are in the pipe, which is read in microseconds."""

_SECONDS_FOR_ENDPOINT = 5.0
"""How long a server may take to say that it speaks HTTP+SSE. A server with Streamable HTTP never says it."""

_IDLE_SECONDS = 86_400.0
"""How long the stream of HTTP+SSE may be silent; each call has a limit of its own."""

_UNAUTHORIZED = (401, 403)  # to both, servers answer requests without a valid token

_PLAINER = {
    "Not Found": "HTTP 404: there is no MCP server at this path",
    "Server returned an error response": "answers with an HTTP error, not with a message of MCP",
}
"""The words of the SDK's client for answers outside the protocol -> those of mcp-sim."""


# servers --------------------------------------------------------------------------------------------------------------


class Place(Protocol):
    """Where a server is, and how to reach it."""

    def transport(self, stderr: Stderr) -> AbstractAsyncContextManager[Any]:
        """Open the streams to the server. `stderr` gets what its process writes to stderr."""
        ...

    async def alternative(self) -> Place | None:
        """Return how to reach it otherwise, if it has refused this way."""
        ...


@frozen
class AtCommand:
    """A server that a command starts on stdio."""

    command: Sequence[str]
    environment: dict[str, str]
    folder: Path | None

    def transport(self, stderr: Stderr) -> AbstractAsyncContextManager[Any]:
        from mcp_sim.spec.pipes import process_streams  # noqa: PLC0415 (half a second, only where a server is asked)

        return process_streams(self.command, self.environment, self.folder, stderr.file)

    async def alternative(self) -> None:
        return None


@frozen
class AtUrl:
    """A server over streamable HTTP, or over the older HTTP+SSE."""

    url: str
    headers: dict[str, str]
    is_older: bool = False

    def transport(self, stderr: Stderr) -> AbstractAsyncContextManager[Any]:
        return (_over_sse if self.is_older else _over_http)(self.url, self.headers)

    async def alternative(self) -> AtUrl | None:
        """Return the server as one over HTTP+SSE, if its stream begins with the event of that protocol."""
        if self.is_older:
            return None
        from httpx2 import HTTPError  # noqa: PLC0415 (half a second, only where a server is asked)
        from mcp.shared._httpx_utils import create_mcp_http_client  # noqa: PLC0415 (see above)

        accepted = {"accept": "text/event-stream"}
        try:
            async with (
                asyncio.timeout(_SECONDS_FOR_ENDPOINT),
                create_mcp_http_client(headers=self.headers) as http,
                http.stream("GET", self.url, headers=accepted) as response,
            ):
                async for line in response.aiter_lines():
                    if line.startswith("event:"):
                        return replace(self, is_older=True) if line[6:].strip() == "endpoint" else None
        except (HTTPError, OSError):
            pass
        return None


@asynccontextmanager
async def connected(
    place: Place, stderr: Stderr, seen: list[Record] | None = None, **options: Any
) -> AsyncGenerator[Any]:
    """Open a client of the SDK for the duration of the block; `seen` collects the results that it receives.

    A server that refuses the transport is reached by the older one, if it speaks that.
    """
    from mcp import Client, MCPError  # noqa: PLC0415 (half a second, only where a server is asked)

    def client_at(place: Place) -> Any:
        streams = place.transport(stderr)
        return Client(cast("Any", streams if seen is None else _tapped(streams, seen)), cache=None, **options)

    async with AsyncExitStack() as stack:
        try:
            client = await stack.enter_async_context(client_at(place))
        except (BaseExceptionGroup, MCPError, RuntimeError) as error:
            unknown = next((leaf for leaf in leaves(error) if isinstance(leaf, RuntimeError)), None)
            if unknown is not None and "protocol version" in str(unknown):  # the SDK has no class of its own for it
                raise ValueError(str(unknown)) from None
            other = await place.alternative() if all(isinstance(leaf, MCPError) for leaf in leaves(error)) else None
            if other is None:
                raise
            client = await stack.enter_async_context(client_at(other))
        yield client


# transports -----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _over_http(url: str, headers: dict[str, str]) -> AsyncGenerator[Any]:
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 (see above)
    from mcp.shared._httpx_utils import create_mcp_http_client  # noqa: PLC0415 (see above)

    from mcp_sim.spec.halves import PLAIN, mend  # noqa: PLC0415 (imports httpx2)

    async with create_mcp_http_client(headers={**PLAIN, **headers}) as http:
        http.event_hooks = {"response": [_raise_if_shut_out, mend]}
        async with streamable_http_client(url, http_client=http) as streams:
            yield streams


async def _raise_if_shut_out(response: Any) -> None:
    """Break the connection if the server refuses every request of it, whatever the body says.

    The SDK's client would take a JSON-RPC error in that body as the answer to the request.
    """
    from httpx2 import HTTPStatusError  # noqa: PLC0415 (see above)

    request, status = response.request, response.status_code
    ends = status == 404 and "mcp-session-id" in request.headers
    if request.method == "POST" and (status in _UNAUTHORIZED or ends):
        raise HTTPStatusError(_refusal(response), request=request, response=response)


def _refusal(response: Any) -> str:
    reason = f"HTTP {response.status_code} {response.reason_phrase}"
    if response.status_code in _UNAUTHORIZED:
        return f"{reason}: it needs an HTTP header that authorizes"
    return f"{reason}: it has ended the session" if response.status_code == 404 else reason


@asynccontextmanager
async def _over_sse(url: str, headers: dict[str, str]) -> AsyncGenerator[Any]:
    """Connect over HTTP+SSE. The SDK only logs that a message was refused: here it breaks the connection."""
    from httpx2 import HTTPStatusError  # noqa: PLC0415 (see above)
    from mcp.client.sse import sse_client  # noqa: PLC0415 (see above)
    from mcp.shared._httpx_utils import create_mcp_http_client  # noqa: PLC0415 (see above)

    from mcp_sim.spec.halves import PLAIN, mend  # noqa: PLC0415 (imports httpx2)

    refused = asyncio.Future[Any]()

    async def note(response: Any) -> None:
        if response.request.method == "POST" and response.is_error and not refused.done():
            refused.set_result(response)

    async def break_if_refused() -> None:
        response = await refused
        raise HTTPStatusError(_refusal(response), request=response.request, response=response)

    def client(headers: dict[str, str] | None = None, timeout: Any = None, auth: Any = None) -> Any:
        http = create_mcp_http_client({**PLAIN, **(headers or {})}, timeout, auth)
        http.event_hooks = {"response": [note, mend]}
        return http

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(break_if_refused)
        async with sse_client(url, headers, sse_read_timeout=_IDLE_SECONDS, httpx_client_factory=client) as streams:
            yield streams
        tasks.cancel_scope.cancel()


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
async def _tapped(transport: AbstractAsyncContextManager[Any], seen: list[Record]) -> AsyncGenerator[Any]:
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


def failure_reason(error: BaseException, timeout: float) -> str:
    """Return what went wrong. Raises the error again if it is not a failure of the server."""
    causes = list(leaves(error))
    if not all(isinstance(cause, failures()) for cause in causes):
        raise error
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return f"did not answer within {timeout:g} seconds"
    return "; ".join(dict.fromkeys(map(_reason_of, causes)))


def _reason_of(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"program or folder '{error.filename}' not found"
    if isinstance(error, ValidationError):
        return "its answer is not a valid MCP message"
    text = shortened(" ".join(str(error).split()), 300)
    return _PLAINER.get(text, text) or type(error).__name__


class Stderr:
    """The end of what the process of a server writes to stderr. The rest is dropped: it may run for days."""

    def __init__(self) -> None:
        source, target = os.pipe()
        self.file = os.fdopen(target, "wb", 0)
        """Where the process writes."""
        self._end = b""
        self._thread = Thread(target=self._read, args=(source,), name="mcp-sim stderr", daemon=True)
        self._thread.start()

    def _read(self, source: int) -> None:
        """Read until nothing can write any more: a process that cannot write would wait."""
        with os.fdopen(source, "rb", 0) as stream:
            while data := stream.read(_SHOWN_BYTES):
                self._end = (self._end + data)[-_SHOWN_BYTES:]

    def close(self) -> None:
        """Wait for the last bytes of a process that has ended. One that it started may still write."""
        self.file.close()
        self._thread.join(_LAST_SECONDS)

    @property
    def last_lines(self) -> str:
        """The last lines so far."""
        lines = [line.rstrip() for line in self._end.decode("utf-8", "replace").splitlines() if line.strip()]
        return "\n  ".join(["; its stderr:", *lines[-_SHOWN_LINES:]]) if lines else ""
