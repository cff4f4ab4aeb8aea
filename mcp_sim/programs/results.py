"""Results of programs, and the observations that they become."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, ItemsView, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeAlias, TypeGuard, cast

from mcp_sim.types import Json, Observation, Record, RpcError, Tool, ToolResult
from mcp_sim.types.errors import CRASH_CODE
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties
from mcp_sim.types.json_values import as_text, encode, is_key, well_formed
from mcp_sim.types.surface import RESOURCE_NOT_FOUND
from mcp_sim.types.tools import WRAPPER, in_blocks

Contents: TypeAlias = Record | RpcError | None
"""The contents of a resource: its text or blob, with the MIME type that they have by themselves; or an error."""

_items: Callable[[Any], ItemsView[Any, Any]] = dict[Any, Any].items
"""Returns the items of a dict; not by the method of rows, after which their values may change in place."""

_BLOCKS: Mapping[Any, Mapping[str, type]] = {
    "text": {"text": str},
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "resource_link": {"uri": str, "name": str},
    "resource": {"resource": dict},
}
"""The content blocks of MCP, and what each of them must have."""


@frozen
class Result:
    """A result in parts: the text, the structured content, or the content blocks.

    With a text and structured content, the text is what the content shows.
    """

    text: str | None = None
    structured: Json = None
    blocks: list[Record] | None = None
    is_error: bool = False
    seconds: float = 0.0
    """How long the call took, in the time of the world."""


class Refused(Exception):
    """A failure (isError) whose call writes nothing. The value is a text, JSON, or a result in parts."""

    def __init__(self, value: Json | Result) -> None:
        self.value = value
        super().__init__(value)


class Failure(Refused):
    """A failure (isError) whose call keeps what it has written, unless it is raised."""


def fail(value: Json) -> Failure:
    """Return a failure (isError) whose call keeps what it has written. `Refused` undoes it."""
    return Failure(value)


class Rpc(Exception):
    """A JSON-RPC error instead of a result. The call writes nothing."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        if type(code) is not int or code == CRASH_CODE:
            raise ValueError(f"Rpc takes a number that is not {CRASH_CODE}, which means a failure of mcp-sim: {code!r}")
        self.code, self.message, self.data = code, message, data
        super().__init__(f"{code}: {message}")


def observation_of(value: Any, tool: Tool, *, conforms: bool = True) -> Observation:
    """Return what the agent gets for a returned or raised value.

    A text is text; other values are JSON, structured where the tool has an outputSchema. So is a text there, unless the
    tool does not keep to its outputSchema (`conforms`). The content shows values as the framework of the server does.
    Raises `TypeError` for what is not JSON.
    """
    if not conforms and (isinstance(value, str) or (isinstance(value, Result) and value.structured is None)):
        tool = replace(tool, definition={k: inner for k, inner in tool.definition.items() if k != "outputSchema"})
    match value:
        case Rpc():
            return Observation(RpcError(value.code, value.message, plain(value.data)))
        case Refused(value=Result() as parts):
            return Observation(_of_parts(replace(parts, is_error=True), tool))
        case Refused():
            return Observation(_body(value.value, tool, is_error=True))
        case Result():
            return Observation(_of_parts(value, tool), timedelta(seconds=value.seconds))
        case _:
            return Observation(_body(value, tool, is_error=False))


def contents_of(value: Any) -> Contents:
    """Return the contents of a resource for a returned or raised value. Raises `TypeError` for what is not JSON."""
    match value:
        case None:
            return None
        case Rpc():
            return RpcError(value.code, value.message, plain(value.data))
        case Refused():
            message = plain(value.value)
            return RpcError(RESOURCE_NOT_FOUND, as_text(message))
        case bytes():
            return {"blob": b64encode(value).decode()}
        case str():
            return {"text": plain(value)}
        case _:
            return {"mimeType": "application/json", "text": encode(plain(value)).decode()}


def _check_blocks(blocks: Iterable[Any]) -> None:
    """Raise `TypeError` unless all are content blocks of MCP: a client would refuse the whole answer."""
    for block in blocks:
        body: Record = cast("Record", block) if isinstance(block, dict) else {}
        fields = _BLOCKS.get(body.get("type"))
        if fields is None or not all(isinstance(body.get(name), kind) for name, kind in fields.items()):
            known = "; ".join(f"{name} with {', '.join(of) or 'nothing'}" for name, of in _BLOCKS.items())
            shown = str(cast("object", block))[:100]
            raise TypeError(f"blocks has {shown}, expected a content block: {known}")


def _of_parts(result: Result, tool: Tool) -> ToolResult:
    _check_blocks(result.blocks or ())
    if result.blocks is not None and result.structured is None:
        return ToolResult(plain(result.blocks), "blocks", result.is_error)
    if result.structured is None:
        return _body(result.text or "", tool, is_error=result.is_error)
    value, schema = plain(result.structured), tool.output_schema
    if schema is not None and not result.is_error:
        wrapped: Json = value if _is_object(value) else _wrapped(value, schema)
        if result.text is None and result.blocks is None:
            return tool.shown(ToolResult(wrapped))
        value = wrapped
    blocks = None if result.blocks is None else tuple(plain(result.blocks))
    return ToolResult(value, "structured", result.is_error, result.text, blocks)


def _body(value: Any, tool: Tool, *, is_error: bool) -> ToolResult:
    # The Python SDK shows None as an empty list of blocks.
    if value is None and tool.output_schema is None:
        return ToolResult([], "blocks", is_error)
    value = plain(value)
    if isinstance(value, str) and (is_error or tool.output_schema is None):
        return ToolResult(value, "text", is_error)
    if is_error:
        return ToolResult(value, "json", is_error)
    if tool.output_schema is None:
        result = ToolResult(value, "json")
        return in_blocks(result, value) if tool.is_of_sdk else result
    return tool.shown(ToolResult(_wrapped(value, tool.output_schema)))


def _wrapped(value: Json, schema: Record) -> Json:
    """Return a value in the object that the outputSchema wraps around it, if it does."""
    is_wrapped = _is_object(value) and WRAPPER in value
    wrapped: Record = {WRAPPER: value}
    return value if is_wrapped or [*properties(expanded(schema))] != [WRAPPER] else wrapped


def _is_object(value: Json) -> TypeGuard[Record]:
    return isinstance(value, dict)


def plain(value: Any) -> Json:
    """Return a copy of a JSON value without rows, tuples and enums.

    Raises `TypeError` with the path of what is not JSON.
    """
    try:
        return _plain(value)
    except _NoJson:
        raise TypeError(_complaint(value, "")) from None


class _NoJson(Exception):
    """A part of a value is not JSON."""


def _plain(value: Any) -> Json:
    kind = value.__class__
    # By class, before any `isinstance`: nearly all values are these, and answers have thousands.
    if kind is int or kind is bool or value is None or (kind is str and value.isascii()):
        return value
    if isinstance(value, dict):
        return {
            name if name.__class__ is str and name.isascii() else _name(name): _plain(item)
            for name, item in _items(value)
        }
    if isinstance(value, list | tuple):
        return [_plain(item) for item in cast("list[Any]", value)]
    return _number_or_text(value)


def _name(name: Any) -> str:
    if is_key(name):
        return str(_number_or_text(name))
    raise _NoJson


def _number_or_text(value: Any) -> Json:
    match value:
        case str():
            # A subclass, such as an enum's member, would be written as its own class.
            return well_formed(str.__str__(value))
        case int():
            return int.__int__(value)
        # Neither infinite nor not-a-number, which JSON cannot express.
        case float() if value - value == 0:
            return float.__float__(value)
        case _:
            raise _NoJson


def _complaint(value: Any, path: str) -> str:
    """Return what is not JSON in a value, with its path; empty if there is nothing."""
    place = path.removeprefix(".") or "the value"
    match value:
        case dict():
            fields = [*_items(value)]
            names = (f"a key of {place} is a {_kind(name)}, not a text" for name, _ in fields if not is_key(name))
            return next(names, "") or _first_complaint((item, f"{path}.{name}") for name, item in fields)
        case list() | tuple():
            return _first_complaint((item, f"{path}[{at}]") for at, item in enumerate(cast("list[Any]", value)))
        case None | bool() | int() | str():
            return ""
        case float():
            return "" if value - value == 0 else f"{place} is {value}, which JSON cannot express"
        case _:
            return f"{place} is a {_kind(value)}, which JSON cannot express"


def _first_complaint(parts: Iterable[tuple[Any, str]]) -> str:
    return next((problem for inner, path in parts if (problem := _complaint(inner, path))), "")


def _kind(value: Any) -> str:
    return type(value).__name__
