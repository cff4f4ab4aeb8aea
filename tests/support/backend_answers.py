"""A simulator over a few tools without code of their own, and its answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support import matched_tools

from mcp_sim import Simulator
from mcp_sim.types import Observation, ToolResult

Json = Any
STRING: dict[str, Json] = {"type": "string"}
NUMBER: dict[str, Json] = {"type": "number"}
INTEGER: dict[str, Json] = {"type": "integer"}
NUMBERS: dict[str, Json] = {"type": "array", "items": NUMBER}


def tool(name: str, arguments: Json = None, output: Json = None, about: str = "", optional: Sequence[str] = ()) -> Json:
    """Return a tool definition; arguments are required unless they are in `optional`."""
    given: dict[str, Json] = arguments or {}
    required = [argument for argument in given if argument not in optional]
    schema: Json = {"type": "object", "properties": given, "required": required}
    shown: Json = {"outputSchema": {"type": "object", "properties": output, "required": [*output]}} if output else {}
    return {"name": name, "description": about, "inputSchema": schema, **shown}


def simulator(folder: Path, tools: Sequence[Json], state: Json = None, examples: Json = None) -> Simulator:
    """Return a simulator of these tools; `state` is the initial state of the world."""
    return matched_tools.simulator(folder, [*tools], state, {"examples": examples or []})


def success_value(observation: Observation) -> Json:
    """Return the value of a result that must be a success."""
    assert isinstance(observation.body, ToolResult), observation
    assert not observation.body.is_error, observation.body
    return observation.body.value


def error_text(observation: Observation) -> str:
    """Return the text of a result that must be an error."""
    assert isinstance(observation.body, ToolResult), observation
    assert observation.body.is_error, observation.body
    return observation.body.value
