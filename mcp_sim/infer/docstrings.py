"""What does a tool's description say of its arguments, where it lists them line by line, as docstrings do?"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import replace

from mcp_sim.infer.shown_arguments import shown_schema
from mcp_sim.types import Record, Tool
from mcp_sim.types.json_schema.shapes import as_object

_LINE = re.compile(r"^\s*(?:[-*•]\s*)?[`\"']?(\w+)[`\"']?\s*(?:\([^()]*\))?\s*(?::|[-–—](?=\s))\s*(\S.*)$")
_BARE = frozenset({"type", "properties", "required", "additionalProperties", "$schema"})
"""What the schema of a tool has at most that says nothing of its arguments."""
_HEADING = re.compile(r"^\s*\w[\w ]{0,30}:\s*$")


def described(tool: Tool) -> Tool:
    """The tool, its arguments described as its own description describes them; what a schema says comes first."""
    schema = as_object(tool.definition.get("inputSchema"))
    parts = as_object(schema.get("properties"))
    if not parts and schema.keys() <= _BARE and schema.get("additionalProperties") is not False:
        shown = shown_schema(tool.description)
        return replace(tool, definition={**tool.definition, "inputSchema": shown}) if shown else tool
    bare = {name for name, part in parts.items() if isinstance(part, dict) and not _says(name, as_object(part))}
    told = said_of(tool.description, bare) if bare and "\n" in tool.description else {}
    if not told:
        return tool
    parts = {name: {**part, "description": told[name]} if name in told else part for name, part in parts.items()}
    return replace(tool, definition={**tool.definition, "inputSchema": {**schema, "properties": parts}})


def _says(name: str, part: Record) -> bool:
    """Is an argument described by more than its own name?"""
    words = str(part.get("description", "")).replace(name, "").strip(" .").lower()
    return words not in {"", "parameter", "argument"}


def said_of(description: str, names: Container[str]) -> dict[str, str]:
    """What the lines of a description say of these arguments; a line that goes on is read to its end."""
    told: dict[str, str] = {}
    current = ""
    for line in description.splitlines():
        found = _LINE.match(line)
        if found is not None and found[1] in names and found[1] not in told:
            current = found[1]
            told[current] = found[2].strip()
        elif not line.strip() or found is not None or _HEADING.match(line):
            current = ""
        elif current:
            told[current] += f" {line.strip()}"
    return told
