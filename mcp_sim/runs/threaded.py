"""Worlds in a thread of their own: tests call them and clients connect to them, with or without an event loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio.to_thread
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal

from mcp_sim.faults.compile import with_intensity
from mcp_sim.runs.agent import LONGEST_MESSAGE, AgentCommand, StdioCommand, fresh_folder, model_keys, stdio_command
from mcp_sim.server.call_log import entry_lines
from mcp_sim.simulator.compile import load
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types import Observation, Record
from mcp_sim.types.clock import Mode
from mcp_sim.types.errors import UsageError
from mcp_sim.types.grades import Exercised, Grade, count_guessed, failed_first, guessed_share
from mcp_sim.types.readable import readable
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.state import State
from mcp_sim.world.world import World

if TYPE_CHECKING:
    from mcp_sim.runs.host import Host
    from mcp_sim.server.impersonation import Impersonation

STEPS_SHOWN = 15  # the end of a failing test fits on a screen
SESSION_SECONDS = 3600.0  # someone may halt the test in a debugger

ACTOR = "test"  # who changes faults, in the ledger


class WorldThread:
    """A thread with simulators and HTTP servers. Both are started at first use."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self.portal: BlockingPortal = self._stack.enter_context(start_blocking_portal())
        self._simulators: dict[tuple[str, float | None], Simulator] = {}
        self._hosts: dict[int, Host] = {}

    def close(self) -> None:
        self._stack.close()

    def open(
        self,
        reference: str | Path,
        seed: int | None = None,
        intensity: float | None = None,
        clock: Mode = "virtual",
        *,
        trust: Iterable[Path] = (),
    ) -> ThreadedWorld:
        """Open a new world of a scenario. `trust`: trusted files and folders."""
        key = str(reference), intensity
        if key not in self._simulators:
            self._simulators[key] = self.start(with_intensity(load(reference, trust=trust), intensity))
        simulator = self._simulators[key]
        world = self.portal.call(partial(simulator.world, seed=seed, clock=clock))
        return ThreadedWorld(self, world)

    def start(self, scenario: Scenario) -> Simulator:
        """Start a simulator."""
        return self._stack.enter_context(self.portal.wrap_async_context_manager(Simulator(scenario)))

    def host(self, scenario: Scenario) -> Host:
        """Return the HTTP server of a scenario's tools."""
        from mcp_sim.runs.host import open_host  # noqa: PLC0415 (many tests need no server)

        key = id(scenario.domain)  # simulators keep it alive
        if key not in self._hosts:
            opened = self.portal.wrap_async_context_manager(open_host(scenario, SESSION_SECONDS))
            self._hosts[key] = self._stack.enter_context(opened)
        return self._hosts[key]


class ThreadedWorld:
    """A world for one test. Its methods may be used with and without an event loop."""

    def __init__(self, thread: WorldThread, world: World) -> None:
        self._thread, self.world = thread, world
        self._name = ""
        self._urls: Mapping[str, str] = {}
        self._guess = ""
        """The end of the newest grade that rests on a guess."""

    # how an agent connects

    @property
    def task(self) -> str:
        """The task of the scenario."""
        return self.world.scenario.task

    @property
    def urls(self) -> Mapping[str, str]:
        """The URLs of the servers, by name."""
        if not self._urls:
            host = self._thread.host(self.world.scenario)
            self._name, self._urls = self._thread.portal.call(host.add, self.world)
        return self._urls

    @property
    def url(self) -> str:
        """The URL of the only server. Raises `UsageError` if there are several."""
        if len(self.urls) > 1:
            raise UsageError(f"this scenario has several servers; use urls[NAME]: {', '.join(self.urls)}")
        return next(iter(self.urls.values()))

    @property
    def stdio(self) -> StdioCommand:
        """The command of the only server over stdio. Raises `UsageError` if there are several."""
        return self.stdio_of(self.url)

    def stdio_of(self, url: str) -> StdioCommand:
        """Return the command that connects to a URL over stdio."""
        return stdio_command(url)

    def server(self, name: str | None = None) -> Impersonation:
        """Return a server in memory, for `mcp.Client(server)`. `name` selects one of several."""
        from mcp_sim.server.testing import impersonated  # noqa: PLC0415 (loads the SDK)

        return impersonated(cast("World", _Facade(self._thread.portal, self.world)), name)

    # what a test does with it

    def call(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Observation:
        """Call a tool and wait for the answer. Delays take no time."""
        return self._thread.portal.call(self.world.call, tool, arguments)

    async def acall(self, tool: str, arguments: Mapping[str, Any] | None = None) -> Observation:
        """Call a tool, in an event loop."""
        return await anyio.to_thread.run_sync(self.call, tool, arguments)

    def run(self, command: Sequence[str], *, timeout: float = 600.0) -> str:
        """Run an agent as `mcp-sim run` does, with the placeholders of its command, and return its final answer.

        `timeout` is in seconds. Fails the test if the agent does not end well.
        """
        __tracebackhide__ = True
        agent = AgentCommand(tuple(command), timeout, hidden=model_keys(self.world.scenario))
        agent.check(self.world.scenario)
        with fresh_folder() as folder:
            ended = self._thread.portal.call(agent.run, self.task, self.urls, folder)
        if ended.problem is not None:
            pytest.fail(readable(f"{ended.problem}\n{ended.errors[-LONGEST_MESSAGE:]}".rstrip()), pytrace=False)
        return ended.answer

    @property
    def state(self) -> State:
        """The state now, read-only: `count`, `get`, `find`, `rows`."""
        return self.world.view

    @property
    def ledger(self) -> list[Record]:
        """The steps so far: what was true, what was served, what was written, which faults were applied."""
        return self.world.ledger.steps

    def inject(
        self, kind: str, *, tools: str | list[str] | None = None, when: Record | None = None, **options: Any
    ) -> str:
        """Add a fault from now on, as in a document: `inject("error", status=503, tools="create_*", when={"nth": 1})`.

        `id` and the other keys of an entry are taken from the options. Its counters begin now. Return its id. Raises
        `DocumentError`.
        """
        keys = {name: options.pop(name) for name in ("id", "fires", "group", "visible") if name in options}
        keys |= {} if tools is None else {"tools": tools}
        keys |= {} if when is None else {"when": when}
        return self._thread.portal.call(self.world.inject, {kind: options, **keys}, ACTOR)

    def enable(self, fault: str) -> None:
        """Enable a fault by its id. Raises `UsageError` if it does not exist."""
        self._thread.portal.call(self.world.enable, fault, ACTOR)

    def disable(self, fault: str) -> None:
        """Disable a fault by its id. Meanwhile its counters do not move. Raises `UsageError` if it does not exist."""
        self._thread.portal.call(self.world.disable, fault, ACTOR)

    def fork(self) -> ThreadedWorld:
        """Return a second world with the same state and history."""
        return ThreadedWorld(self._thread, self._thread.portal.call(self.world.fork))

    def grade(self, answer: str | None = None, *, strict: bool = False, exercised: Exercised = "require") -> Grade:
        """Return the verdicts on the world as it is now. `answer` is the agent's final answer."""
        self._thread.portal.call(self.world.probe)
        grade = self._thread.portal.call(partial(self.world.grade, answer, strict=strict, exercised=exercised))
        self._guess = f"{grade.outcome}: {grade.because}." if grade.guessed else ""
        return grade

    def check(self, answer: str | None = None, *, strict: bool = False) -> None:
        """Fail the test unless the expectations of the scenario pass. Skip it if no fault was applied."""
        __tracebackhide__ = True
        grade = self.grade(answer, strict=strict)
        if grade.outcome == "not exercised":
            pytest.skip(f"not exercised: {grade.because}")
        if grade.outcome != "passed":
            verdicts = [
                f"  {verdict.outcome} {verdict.id}: {verdict.because}" for verdict in failed_first(grade.verdicts)
            ]
            pytest.fail(readable("\n".join([f"{grade.outcome}: {grade.because}", *verdicts])), pytrace=False)

    # what the plugin does with it

    def story(self) -> Iterator[str]:
        """Yield the last entries of the ledger as lines."""
        entries = list(self.world.ledger)[1:]
        if len(entries) > STEPS_SHOWN:
            yield f"({len(entries) - STEPS_SHOWN} earlier steps)"
        for entry in entries[-STEPS_SHOWN:]:
            yield from (f"  {line}" for line in entry_lines(entry))

    def guesses(self) -> Iterator[str]:
        """Yield the newest grade, if it rests on a guess, and how many answers are guessed, as sentences."""
        if self._guess:
            yield self._guess
        guessed, calls = count_guessed(self.ledger)
        if guessed:
            yield guessed_share(guessed, calls)

    def close(self) -> None:
        """Refuse calls over HTTP."""
        if self._name:
            self._thread.portal.call(self._thread.host(self.world.scenario).remove, self._name)


class _Facade:
    """A world whose calls are answered in another thread."""

    def __init__(self, portal: BlockingPortal, world: World) -> None:
        self._portal, self._world = portal, world

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

    async def call(self, *arguments: Any) -> Observation:
        return await anyio.to_thread.run_sync(partial(self._portal.call, self._world.call, *arguments))
