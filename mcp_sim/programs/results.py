"""Results of programs, and the observations that they become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from mcp_sim.types import Json, Observation, Record, RpcError, Tool, ToolResult
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties

_WRAPPER = "result"
"""The only property of an outputSchema that MCP servers wrap around a value that is no object."""


@dataclass(frozen=True, slots=True)
class Result:
    """A result in parts: the text, the structured content, or the content blocks.

    With a text and structured content, the text is what the content shows.
    """

    text: str | None = None
    structured: Json = None
    blocks: list[Record] | None = None
    is_error: bool = False


def fail(value: Json) -> Result:
    """Return a failure (isError) whose call keeps what it has written. `Refused` undoes it."""
    if isinstance(value, str):
        return Result(text=value, is_error=True)
    return Result(structured=value, is_error=True)


class Refused(Exception):
    """A failure (isError) whose call writes nothing. The value is a text, or JSON."""

    def __init__(self, value: Json) -> None:
        self.value = value
        super().__init__(value)


class Rpc(Exception):
    """A JSON-RPC error instead of a result. The call writes nothing."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        self.code, self.message, self.data = code, message, data
        super().__init__(f"{code}: {message}")


def observation_of(value: Any, tool: Tool) -> Observation:
    """Return what the agent gets for a returned or raised value.

    A text is text; other values are JSON, structured where the tool has an outputSchema. Raises `TypeError` for what is
    no JSON.
    """
    match value:
        case Rpc():
            return Observation(RpcError(value.code, value.message, plain(value.data)))
        case Refused():
            return Observation(_body(value.value, tool, is_error=True))
        case Result():
            return Observation(_of_parts(value, tool))
        case _:
            return Observation(_body(value, tool, is_error=False))


def _of_parts(result: Result, tool: Tool) -> ToolResult:
    if result.blocks is not None and result.structured is None:
        return ToolResult(plain(result.blocks), "blocks", result.is_error)
    if result.structured is None:
        return _body(result.text or "", tool, is_error=result.is_error)
    body = _body(result.structured, tool, is_error=result.is_error)
    blocks = None if result.blocks is None else tuple(plain(result.blocks))
    return ToolResult(body.value, "structured", result.is_error, result.text, blocks)


def _body(value: Any, tool: Tool, *, is_error: bool) -> ToolResult:
    if value is None and tool.output_schema is None:
        return ToolResult([], "blocks", is_error)
    value = plain(value)
    if is_error or tool.output_schema is None:
        return ToolResult(value, "text" if isinstance(value, str) else "json", is_error)
    return ToolResult(_wrapped(value, tool.output_schema))


def _wrapped(value: Json, schema: Record) -> Json:
    """Return a value in the object that the outputSchema wraps around it, if it does."""
    is_wrapped = isinstance(value, dict) and _WRAPPER in cast("Record", value)
    wrapped: Record = {_WRAPPER: value}
    return cast("Json", value) if is_wrapped or [*properties(expanded(schema))] != [_WRAPPER] else wrapped


def plain(value: Any, path: str = "") -> Json:
    """Return a copy of a JSON value without rows and tuples. Raises `TypeError` with the path of what is no JSON."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            if value - value != 0:
                raise TypeError(f"{_place(path)} is {value}, which JSON cannot express")
            return value
        case dict():
            fields = cast("dict[Any, Any]", value)
            return {_name(name, path): plain(part, f"{path}.{name}") for name, part in fields.items()}
        case list() | tuple():
            return [plain(part, f"{path}[{at}]") for at, part in enumerate(cast("list[Any]", value))]
        case _:
            raise TypeError(f"{_place(path)} is a {type(value).__name__}, which is no JSON")


def _name(name: Any, path: str) -> str:
    if isinstance(name, str):
        return name
    if isinstance(name, int) and not isinstance(name, bool):
        return str(name)
    raise TypeError(f"a key of {_place(path)} is a {type(name).__name__}, not a text")


def _place(path: str) -> str:
    return path.removeprefix(".") or "the value"
