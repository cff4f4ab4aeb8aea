"""Compare how agents rank on two sides, and find the calls at which the sides part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import anyio
from pydantic import TypeAdapter

from mcp_sim.runs.agents.strategies import SKILLS
from mcp_sim.runs.statistics import Interval, spearman, spearman_interval
from mcp_sim.runs.validity.recorded_task import recorded_task, seems_to_read, with_recording
from mcp_sim.runs.validity.sides import Side, open_side, open_simulation
from mcp_sim.runs.validity.task import Task
from mcp_sim.runs.validity.trial import Made, Run, Trial
from mcp_sim.types import Json
from mcp_sim.types.errors import Crash, UsageError
from mcp_sim.types.frozen import frozen

MOST_PARTINGS = 5

BEST = SKILLS["golden"]

_RUN = TypeAdapter(Run)

Notify = Callable[[str], None]  # gets what is in progress, each time that some runs begin


@frozen
class Parting:
    """A call at which runs of the two sides part, with an example of what each answers."""

    tool: str
    why: str
    runs: int
    answers: tuple[str, str]


@frozen
class Validity:
    """How agents rank on two sides. Scores are shares of the goals, by agent and fault stream."""

    names: tuple[str, str]
    scores: tuple[Mapping[str, Sequence[float]], Mapping[str, Sequence[float]]]
    partings: Sequence[Parting]
    faultless: tuple[float, float]
    """The scores of the best agent without faults."""
    problems: tuple[Sequence[str], Sequence[str]]
    """What the best agent does not reach without faults."""

    @property
    def means(self) -> tuple[dict[str, float], dict[str, float]]:
        """The mean score of each agent on both sides."""
        first, second = ({name: fmean(row) for name, row in side.items()} for side in self.scores)
        return first, second

    @property
    def rho(self) -> float | None:
        """Spearman's rank correlation of the agents; None if a side ranks nothing."""
        first, second = self.means
        return spearman([*first.values()], [*second.values()])

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of rho, from a bootstrap over agents and streams."""
        first, second = ([*side.values()] for side in self.scores)
        return None if self.rho is None else spearman_interval(first, second)

    def to_json(self) -> dict[str, Any]:
        interval = self.interval
        return {
            "sides": [*self.names],
            "rho": self.rho,
            "interval": None if interval is None else [interval.low, interval.high],
            "mean_difference": fmean(abs(a - b) for a, b in zip(*(side.values() for side in self.means), strict=True)),
            "without_faults": [*self.faultless],
            "agents": {name: [self.means[0][name], self.means[1][name]] for name in self.means[0]},
            "partings": [
                {"tool": parting.tool, "why": parting.why, "runs": parting.runs, "answers": [*parting.answers]}
                for parting in self.partings
            ],
            "problems": [[*problems] for problems in self.problems],
        }


@frozen
class SideRuns:
    """The runs of all agents on one side."""

    name: str
    faultless: Run
    """That of the best agent without faults."""
    runs: Mapping[tuple[str, int], Run]
    """By agent and stream."""
    reads: frozenset[str]
    """The tools of the task that only read; on both sides those of the real one."""

    def scores(self) -> dict[str, list[float]]:
        """Return the scores of each agent, by stream."""
        scores = dict[str, list[float]]()
        for (name, _), run in self.runs.items():
            scores.setdefault(name, []).append(run.score)
        return scores

    def to_json(self) -> dict[str, Any]:
        runs = [[name, stream, _RUN.dump_python(run)] for (name, stream), run in self.runs.items()]
        reads = sorted(self.reads)
        return {"name": self.name, "faultless": _RUN.dump_python(self.faultless), "runs": runs, "reads": reads}

    @classmethod
    def of_json(cls, row: Mapping[str, Any]) -> SideRuns:
        """Return what `to_json` has written. Raises `ValidationError` for anything else."""
        runs = {(str(name), int(stream)): _RUN.validate_python(run) for name, stream, run in row["runs"]}
        return cls(str(row["name"]), _RUN.validate_python(row["faultless"]), runs, frozenset(map(str, row["reads"])))


async def run_real(side: Side, task: Task, streams: int, jobs: int, notify: Notify) -> SideRuns:
    """Run all agents on the side that the other is compared with.

    Raises `UsageError` if the task cannot be done there, or is done before it begins, and `Crash` if a server does not
    start.
    """
    task.refuse_unknown(side.tools, side.name)
    reads = frozenset(tool for tool in task.tools if side.domain.only_reads(side.tools[tool]))
    trial = Trial(side, task, reads)
    faultless = await trial.run(BEST, "", None)
    if faultless.problems:
        raise UsageError(f"{side.name}: the task is not done without faults: {'; '.join(faultless.problems[:3])}")
    idle = await trial.run(BEST, "", None, idle=True)
    if idle.counts == faultless.counts and not idle.problems:
        raise UsageError(
            f"{side.name}: the goal holds although nothing was done: it knows what an earlier run wrote, or the "
            "goal is nothing that the steps change; set where it keeps its data in the task: server: {env: "
            '{NAME: "{folder}/..."}}'
        )
    trial.standard = faultless.counts
    return SideRuns(side.name, faultless, await _runs(trial, streams, jobs, notify), reads)


async def run_simulation(side: Side, task: Task, real: SideRuns, streams: int, jobs: int, notify: Notify) -> SideRuns:
    """Run all agents on the side that is compared with a real one. Raises `UsageError` if it lacks a tool."""
    task.refuse_unknown(side.tools, side.name)
    trial = Trial(side, task, real.reads)
    faultless = await trial.run(BEST, "", None)
    trial.standard = _expected(faultless.counts, real.faultless.counts)
    faultless = trial.by_standard(faultless)
    return SideRuns(side.name, faultless, await _runs(trial, streams, jobs, notify), real.reads)


def compare(simulation: SideRuns, real: SideRuns) -> Validity:
    """Return how the agents rank on both sides."""
    pairs = [(simulation.faultless, real.faultless), *((run, real.runs[key]) for key, run in simulation.runs.items())]
    return Validity(
        (simulation.name, real.name),
        (simulation.scores(), real.scores()),
        [*_partings(pairs)],
        (simulation.faultless.score, real.faultless.score),
        (simulation.faultless.problems, real.faultless.problems),
    )


def _expected(ours: Sequence[Mapping[str, int]], real: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
    """Return how often a simulation should show texts: as often as it does, but never where the real server does not.

    A text that the real server shows and the simulation lost is expected once, so that no agent reaches it.
    """
    return [
        {text: 0 if not number else max(1, shown.get(text, 0)) for text, number in wanted.items()}
        for shown, wanted in zip(ours, real, strict=True)
    ]


async def _runs(trial: Trial, streams: int, jobs: int, notify: Notify) -> dict[tuple[str, int], Run]:
    """Run all agents, some at a time."""
    plans = [(name, stream) for name in SKILLS for stream in range(streams)]
    runs = dict[tuple[str, int], Run]()

    async def play(name: str, stream: int) -> None:
        runs[name, stream] = await trial.run(SKILLS[name], f"{name}/{stream}", stream)

    for at in range(0, len(plans), jobs):
        notify(f"{trial.side_name}: {plans[at][0]}")
        async with anyio.create_task_group() as group:
            for plan in plans[at : at + jobs]:
                group.start_soon(play, *plan)
    return {plan: runs[plan] for plan in plans}


# where the sides part -------------------------------------------------------------------------------------------------


def _partings(pairs: Sequence[tuple[Run, Run]]) -> Iterator[Parting]:
    """Yield the calls at which the most runs part first."""
    counts, examples = Counter[tuple[str, str]](), dict[tuple[str, str], tuple[str, str]]()
    for first, second in pairs:
        parting = _first_parting(first.calls, second.calls)
        if parting is not None:
            key, texts = parting
            counts[key] += 1
            examples.setdefault(key, texts)
    for (tool, why), number in counts.most_common(MOST_PARTINGS):
        yield Parting(tool, why, number, examples[tool, why])


def _first_parting(first: Sequence[Made], second: Sequence[Made]) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Return the first call whose outcome differs, or after whose answer the agent goes on otherwise."""
    before: tuple[Made, Made] | None = None
    for ours, real in zip(first, second, strict=False):
        if ours.tool != real.tool:
            break
        if ours.fault:  # the agent reads the same
            continue
        if ours.ok != real.ok:
            why = "succeeds, but fails on the other side" if ours.ok else "fails, but succeeds on the other side"
            return (ours.tool, why), (ours.text, real.text)
        before = ours, real
    else:
        if len(first) == len(second):
            return None
    if before is None:
        return None
    return (before[0].tool, "shows something else, by which the agent goes on otherwise"), (
        before[0].text,
        before[1].text,
    )


MOST_TASKS = 3
STREAMS = 2
"""Fault streams. With 16 agents and the two runs without faults, a real server is started 34 times for a task."""
SECONDS = 300.0
"""How long the real server is run for all tasks. Those that it has not finished by then are left out."""
JOBS = 2


@frozen
class Reference:
    """A task, and how agents do it on the real server."""

    task: Task
    real: SideRuns


async def references(
    server: str, tasks: Iterable[Task], trust: Sequence[Path], notify: Callable[[str], None]
) -> list[Reference]:
    """Run agents on a real server, in the first MOST_TASKS of the tasks that can be carried out there.

    Raises `UsageError` with the reasons if none can.
    """
    known, problems = list[Reference](), list[str]()
    with anyio.move_on_after(SECONDS):
        for task in tasks:
            try:
                known.append(await _reference(server, task, trust, notify))
            except (UsageError, Crash) as error:
                problems.append(str(error))
            if len(known) == MOST_TASKS:
                break
    if not known:
        reasons = "; ".join(problems[:MOST_TASKS]) or f"no task was done within {SECONDS:g} seconds"
        raise UsageError(f"--against: agents cannot be compared: {reasons}")
    return known


async def _reference(server: str, task: Task, trust: Sequence[Path], notify: Callable[[str], None]) -> Reference:
    task, session = with_recording(task)
    async with open_side(server, task, trust, empty=True) as real:
        if session is not None:
            reads = {tool.name for tool in real.tools.values() if seems_to_read(real.domain, tool)}
            task = recorded_task(task, session, reads.__contains__)
        return Reference(task, await run_real(real, task, STREAMS, JOBS, notify))


def job_of(document: Path, references: Iterable[Reference]) -> Mapping[str, Json]:
    """Return the job to run agents on the simulation of a document."""
    rows = [
        {"task": reference.task.model_dump(mode="json", exclude_unset=True), "real": reference.real.to_json()}
        for reference in references
    ]
    return {"document": str(document), "references": rows}


def played(job: Json) -> Json:
    """Run agents on a simulation, as a job says. Return their runs, one entry for each task."""
    return anyio.run(_played, job)


async def _played(job: Mapping[str, Json]) -> list[Json]:
    document = Path(job["document"])
    sides = list[Json]()
    for row in job["references"]:
        task, real = Task.model_validate(row["task"]), SideRuns.of_json(row["real"])
        async with open_simulation(str(document), task, [document.parent], empty=True) as side:
            sides.append((await run_simulation(side, task, real, STREAMS, 1, _ignore)).to_json())
    return sides


def compared(references: Sequence[Reference], sides: Json) -> list[Validity]:
    """Return how agents rank, from what `played` returned."""
    rows = [SideRuns.of_json(side) for side in cast("list[Json]", sides)]
    return [compare(side, reference.real) for side, reference in zip(rows, references, strict=True)]


def _ignore(_: str) -> None:
    return
