"""Find instructions to the agent in what a server sends: descriptions of tools, and results."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from mcp_sim.spec import yaml12
from mcp_sim.types import Json
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.json_values import texts_in

TextPath: TypeAlias = tuple[str | int, ...]

_EXCERPT = 60
"""The most characters of an instruction that are shown."""

_OTHER_TOOL = re.compile(
    r"\b(?:[Cc]all|[Uu]se|[Rr]un|[Ii]nvoke|[Ee]xecute)\s+(?:the\s+)?[`'\"]?([a-z][^\W_]*_\w+|[a-z]+[A-Z]\w+)[`'\"]?\s+(?:tool\s+)?(?:first|before)\b"
)
"""Names a tool that is to be called first. That is usual for tools of the same server only."""


@frozen
class _Pattern:
    what: str
    place: Literal["any", "description"]
    pattern: re.Pattern[str]


def instructions_in(text: str, *, is_description: bool = False) -> Iterator[str]:
    """Yield how a text may instruct the agent, with an excerpt."""
    for known in _patterns():
        if known.place == "any" or is_description:
            match = known.pattern.search(text)
            if match is not None:
                yield _sentence(known.what, match[0])


def instructions_in_tools(tools: Sequence[Json]) -> Iterator[tuple[TextPath, str]]:
    """Yield the instructions in a list of tools, with their paths in it."""
    names = {name for tool in tools if isinstance(name := as_object(tool).get("name"), str)}
    for number, tool in enumerate(tools):
        for path, text in texts_in(tool):
            for sentence in (*instructions_in(text, is_description=True), *_other_tools(text, names)):
                yield (number, *path), sentence


def _other_tools(text: str, names: Collection[str]) -> Iterator[str]:
    for match in _OTHER_TOOL.finditer(text):
        if match[1] not in names:
            yield _sentence("orders a call of another server's tool", match[0])


def _sentence(what: str, excerpt: str) -> str:
    shown = excerpt if len(excerpt) <= _EXCERPT else f"{excerpt[: _EXCERPT - 3]}..."
    return f"may instruct the agent: it {what}: {shown!a}"


@cache
def _patterns() -> Sequence[_Pattern]:
    file = Path(__file__).with_name("agent_instructions.yaml")
    entries = yaml12.load(file.read_bytes(), file.name).value
    return [_Pattern(entry["what"], entry["in"], re.compile(entry["pattern"], re.IGNORECASE)) for entry in entries]
