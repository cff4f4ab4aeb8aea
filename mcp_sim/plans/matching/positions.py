"""Positions that tools take as arguments: the number of the first one."""

from __future__ import annotations

import re

from mcp_sim.types import Tool
from mcp_sim.types.json_schema.expansion import expanded
from mcp_sim.types.json_schema.shapes import properties

_FIRST = re.compile(r"\b(0|1|zero|one)-(?:based|indexed)|(?:from|with|at|从) ?([01])\b", re.IGNORECASE)
"""Phrases of descriptions for the number of the first position."""


def first_position(tool: Tool | None, name: str) -> int:
    """Return the first value of an argument for a position, as its schema or a description says; 0 by default."""
    schema = properties(expanded(tool.input_schema)).get(name, {}) if tool is not None else {}
    if schema.get("minimum") == 1:
        return 1
    match = _FIRST.search(f"{schema.get('description', '')} {tool.description if tool is not None else ''}")
    if match is not None:
        return int((match[1] or match[2]).lower() in {"1", "one"})
    return 0
