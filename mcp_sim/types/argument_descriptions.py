"""Arguments as a tool declares them: in alternatives of its schema, or described in the lines of a docstring."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import replace

from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.alternatives import with_alternatives
from mcp_sim.types.json_schema.shapes import as_object

_LINE = re.compile(r"^\s*+(?:[-*•]\s*+)?[`\"']?(\w++)[`\"']?\s*+(?:\([^()]*+\)\s*+)?(?::|[-–—](?=\s))\s*+(\S.*)$")
_HEADING = re.compile(r"^\s*\w[\w ]{0,30}:\s*$")


def merge_alternatives(tool: Tool) -> Tool:
    """Return the tool with the arguments of all alternatives at the root of its inputSchema."""
    schema = with_alternatives(tool.input_schema)
    return tool if schema is tool.input_schema else replace(tool, definition={**tool.definition, "inputSchema": schema})


def describe_arguments(tool: Tool) -> Tool:
    """Merge alternatives, and add the descriptions of arguments that the description of the tool gives. Schemas win."""
    tool = merge_alternatives(tool)
    schema = tool.input_schema
    parts = as_object(schema.get("properties"))
    bare = {
        name for name, value in parts.items() if isinstance(value, dict) and not _is_described(name, as_object(value))
    }
    described = parse_argument_lines(tool.description, bare) if bare and "\n" in tool.description else {}
    if not described:
        return tool
    parts = {**parts, **{name: {**as_object(parts[name]), "description": line} for name, line in described.items()}}
    return replace(tool, definition={**tool.definition, "inputSchema": {**schema, "properties": parts}})


def _is_described(name: str, schema: Record) -> bool:
    """Whether the description of an argument says more than its name."""
    words = str(schema.get("description", "")).replace(name, "").strip(" .").lower()
    return words not in {"", "parameter", "argument"}


def parse_argument_lines(description: str, names: Container[str]) -> dict[str, str]:
    """Return the lines of a description about these arguments. Continuation lines are joined."""
    lines: dict[str, str] = {}
    current = ""
    for line in description.splitlines():
        match = _LINE.match(line)
        if match is not None and match[1] in names and match[1] not in lines:
            current = match[1]
            lines[current] = match[2].strip()
        elif not line.strip() or match is not None or _HEADING.match(line):
            current = ""
        elif current:
            lines[current] += f" {line.strip()}"
    return lines
