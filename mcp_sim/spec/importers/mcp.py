"""Import the tools, resources and prompts of a live MCP server: a command that starts one, or a URL."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Literal, TypeAlias, cast
from urllib.parse import urlsplit

import anyio
from pydantic import BaseModel, Field, ValidationError, field_validator

from mcp_sim.spec.foreign.files import file_name
from mcp_sim.spec.foreign.secrets import Secrets, find_secrets, without_own_secrets
from mcp_sim.spec.live_server import (
    AtCommand,
    AtUrl,
    Place,
    Stderr,
    connected,
    failure_reason,
    failures,
    stop_if_interrupted,
)
from mcp_sim.spec.messages import error_messages
from mcp_sim.spec.parts.surface import PromptPart, ResourcePart
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object
from mcp_sim.types.kinds import Imported, Importer, Unreached, importers

MOST_PAGES = 200  # a server may return cursors without an end
_WEB = frozenset({"http", "https"})
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


_MOST_READ = 100
"""The most resources, and the most prompts, that are read."""

_LONGEST = 100_000
"""The most characters of a resource that are kept."""

Listed: TypeAlias = Callable[[str], Awaitable[list[Json]]]
"""Returns the list of a kind, such as `prompts`."""


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
        is_url = urlsplit(value[0]).scheme in _WEB  # what only looks like a URL is refused, not run as a command
        if is_url and len(value) > 1:
            raise ValueError(f"{value[1]!r} follows the URL; options go before it")
        return value

    async def imported(self) -> Sequence[Imported | Unreached]:
        """Return what the server lists, or why it did not answer, without secrets."""
        secrets = find_secrets(self.sources, [*self.env.values(), *self.secrets], self.headers)
        stderr = Stderr()
        try:
            with closing(stderr), anyio.fail_after(self.timeout):
                return [await self._imported(stderr, secrets)]
        except (BaseExceptionGroup, *failures()) as error:
            stop_if_interrupted()
            reason = failure_reason(error, self.timeout)
            asked = f"{self.sources[0]}: " if self._is_url else ""
            return [Unreached(self._default_name, secrets.redact(asked + reason + stderr.last_lines))]

    async def _imported(self, stderr: Stderr, secrets: Secrets) -> Imported:
        seen: list[Record] = []
        async with connected(self._place, stderr, seen) as client:
            doubts = list[str]()
            listed = partial(_listed, client.session, seen, doubts)
            tools = await listed("tools")
            server = client.server_info
            info: Record = server.model_dump(by_alias=True, exclude_none=True, mode="json") if server else {}
            capabilities = client.server_capabilities.model_dump(exclude_none=True)
            instructions = client.instructions
            offers = _Offers(client.session, listed, failures())
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
        return urlsplit(self.sources[0]).scheme in _WEB

    @property
    def _default_name(self) -> str:
        """Return the name for a server that reports none."""
        first = self.sources[0]
        return file_name(self.name or (urlsplit(first).hostname or "" if self._is_url else PurePath(first).stem))


# answers --------------------------------------------------------------------------------------------------------------


async def _listed(session: Any, seen: list[Record], doubts: list[str], kind: str) -> list[Json]:
    """Return the entries of all pages unchanged, and add what is doubtful about them."""
    from mcp_types import PaginatedRequestParams  # noqa: PLC0415 (only where a server is asked)

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


class _Offers:
    """Reads what a server offers besides tools. `failures` are the exceptions that a server can cause.

    `spec` has the entries, `doubts` what could not be read, as sentences.
    """

    def __init__(self, session: Any, listed: Listed, failures: tuple[type[BaseException], ...]) -> None:
        self._session, self._listed, self._failures = session, listed, failures
        self.spec: Record = {}
        self.doubts = list[str]()

    async def read(self, capabilities: Record) -> None:
        """List and read what the server declares."""
        if "resources" in capabilities:
            resources = await self._entries("resources", "uri")
            templates = await self._entries("resourceTemplates", "uriTemplate")
            contents = [await self._contents(entry) for entry in resources]
            contents += [self._unknown(entry) for entry in templates]
            self._keep("resources", ResourcePart, zip([*resources, *templates], contents, strict=True))
        if "prompts" in capabilities:
            prompts = await self._entries("prompts", "name")
            messages = [await self._messages(entry) for entry in prompts]
            self._keep("prompts", PromptPart, zip(prompts, messages, strict=True))

    async def _entries(self, kind: str, key: str) -> list[Record]:
        """Return the first entries of a list, each once."""
        try:
            entries = [as_object(entry) for entry in await self._listed(kind)]
        except self._failures as error:
            self.doubts.append(f"its {kind} cannot be listed: {_reason(error)}")
            return []
        known = {str(entry.get(key)): entry for entry in reversed(entries) if entry.get(key)}
        if len(known) > _MOST_READ:
            self.doubts.append(f"of {len(known)} {kind}, {_MOST_READ} are imported")
        return [*reversed(known.values())][:_MOST_READ]

    async def _contents(self, resource: Record) -> Record:
        """Return the contents of a resource, by keys of a tool spec."""
        uri = str(resource["uri"])
        try:
            contents = _plain(await self._session.read_resource(uri))
        except self._failures as error:
            self.doubts.append(f"resource {uri} cannot be read, and is empty: {_reason(error)}")
            return {"text": ""}
        first = as_object(next(iter(as_list(contents.get("contents"))), None))
        for key in ("text", "blob"):
            if isinstance(first.get(key), str) and len(first[key]) <= _LONGEST:
                return {key: first[key]}
        self.doubts.append(f"resource {uri} has no contents, or very long ones, and is empty")
        return {"text": ""}

    def _unknown(self, template: Record) -> Record:
        self.doubts.append(f"resources {template['uriTemplate']}: write their text, or `record: ENTITY`")
        return {"text": ""}

    async def _messages(self, prompt: Record) -> Record:
        """Return the messages of a prompt, with a slot for each argument."""
        names = [str(as_object(argument).get("name")) for argument in as_list(prompt.get("arguments"))]
        try:
            messages = _plain(await self._session.get_prompt(prompt["name"], {name: f"{{{name}}}" for name in names}))
        except self._failures as error:
            self.doubts.append(f"prompt {prompt['name']} cannot be read; write its messages: {_reason(error)}")
            return {"messages": [str(prompt.get("description") or prompt["name"])]}
        return {"messages": [_message(as_object(message)) for message in as_list(messages.get("messages"))]}

    def _keep(self, kind: str, model: type[BaseModel], entries: Iterator[tuple[Record, Record]]) -> None:
        """Keep the entries that a tool spec may have. Keys that it does not know are left out."""
        known = {field.alias or name for name, field in model.model_fields.items()}
        kept = list[Json]()
        for entry, added in entries:
            whole = {name: value for name, value in entry.items() if name in known and value is not None} | added
            try:
                model.model_validate(whole)
            except ValidationError as error:
                problems = "; ".join(message for _, message in error_messages(error, model, whole))
                self.doubts.append(f"{kind}: {whole.get('name')} is left out: {problems}")
            else:
                kept.append(whole)
        if kept:
            self.spec[kind] = kept


def _message(message: Record) -> Json:
    """Return a message of a prompt in its shortest form."""
    content = as_object(message.get("content"))
    block: Json = content["text"] if content.keys() == {"type", "text"} else content
    return block if message.get("role") == "user" else {"role": message.get("role"), "content": block}


def _plain(result: Any) -> Record:
    return cast("Record", result.model_dump(by_alias=True, exclude_none=True, mode="json"))


def _reason(error: BaseException) -> str:
    if isinstance(error, ValidationError):
        return "its answer is not a valid MCP message"
    return " ".join(str(error).split()) or type(error).__name__
