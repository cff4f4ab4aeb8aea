"""Does a tool that declares nothing of its results answer with data, or in words?"""

from __future__ import annotations

import re

from mcp_sim.schemas import expanded, properties
from mcp_sim.types import Tool
from mcp_sim.words import snake, vocabulary

_SAID = re.compile(
    r"\b(?:returns?|result|output|response)\b[^.\n]{0,60}\b(?:json|dict|dictionary|objects?)\b|\breturns?:?\s*\{",
    re.IGNORECASE,
)
_PAGED = vocabulary("cursor page page_size page_token next_token next_cursor continuation_token")
"""Arguments by which callers ask for more: what they need for that they get as data."""


def says_data(tool: Tool) -> bool:
    """Does its description say that its result is data?"""
    return bool(_SAID.search(tool.description))


def is_paged(tool: Tool) -> bool:
    """Is it asked for one page after the other?"""
    return not _PAGED.isdisjoint(map(snake, properties(expanded(tool.input_schema))))
