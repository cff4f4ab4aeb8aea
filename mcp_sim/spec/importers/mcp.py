"""A live MCP server: a command that starts one, or a URL."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path, PurePath
from tempfile import TemporaryFile
from typing import IO, Any, Literal, Self, cast
from urllib.parse import urlsplit

import anyio
from pydantic import Field, ValidationError

from mcp_sim.spec.foreign.naming import file_name, shortened
from mcp_sim.spec.foreign.secrecy import secrets_of
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers

MOST_PAGES = 200
_SHOWN_LINES = 3
_SHOWN_BYTES = 4096
_OTHER = ("resources", "prompts")
_TOLD = {
    "version": "version",
    "title": "title",
    "description": "description",
    "websiteUrl": "website",
    "icons": "icons",
}
"""What a server says of itself -> the key of a tool spec."""


@importers.register("mcp")
class Mcp(Importer):
    """Asks a live server for its tools: a command that starts one and speaks over stdio, or the URL of one.

    Everything a server lists is kept as it came, also what no client would take. It is asked for its list and nothing
    else: no tool is called.
    """

    sources: tuple[str, ...] = Field(
        min_length=1, description="A command and its arguments, or one URL.", examples=[["npx", "some-server"]]
    )
    name: str | None = Field(default=None, description="The server's name. Default: what it calls itself.")
    headers: dict[str, str] = Field(default_factory=dict[str, str], description="HTTP headers.", repr=False)
    env: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="Variables for the command, beside those of this process.",
        repr=False,
    )
    folder: Path | None = Field(default=None, description="Where the command runs.")
    transport: Literal["http", "sse"] = Field(
        default="http", description="How a URL is spoken to: streamable HTTP, or the older HTTP+SSE."
    )
    secrets: tuple[str, ...] = Field(default=(), description="More that must not be shown.", repr=False)
    timeout: float = Field(default=60.0, gt=0, description="How many seconds it may take in all.")

    async def imported(self) -> Sequence[Imported | Unreached]:
        return [await self._asked()]

    async def _asked(self) -> Imported | Unreached:
        """What the server said, or why it said nothing; no secret is in either."""
        secrets = secrets_of(self.sources, [*self.env.values(), *self.secrets], self.headers)
        with TemporaryFile() as said:
            try:
                with anyio.fail_after(self.timeout):
                    return await self._imported(said)
            except (BaseExceptionGroup, *_failures()) as error:
                _stop_if_interrupted()
                reason = self._reason(error)
                asked = f"{self.sources[0]}: " if self._is_url else ""
                return Unreached(self._called, secrets.hidden(asked + reason + _last_lines(said)))

    def _reason(self, error: BaseException) -> str:
        """What went wrong, in a sentence; raises again what is no failure of the server."""
        leaves = list(_leaves(error))
        if not all(isinstance(leaf, _failures()) for leaf in leaves):
            raise error
        if any(isinstance(leaf, TimeoutError) for leaf in leaves):
            return f"gave no answer within {self.timeout:g} seconds"
        return "; ".join(dict.fromkeys(map(_sentence, leaves)))

    async def _imported(self, said: IO[bytes]) -> Imported:
        from mcp import Client  # noqa: PLC0415 (half a second, only where a server is asked)

        seen: list[Record] = []
        async with Client(cast("Any", _tapped(self._transport(said), seen)), cache=None) as client:
            tools, doubts = await _listed(client, seen)
            info = client.server_info
            told = info.model_dump(by_alias=True, exclude_none=True, mode="json") if info else {}
            capabilities = client.server_capabilities.model_dump(exclude_none=True)
            instructions = client.instructions
        spec = {key: told[name] for name, key in _TOLD.items() if told.get(name)}
        spec |= {"instructions": instructions} if instructions else {}
        more = [f"it offers {kind} too; they are not imported" for kind in _OTHER if kind in capabilities]
        return Imported(file_name(self.name or told.get("name") or self._called), tools, spec, (*doubts, *more))

    def _transport(self, said: IO[bytes]) -> AbstractAsyncContextManager[Any]:
        if not self._is_url:
            return _started(self.sources, {**os.environ, **self.env}, self.folder, said)
        return _sse(self.sources[0], self.headers) if self.transport == "sse" else _http(self.sources[0], self.headers)

    @property
    def _is_url(self) -> bool:
        return len(self.sources) == 1 and urlsplit(self.sources[0]).scheme in {"http", "https"}

    @property
    def _called(self) -> str:
        """A name for a server that gives itself none."""
        first = self.sources[0]
        return file_name(self.name or (urlsplit(first).hostname or "" if self._is_url else PurePath(first).stem))


# transports -----------------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _started(
    command: Sequence[str], environment: dict[str, str], folder: Path | None, said: IO[bytes]
) -> AsyncGenerator[Any]:
    """The pipes of a process that ends with the block, whatever ends it."""
    from mcp import StdioServerParameters  # noqa: PLC0415 (see above)
    from mcp.client.stdio import stdio_client  # noqa: PLC0415 (see above)

    parameters = StdioServerParameters(command=command[0], args=[*command[1:]], env=environment, cwd=folder)
    async with stdio_client(parameters, errlog=cast("Any", said)) as streams:
        yield streams


@asynccontextmanager
async def _http(url: str, headers: dict[str, str]) -> AsyncGenerator[Any]:
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415 (see above)
    from mcp.shared._httpx_utils import create_mcp_http_client  # noqa: PLC0415 (see above)

    async with (
        create_mcp_http_client(headers=headers) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams


def _sse(url: str, headers: dict[str, str]) -> AbstractAsyncContextManager[Any]:
    from mcp.client.sse import sse_client  # noqa: PLC0415 (see above)

    return sse_client(url, headers=headers)


class _Tap:
    """A stream of messages that keeps the results in it as they came, before anyone judges them."""

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


# what is said ---------------------------------------------------------------------------------------------------------


async def _listed(client: Any, seen: list[Record]) -> tuple[list[Json], list[str]]:
    """The tools of all pages, as they came, and what is doubtful about them."""
    from mcp_types import PaginatedRequestParams  # noqa: PLC0415 (see above)

    tools: list[Json] = []
    cursors: list[Json] = [None]
    while len(cursors) <= MOST_PAGES:
        page = await _page(client.session, PaginatedRequestParams(cursor=cursors[-1]), seen)
        tools += as_list(page.get("tools"))
        cursor = page.get("nextCursor")
        if not cursor:
            return tools, []
        if cursor in cursors:
            return tools, ["its list of tools comes back to a cursor that it gave before; the rest is not here"]
        cursors.append(cursor)
    return tools, [f"its list of tools has more than {MOST_PAGES} pages; the rest is not here"]


async def _page(session: Any, params: Any, seen: list[Record]) -> Record:
    """One page as it came, valid or not."""
    seen.clear()
    try:
        await session.list_tools(params=params)
    except ValidationError:
        if not any("tools" in result for result in seen):
            raise
    found: list[Record] = [result for result in seen if "tools" in result]
    return found[-1] if found else {}


def _failures() -> tuple[type[BaseException], ...]:
    """What a server may do wrong; anything else is a bug of this program."""
    from httpx2 import HTTPError, InvalidURL  # noqa: PLC0415 (see above)
    from mcp import MCPError  # noqa: PLC0415 (see above)

    return (OSError, ValueError, HTTPError, InvalidURL, MCPError, anyio.ClosedResourceError, anyio.BrokenResourceError)


def _stop_if_interrupted() -> None:
    """Ctrl-C is no failure of the server, though a client that is torn down for it may raise as for one."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(inner)
    else:
        yield error


def _sentence(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"there is no program or folder {error.filename!r}"
    if isinstance(error, ValidationError):
        return "its answer is none of MCP"
    text = shortened(" ".join(str(error).split()), 300)
    return text or type(error).__name__


def _last_lines(said: IO[bytes]) -> str:
    """What the server's process said last on stderr, for whoever must find out why."""
    end = said.seek(0, os.SEEK_END)
    said.seek(max(0, end - _SHOWN_BYTES))
    lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
    return f"; it says: {' | '.join(lines[-_SHOWN_LINES:])}" if lines else ""
