"""Is a file what another program wrote, which an import makes tool specs of?"""

from __future__ import annotations

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object

_MARKS = {
    "openapi": ("openapi", "an OpenAPI document"),
    "swagger": ("openapi", "an OpenAPI document"),
    "mcpServers": ("client", "the configuration of an MCP client"),
    "functionDeclarations": ("openai", "a list of functions"),
}
"""A key at the top of a file -> the kind of import that takes it, and what it is."""

_PARAMETERS = ("function", "parameters", "input_schema")


def foreign(value: Json) -> str | None:
    """What it is and which command takes it, in words to be put behind the file's name; None for anything else."""
    body = as_object(value)
    if "mcp_sim" in body:
        return None
    found = next((_MARKS[key] for key in body if key in _MARKS), None)
    if found is None and _are_functions(value if isinstance(value, list) else body.get("tools")):
        found = _MARKS["functionDeclarations"]
    return None if found is None else f"is {found[1]}; `mcp-sim import {found[0]} FILE` makes a tool spec of it"


def _are_functions(value: Json) -> bool:
    """Functions as models are told of them, rather than the tools of an MCP server?"""
    parts = as_list(value)
    return bool(parts) and all(_is_function(as_object(part)) for part in parts)


def _is_function(part: Record) -> bool:
    return "inputSchema" not in part and any(isinstance(part.get(key), dict) for key in _PARAMETERS)
