"""Read-only content of a server besides its tools: resources, prompts, completions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CompleteRequestParams, PromptReference

from mcp_sim.server.protocol import is_modern
from mcp_sim.types import UNABLE, Json, Record, RpcError, View
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import encode
from mcp_sim.types.programs import ProgramFunction
from mcp_sim.types.scenario import ServerSpec
from mcp_sim.types.surface import (
    MISSING_CAPABILITY,
    RESOURCE_NOT_FOUND,
    Choices,
    Prompt,
    Resource,
    fill_slots,
    match_uri,
    missing_capability_error,
)
from mcp_sim.types.views import find_key

MOST_COMPLETIONS = 100  # the maximum of the MCP specification


Run: TypeAlias = Callable[[ProgramFunction, Mapping[str, str]], Awaitable[Record | RpcError | None]]
"""Runs the function of a program for a resource, with the variables of its URI."""


async def contents(spec: ServerSpec, view: View, uri: str, run: Run) -> list[Record] | RpcError | None:
    """Return the current contents of a resource, or None if it is missing at this URI."""
    for resource in spec.resources:
        values = match_uri(resource.uri, uri) if resource.is_template else {} if resource.uri == uri else None
        if values is None:
            continue
        body = _body(resource, view, values) if resource.function is None else await run(resource.function, values)
        if isinstance(body, RpcError):
            return body
        if body is not None:
            listed = {key: resource.definition[key] for key in ("mimeType", "_meta") if key in resource.definition}
            return [{"uri": uri, **body, **listed}]
    return None


def read_error(error: RpcError | None, uri: str, version: str) -> MCPError:
    """Return the error for a resource that does not exist, or whose function refuses to show it."""
    error = error or RpcError(RESOURCE_NOT_FOUND, "Resource not found")
    is_missing = error.code == RESOURCE_NOT_FOUND
    code = INVALID_PARAMS if is_missing and is_modern(version) else error.code
    return MCPError(code, error.message, {"uri": uri} if is_missing and error.data is None else error.data)


def prompt(spec: ServerSpec, name: str, arguments: Mapping[str, Json]) -> Prompt:
    """Return the prompt of this name. Raises `MCPError` if it is unknown or arguments are missing."""
    asked = next((prompt for prompt in spec.prompts if prompt.name == name), None)
    if asked is None:
        raise MCPError(INVALID_PARAMS, f"Unknown prompt: {name}")
    needed = [argument["name"] for argument in asked.definition.get("arguments", ()) if argument.get("required")]
    missing = [argument for argument in needed if argument not in arguments]
    if missing:
        raise MCPError(INVALID_PARAMS, f"Missing required arguments: {', '.join(missing)}")
    return asked


def check_answers(prompt: Prompt, answers: Mapping[str, Json]) -> None:
    """Raises `MCPError` if the client lacks a capability, or the user declined."""
    for questions in prompt.asks:
        for name, ask in questions.items():
            if answers.get(name) == UNABLE:
                raise MCPError(MISSING_CAPABILITY, *missing_capability_error(ask.needs))
            if as_object(answers.get(name)).get("action", "accept") != "accept":
                raise MCPError(INVALID_PARAMS, "Declined by the user")


def messages(prompt: Prompt, slots: Mapping[str, Json]) -> Record:
    """Return a `prompts/get` result."""
    described = {key: prompt.definition[key] for key in ("description",) if key in prompt.definition}
    return {**described, "messages": fill_slots(prompt.messages, slots)}


def completion(spec: ServerSpec, view: View, params: CompleteRequestParams) -> Record:
    """Return a `completion/complete` result: the values with the typed prefix. Raises `MCPError`."""
    reference, begun = params.ref, params.argument.value.casefold()
    if isinstance(reference, PromptReference):
        choices = next((candidate.choices for candidate in spec.prompts if candidate.name == reference.name), None)
    else:
        choices = next((resource.choices for resource in spec.resources if resource.uri == reference.uri), None)
    if choices is None:
        raise MCPError(INVALID_PARAMS, "Unknown reference")
    offered = _offered(choices.get(params.argument.name), view)
    values = [value for value in dict.fromkeys(offered) if value.casefold().startswith(begun)]
    shown = values[:MOST_COMPLETIONS]
    return {"completion": {"values": shown, "total": len(values), "hasMore": len(shown) < len(values)}}


def _body(resource: Resource, view: View, values: Mapping[str, str]) -> Record | None:
    """Return the text or blob of a resource, None if its record does not exist."""
    if resource.blob is not None:
        return {"blob": fill_slots(resource.blob, values)}
    if resource.entity is None:
        return {"text": fill_slots(resource.text, values)}
    if resource.is_table:
        return {"text": _json([record for _, record in view.rows(resource.entity)])}
    key = find_key(view, resource.entity, values[resource.key or ""])
    record = None if key is None else view.get(resource.entity, key)
    if record is None:
        return None
    return {"text": _json(record) if resource.text is None else fill_slots(resource.text, {**values, **record})}


def _offered(choices: Choices | None, view: View) -> Iterator[str]:
    """Yield all possible values, in the order of the list or of the creation of records."""
    if choices is None:
        return
    yield from choices.values
    rows: Iterable[tuple[Any, Record]] = view.rows(choices.entity) if choices.entity is not None else ()
    for key, record in rows:
        value = record.get(choices.field) if choices.field else key
        if isinstance(value, str | int | float):
            yield str(value)


def _json(value: Json) -> str:
    return encode(value).decode()
