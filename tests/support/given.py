"""Small services with a tool list and an initial state, and their answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import Observation, ToolResult

Json = Any
STRING: dict[str, Json] = {"type": "string"}
INTEGER: dict[str, Json] = {"type": "integer"}
NUMBER: dict[str, Json] = {"type": "number"}


def tool(name: str, *required: str, about: str = "", **arguments: Json) -> dict[str, Json]:
    parts = {**dict.fromkeys(required, STRING), **arguments}
    schema: dict[str, Json] = {"type": "object", "properties": parts, "required": [*required]}
    return {"name": name, "description": about, "inputSchema": schema}


def service(folder: Path, state: Json, *tools: dict[str, Json]) -> Simulator:
    (folder / "shop.json").write_text(json.dumps({"tools": tools}))
    (folder / "scenario.yaml").write_text(json.dumps({"mcp_sim": 1, "tools": "shop.json", "world": {"state": state}}))
    return Simulator(load(folder / "scenario.yaml"))


def value(observation: Observation) -> Json:
    body = observation.body
    assert isinstance(body, ToolResult)
    assert not body.is_error, body.value
    return body.value


def refused(observation: Observation) -> bool:
    return isinstance(observation.body, ToolResult) and observation.body.is_error
