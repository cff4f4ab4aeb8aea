"""Run agents through `mcp-sim run`, on the shipped scenarios that have a script, over HTTP and stdio.

    python .ci/agents.py FOLDER [AGENT...]      FOLDER receives environments and scripts; may have those of clients.py

The agents are in tests/clients/agents: two on frameworks, and a shell script with curl and jq. Instead of asking a
model they read the scripts of `mcp_sim.runs.agents`, so every run must pass. Every scenario is played over both
transports: over one by the agent in shell, over the other by a framework, and they take turns. Scripts for servers that
answer in prose are left out, but for shells: these agents recognise an answer by its JSON, or by what it shows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

from clients import AT_ONCE, CLIENTS, ROOT, Place, make_programs

from mcp_sim.runs.agents.script import Script, scripts
from mcp_sim.simulator.compile import load
from mcp_sim.spec.sources import shipped
from mcp_sim.types.scenario import Scenario

AGENTS = CLIENTS / "agents"
FRAMEWORKS = ("pydantic_ai", "openai_agents")
SHELL = "shell"
TRANSPORTS = ("http", "stdio")
LONGEST = 300  # seconds for one run


def main(folder: Path, asked: Sequence[str]) -> int:
    programs = make_programs(folder)
    calls = folder / "scripts.json"
    calls.write_text(json.dumps([script.model_dump() for script in scripts()]), encoding="utf-8")
    names = asked or (*FRAMEWORKS, SHELL)
    commands = [run for name in names for run in runs(name, [*agent(name, folder, programs), str(calls)])]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        failed = [name for (name, _), passed in zip(commands, pool.map(passes, commands), strict=True) if not passed]
    print(f"{len(commands) - len(failed)} of {len(commands)} runs of agents passed", *failed, sep="\n  ")
    return 1 if failed else 0


def agent(name: str, folder: Path, programs: Path) -> list[str]:
    """Return the command of an agent. A framework is installed into an environment of its own."""
    if name == SHELL:
        return ["bash", str(AGENTS / "on_shell.sh")]
    needs = tomllib.loads((CLIENTS / "clients.toml").read_text(encoding="utf-8"))
    place = Place(name, needs[name]["needs"], folder / name, programs)
    place.folder.mkdir(exist_ok=True)
    place.install()
    return [*map(str, place.python), str(AGENTS / f"on_{name}.py")]


def runs(name: str, agent: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the runs of an agent with their names."""
    for at, scenario in enumerate(played_scenarios()):
        turn, own = divmod(at, len(FRAMEWORKS))
        if name in {SHELL, FRAMEWORKS[own]}:
            transport = TRANSPORTS[(turn + (name == SHELL)) % 2]
            words = ["run", scenario, "--transport", transport, "--clock", "virtual", "--", *agent]
            yield f"{name} {scenario} {transport}", [sys.executable, "-m", "mcp_sim", *words]


@cache
def played_scenarios() -> list[str]:
    """Return the shipped scenarios that the agents play."""
    return [file for file in sorted(shipped("scenarios")) if is_played(load(file), scripts())]


def is_played(scenario: Scenario, scripts: Sequence[Script]) -> bool:
    """Return whether a script carries out a scenario's task on answers in JSON, or in a shell."""
    script = next((script for script in scripts if script.task.split() == scenario.task.split()), None)
    if script is None or "shell_session" in scenario.domain.entities:
        return script is not None
    return not any(step.check and step.check.shows for step in script.steps)


def passes(run: tuple[str, list[str]]) -> bool:
    """Make a run, and print its report unless it passes."""
    name, command = run
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LONGEST, check=False)
    if done.returncode:
        print(f"{name}: exit code {done.returncode}", done.stdout, done.stderr, sep="\n", flush=True)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
