"""Arguments that are wrapped in a single argument: `params: {...}`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import takewhile
from typing import Any, cast

from mcp_sim.types import Call, Json, Record, Tool
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import as_object, at, main_type, properties
from mcp_sim.types.lexicon.english import last_word
from mcp_sim.types.lexicon.terms import terms

_WRAPPERS = terms("arguments.wrapper")
"""Last words of the names of such arguments."""


def find_wrapper(schema: Record) -> str | None:
    """Return the path of the only argument under an expanded schema, if its name says that it holds the arguments.

    If that argument holds nothing but another such one, the path leads through both: `input.params`.
    """
    return ".".join(_wrappers(schema)) or None


def _wrappers(schema: Record) -> tuple[str, ...]:
    parts = properties(schema)
    name = next(iter(parts), "")
    if len(parts) != 1 or "." in name or main_type(parts[name]) != "object" or not properties(parts[name]):
        return ()
    return (name, *_wrappers(parts[name])) if last_word(name) in _WRAPPERS else ()


def unwrap_tool(tool: Tool, wrapper: str) -> Tool:
    """Return the tool as if it took the properties of the argument at path `wrapper` one by one."""
    inner = at(expanded(tool.input_schema), wrapper)
    return replace(tool, definition={**tool.definition, "inputSchema": inner})


def resolve_wrapper(tool: Tool, overrides: Mapping[str, Any]) -> str | None:
    """Return the path of the argument that holds the others, or None.

    A wrapper that the overrides of a spec name (`params.title`) stays.
    """
    names = _wrappers(expanded(tool.input_schema))
    return ".".join(takewhile(lambda name: not _names(overrides, name), names)) or None


def _names(override: Json, wrapper: str) -> bool:
    """Whether an override for a tool names a path below the wrapper: `sets: {params.title: title}`."""
    if isinstance(override, str):
        return override == wrapper or override.startswith(f"{wrapper}.")
    if isinstance(override, Mapping):
        parts = cast("Mapping[str, Json]", override)
        return any(_names(word, wrapper) for pair in parts.items() for word in pair)
    return isinstance(override, list | tuple) and any(_names(item, wrapper) for item in cast("list[Json]", override))


def unwrap_call(call: Call, wrapper: str) -> Call:
    """Return the call as if the properties of the argument at path `wrapper` had been given one by one."""
    inner: Json = call.arguments
    for name in wrapper.split("."):
        inner = as_object(inner).get(name)
    return replace(call, arguments=inner if isinstance(inner, dict) else {})
