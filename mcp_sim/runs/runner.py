"""Run an agent in many worlds, several at a time."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import anyio

from mcp_sim import __version__
from mcp_sim.faults.compile import with_intensity, without_faults
from mcp_sim.grading.grade import failed_by_agent
from mcp_sim.runs.agent import LONGEST_MESSAGE, AgentCommand, Exit, fresh_folder
from mcp_sim.runs.host import Host, open_host
from mcp_sim.runs.results import (
    Condition,
    RunPlan,
    RunResult,
    answering_sources,
    applied_faults,
    called_tools,
    find_retries,
)
from mcp_sim.server.deliverability import check_deliverable
from mcp_sim.simulator.simulator import Simulator
from mcp_sim.types.clock import Mode
from mcp_sim.types.errors import Crash, McpSimError, Unwritable, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.grades import count_guessed
from mcp_sim.types.oauth import without_tokens
from mcp_sim.types.scenario import Scenario
from mcp_sim.world.sinks.jsonl import Jsonl
from mcp_sim.world.trace import answer_line, header_line
from mcp_sim.world.world import World

T = TypeVar("T")

LEDGER_KEEP = 100_000  # verdicts need the whole ledger, and no run has as many calls


@frozen
class Settings:
    """How runs are made. `traces` is a folder for their traces, `strict` makes guessed verdicts inconclusive."""

    agent: AgentCommand
    clock: Mode = "real"
    jobs: int = 1
    strict: bool = False
    traces: Path | None = None


def variant(scenario: Scenario, condition: Condition) -> Scenario:
    """Return the scenario under a condition. Without faults its tools are listed as with them."""
    if condition.has_faults:
        return with_intensity(scenario, condition.intensity)
    return without_faults(scenario)


async def run_all(
    scenario: Scenario, plans: Sequence[RunPlan], settings: Settings, on_done: Callable[[RunResult], None]
) -> None:
    """Make the runs, in order, `jobs` at a time, and pass each result to `on_done`.

    Raises `UsageError` if the command or the scenario does not allow it, `AgentNotStarted` at the first run that
    cannot be started, and `Crash` for a failure of mcp-sim outside of a call. If it is cancelled, the agents are ended.
    """
    settings.agent.check(scenario)
    check_deliverable(scenario, "http", settings.clock)
    if settings.traces is not None:
        try:
            settings.traces.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"cannot create the folder {settings.traces}: {error.strerror}") from None
    async with _opened(scenario, plans, settings) as runner:

        async def run(plan: RunPlan) -> None:
            on_done(await runner.run(plan))

        error = await first_error(plans, settings.jobs, run)
    if isinstance(error, McpSimError):  # raised here, since task groups would wrap it
        raise error
    if error is not None:
        raise Crash("run", f"{type(error).__name__}: {error}") from error


async def first_error(items: Sequence[T], jobs: int, work: Callable[[T], Awaitable[None]]) -> Exception | None:
    """Do the work on each item, in order, `jobs` at a time. Return the first error, which ends all of it."""
    waiting, errors = iter(items), list[Exception]()

    async def work_on() -> None:
        try:
            for item in waiting:
                await work(item)
        except Exception as error:  # noqa: BLE001 (raised by the caller, outside of task groups)
            errors.append(error)
            workers.cancel_scope.cancel()

    async with anyio.create_task_group() as workers:
        for _ in range(min(jobs, len(items))):
            workers.start_soon(work_on)
    return errors[0] if errors else None


@asynccontextmanager
async def _opened(scenario: Scenario, plans: Iterable[RunPlan], settings: Settings) -> AsyncGenerator[_Runner]:
    async with AsyncExitStack() as stack:
        simulators = {
            condition: await stack.enter_async_context(Simulator(variant(scenario, condition), ledger_keep=LEDGER_KEEP))
            for condition in dict.fromkeys(plan.condition for plan in plans)
        }
        host = await stack.enter_async_context(open_host(scenario, settings.agent.timeout))
        yield _Runner(scenario, simulators, host, settings)


class _Runner:
    """Makes one run after the other."""

    def __init__(
        self, scenario: Scenario, simulators: Mapping[Condition, Simulator], host: Host, settings: Settings
    ) -> None:
        self._scenario, self._simulators, self._host, self._settings = scenario, simulators, host, settings

    async def run(self, plan: RunPlan) -> RunResult:
        """Run the agent in a world of its own, and grade it."""
        async with self._simulator(plan.condition) as simulator:
            return await self._run(plan, simulator)

    async def _run(self, plan: RunPlan, simulator: Simulator) -> RunResult:
        with self._trace(plan) as (path, sinks):
            world = simulator.world(plan.name, seed=plan.seed, clock=self._settings.clock, sinks=sinks)
            name, urls = self._host.add(world)
            try:
                with fresh_folder() as folder:
                    ended = await self._settings.agent.run(self._scenario.task, urls, folder)
            finally:
                self._host.remove(name)
            if self._scenario.auth is not None:
                ended = replace(ended, answer=without_tokens(ended.answer), errors=without_tokens(ended.errors))
            for sink in sinks:
                sink.write(answer_line(plan.name, ended.answer))
            return await self._result(plan, world, ended, path)

    @asynccontextmanager
    async def _simulator(self, condition: Condition) -> AsyncGenerator[Simulator]:
        """Yield what opens the world of a run: where a real server keeps the state, a simulator with a new process."""
        shared = self._simulators[condition]
        if not any(entry.world_model.shares_state for entry in self._scenario.world_models):
            yield shared
            return
        async with Simulator(shared.scenario, ledger_keep=LEDGER_KEEP) as own:
            yield own

    def _errors_file(self, plan: RunPlan, ended: Exit) -> str | None:
        """Write what the agent printed to stderr beside its trace, if traces are wanted and it printed anything."""
        if self._settings.traces is None:
            return None
        path = self._settings.traces / f"{plan.name}.stderr.txt"
        if not ended.errors:
            path.unlink(missing_ok=True)  # of an earlier command
            return None
        path.write_text(f"{ended.errors}\n", encoding="utf-8", errors="replace")
        return str(path)

    @contextmanager
    def _trace(self, plan: RunPlan) -> Generator[tuple[str | None, list[Jsonl]]]:
        """Open the trace of a run, if traces are wanted. Until the run is over it has another name.

        Half a run may look like a success.
        """
        if self._settings.traces is None:
            yield None, []
            return
        path = self._settings.traces / f"{plan.name}.jsonl"
        unfinished = path.with_name(f"{path.name}.unfinished")
        header = header_line(self._scenario.name, self._scenario.sha256, __version__, self._scenario.path)
        with _writing(path):
            path.unlink(missing_ok=True)  # of an earlier command
        sink = Jsonl(unfinished, header)
        try:
            yield str(path), [sink]
        finally:
            sink.close()
        with _writing(path):
            unfinished.replace(path)

    async def _result(self, plan: RunPlan, world: World, ended: Exit, trace: str | None) -> RunResult:
        await world.probe()
        grade = world.grade(ended.answer, strict=self._settings.strict)
        if ended.problem is not None:
            grade = failed_by_agent(grade, ended.problem)
        return RunResult(
            plan=plan,
            outcome=grade.outcome,
            because=grade.because,
            grade=grade,
            faults=applied_faults(world),
            called=called_tools(world.ledger),
            retries=find_retries(world.ledger.steps, world.scenario.domain),
            seconds=ended.seconds,
            exit_code=ended.code,
            answer=ended.answer,
            errors=ended.errors[-LONGEST_MESSAGE:],
            trace=trace,
            errors_file=self._errors_file(plan, ended),
            sources=answering_sources(world.ledger),
            guessed=count_guessed(world.ledger.steps)[0],
        )


@contextmanager
def _writing(trace: Path) -> Generator[None]:
    """Raises `Unwritable` where the trace of a run cannot be replaced."""
    try:
        yield
    except OSError as error:
        raise Unwritable.trace(trace, error) from None
