"""Import the tools of a live MCP server: a command that starts one, or a URL."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path, PurePath
from tempfile import TemporaryFile
from typing import IO, Any, Literal
from urllib.parse import urlsplit

import anyio
from pydantic import Field, ValidationError, field_validator

from mcp_sim.spec.foreign.files import file_name
from mcp_sim.spec.foreign.offers import Offers
from mcp_sim.spec.foreign.secrets import Secrets, find_secrets, without_own_secrets
from mcp_sim.spec.live_server import (
    AtCommand,
    AtUrl,
    Place,
    connected,
    failure_reason,
    failures,
    last_lines,
    stop_if_interrupted,
)
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers

MOST_PAGES = 200  # a server may return cursors without an end
_LISTS = {
    "tools": "list_tools",
    "resources": "list_resources",
    "resourceTemplates": "list_resource_templates",
    "prompts": "list_prompts",
}
"""Key of a result -> the method of the SDK's session that asks for it."""
_SERVER_INFO = {
    "version": "version",
    "title": "title",
    "description": "description",
    "websiteUrl": "website",
    "icons": "icons",
}
"""Key of a server's info -> key of a tool spec."""


@importers.register("mcp")
class Mcp(Importer):
    """Ask a live server for its tools: a command that starts a server on stdio, or the URL of a server.

    The list is kept unchanged, even parts that clients would reject. Resources and prompts are read, too. No tool is
    called.
    """

    sources: tuple[str, ...] = Field(
        min_length=1, description="A command and its arguments, or one URL.", examples=[["npx", "some-server"]]
    )
    name: str | None = Field(default=None, description="Name of the server. Default: the name it reports.")
    headers: dict[str, str] = Field(default_factory=dict[str, str], description="HTTP headers.", repr=False)
    env: dict[str, str] = Field(
        default_factory=dict[str, str],
        description="Environment variables for the command, added to those of this process.",
        repr=False,
    )
    folder: Path | None = Field(default=None, description="Working directory of the command.")
    transport: Literal["http", "sse"] = Field(
        default="http",
        description="Transport for a URL: streamable HTTP, or HTTP+SSE if the server refuses it; or that at once.",
    )
    secrets: tuple[str, ...] = Field(default=(), description="Further values to redact from messages.", repr=False)
    timeout: float = Field(default=60.0, gt=0, description="Time limit in seconds.")
    tools_only: bool = Field(default=False, description="Whether resources and prompts are left out.")

    @field_validator("sources")
    @classmethod
    def _has_one_url(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if _is_url(value[0]) and len(value) > 1:
            raise ValueError(f"{value[1]!r} follows the URL; options go before it")
        return value

    async def imported(self) -> Sequence[Imported | Unreached]:
        return [await self._asked()]

    async def _asked(self) -> Imported | Unreached:
        """Return what the server lists, or why it did not answer, without secrets."""
        secrets = find_secrets(self.sources, [*self.env.values(), *self.secrets], self.headers)
        with TemporaryFile() as stderr:
            try:
                with anyio.fail_after(self.timeout):
                    return await self._imported(stderr, secrets)
            except (BaseExceptionGroup, *failures()) as error:
                stop_if_interrupted()
                reason = failure_reason(error, self.timeout)
                asked = f"{self.sources[0]}: " if self._is_url else ""
                return Unreached(self._default_name, secrets.redact(asked + reason + last_lines(stderr)))

    async def _imported(self, stderr: IO[bytes], secrets: Secrets) -> Imported:
        seen: list[Record] = []
        async with connected(self._place, stderr, seen) as client:
            doubts = list[str]()
            listed = partial(_listed, client.session, seen, doubts)
            tools = await listed("tools")
            server = client.server_info
            info: Record = server.model_dump(by_alias=True, exclude_none=True, mode="json") if server else {}
            capabilities = client.server_capabilities.model_dump(exclude_none=True)
            instructions = client.instructions
            offers = Offers(client.session, listed, failures())
            await offers.read({} if self.tools_only else capabilities)
        spec = {key: info[name] for name, key in _SERVER_INFO.items() if info.get(name)}
        spec |= {"instructions": instructions} if instructions else {}
        name = file_name(self.name or info.get("name") or self._default_name)
        contents: Record = json.loads(secrets.redact(json.dumps(offers.spec)))
        return Imported(name, tools, spec | contents, (*doubts, *offers.doubts), frozenset(capabilities))

    @property
    def _place(self) -> Place:
        if self._is_url:
            return AtUrl(self.sources[0], self.headers, self.transport == "sse")
        return AtCommand(self.sources, {**without_own_secrets(os.environ), **self.env}, self.folder)

    @property
    def _is_url(self) -> bool:
        return _is_url(self.sources[0])

    @property
    def _default_name(self) -> str:
        """Return the name for a server that reports none."""
        first = self.sources[0]
        return file_name(self.name or (urlsplit(first).hostname or "" if self._is_url else PurePath(first).stem))


def _is_url(text: str) -> bool:
    return urlsplit(text).scheme in {"http", "https"}


# answers --------------------------------------------------------------------------------------------------------------


async def _listed(session: Any, seen: list[Record], doubts: list[str], kind: str) -> list[Json]:
    """Return the entries of all pages unchanged, and add what is doubtful about them."""
    from mcp_types import PaginatedRequestParams  # noqa: PLC0415 (see above)

    entries: list[Json] = []
    cursors: list[Json] = [None]
    while len(cursors) <= MOST_PAGES:
        page = await _page(getattr(session, _LISTS[kind]), kind, PaginatedRequestParams(cursor=cursors[-1]), seen)
        entries += as_list(page.get(kind))
        cursor = page.get("nextCursor")
        if not cursor:
            return entries
        if cursor in cursors:
            doubts.append(f"its list of {kind} repeats a cursor; the rest is not imported")
            return entries
        cursors.append(cursor)
    doubts.append(f"its list of {kind} has more than {MOST_PAGES} pages; the rest is not imported")
    return entries


async def _page(ask: Callable[..., Awaitable[Any]], kind: str, params: Any, seen: list[Record]) -> Record:
    """Return one page unchanged, valid or not."""
    seen.clear()
    try:
        await ask(params=params)
    except ValidationError:
        if not any(kind in result for result in seen):
            raise
    pages: list[Record] = [result for result in seen if kind in result]
    return pages[-1] if pages else {}
