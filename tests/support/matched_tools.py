"""Simulators over tools that no `sim:` describes: a list of tools, a state, and the calls of a test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp_sim import Simulator
from mcp_sim.types import Observation, ToolResult
from mcp_sim.world.world import World

Json = Any
TEXT: dict[str, Json] = {"type": "string"}


def tool(name: str, about: str = "", /, output: Json = None, needed: str | None = None, **arguments: Json) -> Json:
    """Return a tool definition; all arguments are required unless `needed` names those that are."""
    required = list(arguments) if needed is None else needed.split()
    schema = {"type": "object", "properties": arguments, "required": required}
    return {"name": name, "description": about, "inputSchema": schema} | ({"outputSchema": output} if output else {})


def simulator(folder: Path, tools: list[Json], state: Json = None, spec: Json = None, **more: Json) -> Simulator:
    """Return a simulator of these tools; `spec` adds to the tool spec, `more` to the scenario."""
    (folder / "some.yaml").write_text(json.dumps({"mcp_sim": 1, "name": "some", "tools": tools, **(spec or {})}))
    world = {**more.pop("world", {}), **({"state": state} if state is not None else {})}
    scenario = {"mcp_sim": 1, "name": "it", "tools": "some.yaml", "world": world, **more}
    (folder / "scenario.yaml").write_text(json.dumps(scenario))
    return Simulator.load(folder / "scenario.yaml")


def backends(sim: Simulator) -> Mapping[str, str]:
    """Return the backend of each tool."""
    plans = sim.scenario.domain.plans.values()
    return {plan.tool: plan.backend for plan in plans}


async def answered(world: World, name: str, /, **arguments: Json) -> Json:
    """Return the value of an answer that must be a success."""
    body = result(await world.call(name, arguments))
    assert not body.is_error, body
    return body.value


async def refused(world: World, name: str, /, **arguments: Json) -> str:
    """Return the text of an answer that must be a failure."""
    body = result(await world.call(name, arguments))
    assert body.is_error, body
    return str(body.value)


def result(observation: Observation) -> ToolResult:
    assert isinstance(observation.body, ToolResult), observation
    return observation.body
