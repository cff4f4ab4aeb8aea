"""Simulated terminals, and commands in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from mcp_sim import Simulator
from mcp_sim.types import Json, ToolResult
from mcp_sim.world.world import World

FILES = {
    "/app/a.txt": "one\ntwo\n",
    "/app/run.sh": {"text": "echo ran $1\nexit 3\n", "mode": "755"},
    "/app/link": {"target": "a.txt"},
    "/app/data.bin": {"base64": "AP8Q"},
}


def simulator(folder: Path, files: Json = None, **scenario: Json) -> Simulator:
    """Return a simulator of a terminal with these files."""
    state = {"files": FILES if files is None else files, **scenario.pop("state", {})}
    world = {"now": "2029-03-01T09:00:00Z", "state": state}
    path = folder / "scenario.yaml"
    path.write_text(json.dumps({"mcp_sim": 1, "name": "shell", "tools": "terminal", "world": world, **scenario}))
    return Simulator.load(path)


async def run(world: World, command: str, **more: str) -> Mapping[str, Any]:
    """Run a command and return its stdout, stderr and exit code."""
    body = (await world.call("run_command", {"command": command, **more})).body
    assert isinstance(body, ToolResult)
    assert body.form == "structured", body.value
    return cast("Mapping[str, Any]", body.value)


async def out(world: World, command: str, **more: str) -> str:
    result = await run(world, command, **more)
    return result["stdout"] + result["stderr"]
