"""Which arguments does a description show in examples of calls, where the schema of the tool names none?

Unions of objects often arrive as an object without properties; what the tool takes is then told by its examples alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_sim.types import Json, Record
from mcp_sim.types.json_schema.shapes import type_name
from mcp_sim.types.json_text import parsed

_CALL = re.compile(r"^\s*(?:[-*•]|\d+\.)\s*([^{]*)(\{[^{}]*\})")
_NO_CALL = re.compile(r"\b(?:incorrect|wrong|invalid|bad|not|never|returns?|response|result|output)\b", re.IGNORECASE)
_CHOICE = re.compile(r"^\s*[-*•]\s*[`\"']?([a-z]\w*)[`\"']?\s*:\s+[^\s{]")
_FEWEST = 2
"""So many examples make a rule."""


def shown_schema(description: str) -> Record:
    """The schema of the arguments that the examples have, all of them or some; empty where there are too few."""
    calls = list(_calls(description))
    if len(calls) < _FEWEST:
        return {}
    first = {name: value for call in reversed(calls) for name, value in call.items()}
    needed = [name for name in first if all(name in call for call in calls)]
    listed = [found[1] for line in description.splitlines() if (found := _CHOICE.match(line))]
    parts = {name: _part([call[name] for call in calls if name in call], listed) for name in first}
    return {"type": "object", "properties": parts, "required": needed} if needed else {}


def _calls(description: str) -> Iterator[Record]:
    for line in description.splitlines():
        found = _CALL.match(line)
        if found is None or _NO_CALL.search(found[1]):
            continue
        try:
            value = parsed(found[2])
        except ValueError:
            continue
        if isinstance(value, dict) and value:
            yield value


def _part(values: list[Json], listed: list[str]) -> Record:
    """What a value may be, by those shown; one of those that the description lists where all shown are among them."""
    part: Record = {"type": type_name(values[0])} if len({type_name(value) for value in values}) == 1 else {}
    return {**part, "enum": listed} if len(listed) > 1 and all(value in listed for value in values) else part
