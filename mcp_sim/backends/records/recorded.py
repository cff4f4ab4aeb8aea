"""Which recorded texts are there of a tool, and which of them tell of a failure?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from mcp_sim.infer.result_forms.prose import SAYING
from mcp_sim.types import Json, Record, Tool
from mcp_sim.types.domain import Example
from mcp_sim.types.json_schema.shapes import as_object
from mcp_sim.types.lexicon.words import snake

_FAILS = re.compile(
    r"^\W*(error|failed|failure|invalid|cannot|could not|unable)\b|not found|does not exist|doesn't exist|no such|"
    r"already exists",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sample:
    """A recorded text, and what the call was given."""

    arguments: Record
    text: str


def text_of(result: Json) -> str | None:
    """The text that a recorded result is, or that it only wraps; None for data."""
    if isinstance(result, str):
        return result
    body = as_object(result)
    inner: Json = next(iter(body.values())) if len(body) == 1 else None
    return inner if isinstance(inner, str) and snake(next(iter(body))) in SAYING else None


def samples(examples: Iterable[Example], tool: Tool) -> Iterator[Sample]:
    """The recorded texts of a tool."""
    for example in examples:
        result: Json = example.result
        if example.is_blocks and len(result) == 1:
            result = as_object(result[0]).get("text")
        text = text_of(result)
        if example.tool in {tool.id, tool.name} and text is not None:
            yield Sample(example.arguments, text)


def fails(text: str) -> bool:
    """Does a text tell of a failure?"""
    return _FAILS.search(text) is not None
