"""The two sides of a comparison: a simulation, or a real server that is started afresh for each run."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from mcp_sim.runs.agent import fresh_folder
from mcp_sim.runs.validity.task import Task
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.spec.importers.mcp import Mcp
from mcp_sim.spec.sources import SUFFIXES, shipped
from mcp_sim.types.domain import Domain
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.kinds import Unreached
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.world import World

SEED = 1  # chance is in the agents and the faults: the worlds of all runs are alike


@frozen
class Opened:
    """A world for one run, and the folder that calls may name."""

    world: World
    folder: str


class Side(Protocol):
    """Opens a world for each run."""

    name: str
    domain: Domain

    def world(self) -> AbstractAsyncContextManager[Opened]:
        """Open a world as it is before the task."""
        ...


def is_document(reference: str) -> bool:
    """Whether a side is named by a document, rather than by the command of a server."""
    is_shipped = reference in {**shipped("tool_specs"), **shipped("scenarios")}
    return is_shipped or Path(reference).suffix in SUFFIXES


@asynccontextmanager
async def open_side(reference: str, task: Task, trust: Iterable[Path], *, empty: bool) -> AsyncGenerator[Side]:
    """Open the side that a document or a command names. Raises `UsageError` or `DocumentError`.

    `empty`: a simulation begins without records, as a real server in a fresh folder does, unless the task has a state.
    """
    if is_document(reference):
        async with open_simulation(reference, task, trust, empty=empty) as side:
            yield side
    else:
        yield await _Started.listed(reference, task)


@asynccontextmanager
async def open_simulation(reference: str, task: Task, trust: Iterable[Path], *, empty: bool) -> AsyncGenerator[Side]:
    """Open the side of a document, as `open_side` does."""
    state = {} if task.state is None and empty else task.state
    scenario = _plain(load(reference, trust=[*trust], state=state))
    async with Simulator(scenario, ledger_keep=1) as simulator:
        yield _Simulated(reference, simulator, task)


def _plain(scenario: Scenario) -> Scenario:
    """Return a scenario without its own faults and expectations."""
    return replace(scenario, perturbations=(), expectations=())


class _Simulated:
    """A simulation."""

    def __init__(self, name: str, simulator: Simulator, task: Task) -> None:
        self.name, self.domain, self._simulator, self._task = name, simulator.scenario.domain, simulator, task

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[Opened]:
        async with self._simulator.open(seed=SEED, clock="virtual") as world:
            yield Opened(world, self._task.folder)


class _Started:
    """A real server, started by its command in a fresh folder for each run."""

    def __init__(self, name: str, words: Sequence[str], task: Task, tools: Sequence[Any]) -> None:
        self.name, self._words, self._env, self._tools = name, words, task.server.env, tools
        with fresh_folder() as folder:
            self.domain = self._scenario(folder).domain

    @classmethod
    async def listed(cls, command: str, task: Task) -> _Started:
        """Ask a server for its tools. Raises `UsageError` for a URL, or if the server does not answer."""
        words = shlex.split(command)
        if not words:
            raise UsageError("--against: expected a document or the command of a server, got an empty text")
        if "://" in words[0]:
            raise UsageError(f"--against {words[0]}: each run needs a fresh server: give a command that starts one")
        with fresh_folder() as folder:
            env = _filled(task.server.env, folder)
            server = Mcp(sources=tuple(_in_folder(words, folder)), env=env, folder=folder, tools_only=True)
            [imported] = await server.imported()
        if isinstance(imported, Unreached):
            raise UsageError(f"--against: {imported.name} does not start: {imported.reason}")
        return cls(Path(words[0]).name, words, task, imported.tools)

    @asynccontextmanager
    async def world(self) -> AsyncGenerator[Opened]:
        with fresh_folder() as folder:
            async with Simulator(self._scenario(folder), ledger_keep=1).open(seed=SEED, clock="virtual") as world:
                yield Opened(world, str(folder))

    def _scenario(self, folder: Path) -> Scenario:
        """Return the scenario of one run: the tools, answered by a server that is started in the folder."""
        documents = folder / ".mcp-sim"
        documents.mkdir(exist_ok=True)
        (documents / "tools.json").write_text(json.dumps({"tools": self._tools}), encoding="utf-8")
        upstream = {"command": _in_folder(self._words, folder), "env": _filled(self._env, folder), "cwd": str(folder)}
        scenario = {"mcp_sim": 1, "tools": "tools.json", "world_model": {"upstream": upstream}}
        path = documents / "scenario.json"
        path.write_text(json.dumps(scenario), encoding="utf-8")
        loaded = _plain(load(path, trust=True))
        shutil.rmtree(documents)  # a server may list its folder
        return loaded


def _in_folder(words: Sequence[str], folder: Path) -> list[str]:
    return [word.replace("{folder}", str(folder)) for word in words]


def _filled(env: Mapping[str, str], folder: Path) -> dict[str, str]:
    return {name: value.replace("{folder}", str(folder)) for name, value in env.items()}
