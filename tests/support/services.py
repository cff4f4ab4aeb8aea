"""Small services for tests, loaded from a tool spec and a world as YAML, and their answers."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from mcp_sim import Simulator
from mcp_sim.types import Observation, ToolResult

Json = Any


def service(folder: Path, spec: str, world: str, *, ending: str = "", trust: bool = False) -> Simulator:
    """Return a simulator of a tool spec (without its head) and a world (the content of `world:`)."""
    (folder / "service.yaml").write_text(f"mcp_sim: 1\nname: service\n{dedent(spec)}", encoding="utf-8")
    path = folder / "scenario.yaml"
    text = f"mcp_sim: 1\nname: scenario\ntools: service.yaml\nworld:\n{indent(dedent(world), '  ')}\n{dedent(ending)}"
    path.write_text(text, encoding="utf-8")
    return Simulator.load(path, trust=trust)


def with_state(folder: Path, tools: str, state: Json) -> Simulator:
    """Return a simulator of a shipped tool spec whose world begins with a state."""
    path = folder / "scenario.yaml"
    document = {"mcp_sim": 1, "name": "scenario", "tools": tools, "world": {"state": state}}
    path.write_text(json.dumps(document), encoding="utf-8")
    return Simulator.load(path)


def text(observation: Observation) -> str:
    """Return the text of a result, a failure or not, as an agent reads it."""
    assert isinstance(observation.body, ToolResult), observation
    return "\n".join(block["text"] for block in observation.body.content)


def value(observation: Observation) -> Json:
    """Return the value of a result that must be a success."""
    assert isinstance(observation.body, ToolResult), observation
    assert not observation.body.is_error, observation.body
    return observation.body.value


def message(observation: Observation) -> str:
    """Return the text of a result that must be an error."""
    assert isinstance(observation.body, ToolResult), observation
    assert observation.body.is_error, observation.body
    return observation.body.value
