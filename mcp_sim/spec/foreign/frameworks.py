"""Recognise the framework of a server by the schemas of its tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import as_list, as_object


def reads_arguments_leniently(tools: Sequence[Json]) -> bool:
    """Whether the tools are those of FastMCP or of the Python SDK, which take texts for the values they spell."""
    listed = [as_object(tool) for tool in tools]
    if any(_is_signed(tool) for tool in listed):
        return True
    schemas = [as_object(tool.get("inputSchema")) for tool in listed]
    # Schemas of zod have a `$schema`, those of pydantic have titles unless FastMCP removed them.
    return not any("$schema" in schema or _has_titles(schema) for schema in schemas) and any(
        schema.get("additionalProperties") is False and _has_optional_in_python(schema) for schema in schemas
    )


def _is_signed(tool: Record) -> bool:
    """Whether a tool has what only these frameworks write."""
    return (
        as_object(tool.get("inputSchema")).get("title") == f"{tool.get('name')}Arguments"
        or "x-fastmcp-wrap-result" in as_object(tool.get("outputSchema"))
        or not as_object(tool.get("_meta")).keys().isdisjoint({"fastmcp", "_fastmcp"})
    )


def _properties(schema: Record) -> list[dict[str, Any]]:
    return [as_object(value) for value in as_object(schema.get("properties")).values()]


def _has_titles(schema: Record) -> bool:
    return "title" in schema or any("title" in value for value in _properties(schema))


def _has_optional_in_python(schema: Record) -> bool:
    """Whether a property is written as pydantic writes `int | None = None`."""
    return any(
        "default" in value and value["default"] is None and {"type": "null"} in as_list(value.get("anyOf"))
        for value in _properties(schema)
    )
