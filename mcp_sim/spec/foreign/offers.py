"""Resources and prompts of a live server, as entries of a tool spec."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeAlias, cast

from pydantic import BaseModel, ValidationError

from mcp_sim.spec.messages import error_messages
from mcp_sim.spec.parts.surface import PromptPart, ResourcePart
from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

MOST_READ = 100
"""The most resources, and the most prompts, that are read."""

LONGEST = 100_000
"""The most characters of a resource that are kept."""

Listed: TypeAlias = Callable[[str], Awaitable[list[Json]]]
"""Returns the list of a kind, such as `prompts`."""


class Offers:
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
        if len(known) > MOST_READ:
            self.doubts.append(f"of {len(known)} {kind}, {MOST_READ} are imported")
        return [*reversed(known.values())][:MOST_READ]

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
            if isinstance(first.get(key), str) and len(first[key]) <= LONGEST:
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
