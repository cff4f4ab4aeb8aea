"""A small real model plays the domains other than MCP: no call crashes, and nothing of a prompt is served.

`test_small_model.py` does the same for MCP.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from models.with_engine.test_small_model import ARTEFACT, LONG
from support.engine import OFF, with_model
from support.services import value

from mcp_sim import Simulator
from mcp_sim.types.errors import Crash

Json = Any
CALLS = int(os.environ.get("MCP_SIM_ENGINE_CALLS", "20"))
"""Calls of each domain: 20 in CI, 300 by hand."""
LIMIT = 900 if CALLS <= 20 else 7_200
"""Seconds for all of them."""
SHORT: Json = {**OFF, "max_tokens": 24, "max_attempts": 2, "transcript": 1_000}
"""Many answers are cut off and asked for again, and the transcript is shortened several times in 20 calls."""
HEADING = re.compile(
    r"^# (?:Task|Current State|Action|Tools|Environment|Instructions|Simulation Instruction)$", re.MULTILINE
)


@dataclass
class Tool:
    """The tool of a domain: its name, the values of its only argument, and options of the world model."""

    name: str
    argument: str
    values: list[Json]
    options: dict[str, str] = field(default_factory=dict[str, str])


DOMAINS = {
    "search": Tool("web_search", "query", ["bridge opened 1931", "tide times", "oldest lighthouse of the coast"]),
    "swe": Tool("read_file", "path", ["src/app.py", "README.md", "tests/test_app.py"]),
    "terminal": Tool("run_command", "command", ["ls -l", "cat notes.txt", "date"], {"screen": "ada@harbour:~$ "}),
    "android": Tool(
        "tap", "element", [1, 2, 3], {"screen": "[1] Clock\n[2] Mail\n[3] Maps", "task": "Set an alarm for 7."}
    ),
    "web": Tool(
        "click", "bid", ["a1", "a2", "a3"], {"screen": "[a1] link 'Home'\n[a2] button 'Buy'", "task": "Buy a lamp."}
    ),
    "os": Tool(
        "run",
        "code",
        ["pyautogui.click(9, 9)", "pyautogui.write('hi')"],
        {"screen": "tag name text\nbutton Save", "task": "Save the file."},
    ),
}


@dataclass
class Played:
    """What became of the calls of a domain."""

    served: list[str] = field(default_factory=list[str])
    crashes: list[str] = field(default_factory=list[str])
    attempts: int = 0


async def play(url: str, name: str, folder: Path, played: Played) -> None:
    """Make the calls of a domain in one world, and note what was served. The requests are kept in the folder."""
    tool = DOMAINS[name]
    kind = "integer" if isinstance(tool.values[0], int) else "string"
    schema = {"type": "object", "properties": {tool.argument: {"type": kind}}, "required": [tool.argument]}
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"tools": [{"name": tool.name, "description": "Do it.", "inputSchema": schema}]}))
    scenario_path = path.with_suffix(".yaml")
    scenario_path.write_text(json.dumps({"mcp_sim": 1, "tools": path.name, "world": {"open": True}}))
    options = {**SHORT, **tool.options, "domain": name, "cache": str(folder / name)}
    async with Simulator(with_model(str(scenario_path), url, **options)).open(seed=1) as world:
        for number in range(CALLS):
            try:
                answer = await world.call(tool.name, {tool.argument: tool.values[number % len(tool.values)]})
            except Crash as crash:
                played.crashes.append(f"{name}: {crash}")
                continue
            played.served.append(value(answer))
            played.attempts += world.ledger.newest["measured"]["attempts"]


def artefacts(folder: Path, played: Played) -> list[str]:
    """Return the served texts that have a mark or heading of prompts, or a long line of the system prompt."""
    asked = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*/*.json")]
    systems = {exchange["question"]["messages"][0]["content"] for exchange in asked}
    lines = {line.strip() for text in systems for line in text.splitlines() if len(line.strip()) >= LONG}
    assert lines
    return [
        text
        for text in played.served
        if ARTEFACT.search(text) or HEADING.search(text) or any(line in text for line in lines)
    ]


@pytest.mark.time_limit(LIMIT)
async def test_a_small_model_plays_each_domain_without_crashes_or_traces_of_the_prompt(
    small_engine: str, tmp_path: Path
) -> None:
    played_domains = {name: Played() for name in DOMAINS}
    async with anyio.create_task_group() as tasks:
        for name, played in played_domains.items():
            tasks.start_soon(play, small_engine, name, tmp_path, played)
    for name, played in played_domains.items():
        letters = sum(map(len, played.served))
        sys.stderr.write(f"\n{name}: {len(played.served)} calls, {played.attempts} attempts, {letters} characters")
    assert not [crash for played in played_domains.values() for crash in played.crashes]
    assert {name: artefacts(tmp_path / name, played) for name, played in played_domains.items()} == {
        name: [] for name in played_domains
    }
    for played in played_domains.values():
        assert len(played.served) == CALLS
        assert sum(bool(text.strip()) for text in played.served) > CALLS // 2
