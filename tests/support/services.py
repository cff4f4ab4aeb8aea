"""Small services for tests: a tool spec and a world as YAML, loaded as a user's files are; and what they answer."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from mcp_sim import Simulator
from mcp_sim.types import Observation, ToolResult

Json = Any


def service(folder: Path, spec: str, world: str, *, ending: str = "") -> Simulator:
    """A simulator of a tool spec (without its head) over a world (what stands under `world:`)."""
    (folder / "service.yaml").write_text(f"mcp_sim: 1\nname: service\n{dedent(spec)}", encoding="utf-8")
    path = folder / "scenario.yaml"
    text = f"mcp_sim: 1\nname: scenario\ntools: service.yaml\nworld:\n{indent(dedent(world), '  ')}\n{dedent(ending)}"
    path.write_text(text, encoding="utf-8")
    return Simulator.load(path)


def value(observation: Observation) -> Json:
    """The value of a result that must be a success."""
    assert isinstance(observation.body, ToolResult), observation
    assert not observation.body.is_error, observation.body
    return observation.body.value


def message(observation: Observation) -> str:
    """The text of a result that must be an error."""
    assert isinstance(observation.body, ToolResult), observation
    assert observation.body.is_error, observation.body
    return observation.body.value
