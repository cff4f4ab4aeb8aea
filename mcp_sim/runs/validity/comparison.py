"""Compare how agents rank on two sides, and find the calls at which the sides part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import anyio
from pydantic import TypeAdapter

from mcp_sim.runs.agents.strategies import SKILLS
from mcp_sim.runs.statistics import Interval, spearman, spearman_interval
from mcp_sim.runs.validity.sides import Side
from mcp_sim.runs.validity.task import Task
from mcp_sim.runs.validity.trial import Made, Run, Trial
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen

MOST_PARTINGS = 5

BEST = SKILLS["golden"]

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
    runs: Mapping[str, Sequence[Run]]
    """By agent, one for each stream."""
    reads: frozenset[str]
    """The tools of the task that only read; on both sides those of the real one."""

    def scores(self) -> dict[str, list[float]]:
        """Return the scores of each agent, by stream."""
        return {name: [run.score for run in runs] for name, runs in self.runs.items()}


SIDE_RUNS = TypeAdapter(SideRuns)  # between processes


async def run_real(side: Side, task: Task, streams: int, jobs: int, notify: Notify) -> SideRuns:
    """Run all agents on the side that the other is compared with.

    Raises `UsageError` if the task cannot be done there, or is done before it begins, and `Crash` if a server does not
    start.
    """
    tools = side.domain.tools
    task.refuse_unknown(tools, side.name)
    reads = frozenset(tool for tool in task.tools if side.domain.only_reads(tools[tool]))
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
    task.refuse_unknown(side.domain.tools, side.name)
    trial = Trial(side, task, real.reads)
    faultless = await trial.run(BEST, "", None)
    # How often a simulation should show texts: as often as it does, but never where the real server does not. A text
    # that the real server shows and the simulation lost is expected once, so that no agent reaches it.
    trial.standard = [
        {text: 0 if not number else max(1, shown.get(text, 0)) for text, number in wanted.items()}
        for shown, wanted in zip(faultless.counts, real.faultless.counts, strict=True)
    ]
    faultless = trial.by_standard(faultless)
    return SideRuns(side.name, faultless, await _runs(trial, streams, jobs, notify), real.reads)


def compare(simulation: SideRuns, real: SideRuns) -> Validity:
    pairs = [(simulation.faultless, real.faultless)]
    for name, runs in simulation.runs.items():
        pairs += zip(runs, real.runs[name], strict=True)
    return Validity(
        (simulation.name, real.name),
        (simulation.scores(), real.scores()),
        [*_partings(pairs)],
        (simulation.faultless.score, real.faultless.score),
        (simulation.faultless.problems, real.faultless.problems),
    )


async def _runs(trial: Trial, streams: int, jobs: int, notify: Notify) -> dict[str, list[Run]]:
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
    return {name: [runs[name, stream] for stream in range(streams)] for name in SKILLS}


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
