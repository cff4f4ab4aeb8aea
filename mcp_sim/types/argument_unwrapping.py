"""Does a tool take all that it is asked inside one argument (`params: {...}`), and what is it asked in there?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any, cast

from mcp_sim.types import Call, Json, Record, Tool
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, at, main_type, properties
from mcp_sim.types.lexicon.english import snake, vocabulary

_WRAPPERS = vocabulary("args arguments params parameters input inputs request req payload options query_params")
_ENDINGS = ("_args", "_arguments", "_params", "_parameters", "_input", "_request", "_req", "_payload", "_in")


def find_wrapper(schema: Record) -> str | None:
    """The path of the only argument under a schema (expanded), where its name says that it holds the arguments.

    Where that holds nothing but another such one, the path leads through both: `input.params`.
    """
    return ".".join(_wrappers(schema)) or None


def _wrappers(schema: Record) -> tuple[str, ...]:
    parts = properties(schema)
    name = next(iter(parts), "")
    if len(parts) != 1 or "." in name or main_type(parts[name]) != "object" or not properties(parts[name]):
        return ()
    is_one = snake(name) in _WRAPPERS or snake(name).endswith(_ENDINGS)
    return (name, *_wrappers(parts[name])) if is_one else ()


def unwrap_tool(tool: Tool, within: str | None) -> Tool:
    """The tool as it would be if it took the parts of that argument one by one."""
    if within is None:
        return tool
    inner = at(expanded(tool.input_schema), within)
    return replace(tool, definition={**tool.definition, "inputSchema": inner})


def resolve_wrapper(tool: Tool, said: Mapping[str, Any]) -> str | None:
    """The argument that holds the others, as far as what a spec says of the tool does not name it.

    What the spec says of `within` itself is so.
    """
    if "within" in said:
        return said["within"]
    if said.get("backend") == "python":
        return None
    names = _wrappers(expanded(tool.input_schema))
    return ".".join(takewhile(lambda name: not _names(said, name), names)) or None


def _names(said: Json, wrapper: str) -> bool:
    """Does a spec's word for a tool lead through the wrapper: `sets: {params.title: title}`?"""
    if isinstance(said, str):
        return said == wrapper or said.startswith(f"{wrapper}.")
    if isinstance(said, Mapping):
        parts = cast("Mapping[str, Json]", said)
        return any(_names(part, wrapper) for pair in parts.items() for part in pair)
    return isinstance(said, list | tuple) and any(_names(part, wrapper) for part in cast("list[Json]", said))


def unwrap_call(call: Call, within: str) -> Call:
    """The call as if the parts of that argument had been given one by one."""
    inner: Json = call.arguments
    for name in within.split("."):
        inner = as_object(inner).get(name)
    return replace(call, arguments=inner if isinstance(inner, dict) else {})
