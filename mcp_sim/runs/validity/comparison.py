"""Compare how agents rank on two sides, and find the calls at which the sides part."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

import anyio

from mcp_sim.runs.agents.strategies import Strategy
from mcp_sim.runs.statistics import Interval, spearman, spearman_interval
from mcp_sim.runs.validity.sides import Side
from mcp_sim.runs.validity.skills import SKILLS
from mcp_sim.runs.validity.task import Task
from mcp_sim.runs.validity.trial import Made, Run, Trial
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen

MOST_PARTINGS = 5

Notify = Callable[[int, str], None]
"""Gets the number of runs that are done, and the one in progress."""


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


async def compare_sides(sides: tuple[Side, Side], task: Task, streams: int, jobs: int, notify: Notify) -> Validity:
    """Run all agents on both sides. The second side is the real one: there the task must be possible.

    Raises `UsageError` if it is not, and `Crash` if a real server does not start.
    """
    for side in sides:
        task.refuse_unknown(side.tools, side.name)
    reads = frozenset(tool for tool in task.tools if sides[1].domain.only_reads(sides[1].tools[tool]))
    trials = tuple(Trial(side, task, reads) for side in sides)
    faultless = [await _faultless(trial) for trial in trials]
    if faultless[1].problems:
        raise UsageError(
            f"{sides[1].name}: the task is not done without faults: {'; '.join(faultless[1].problems[:3])}"
        )
    idle = await trials[1].run(SKILLS["golden"], "", None, idle=True)
    if idle.counts == faultless[1].counts and not idle.problems:
        raise UsageError(
            f"{sides[1].name}: the goal holds although nothing was done: it knows what an earlier run wrote, or the "
            "goal is nothing that the steps change; set where it keeps its data in the task: server: {env: "
            '{NAME: "{folder}/..."}}'
        )
    trials[1].standard = faultless[1].counts
    trials[0].standard = _expected(faultless[0].counts, faultless[1].counts)
    plans = [(n, name, stream) for name in SKILLS for stream in range(streams) for n in (0, 1)]
    runs = dict[tuple[int, str, int], Run]()
    async for plan, run in _made(trials, plans, jobs, notify):
        runs[plan] = run
    again = _again(faultless[0], trials[0].standard)
    scores = tuple({name: [runs[n, name, k].score for k in range(streams)] for name in SKILLS} for n in (0, 1))
    pairs = [(runs[0, name, stream], runs[1, name, stream]) for name in SKILLS for stream in range(streams)]
    return Validity(
        (sides[0].name, sides[1].name),
        (scores[0], scores[1]),
        [*_partings([(faultless[0], faultless[1]), *pairs])],
        (again[0], faultless[1].score),
        (again[1], faultless[1].problems),
    )


async def _faultless(trial: Trial) -> Run:
    """Run the best agent without faults. Its counts are the standard of its side."""
    return await trial.run(SKILLS["golden"], "", None)


def _expected(ours: Sequence[Mapping[str, int]], real: Sequence[Mapping[str, int]]) -> list[dict[str, int]]:
    """Return how often a simulation should show texts: as often as it does, but never where the real server does not.

    A text that the real server shows and the simulation lost is expected once, so that no agent reaches it.
    """
    return [
        {text: 0 if not number else max(1, shown.get(text, 0)) for text, number in wanted.items()}
        for shown, wanted in zip(ours, real, strict=True)
    ]


def _again(run: Run, standard: Sequence[Mapping[str, int]]) -> tuple[float, list[str]]:
    """Return the score and the problems of a run by a standard that was not known when it was made."""
    missed = [
        f"{text!r} is shown {shown.get(text, 0)} times, expected {wanted}"
        for shown, expected in zip(run.counts, standard, strict=True)
        for text, wanted in expected.items()
        if shown.get(text, 0) != wanted
    ]
    parts = sum(max(1, len(expected)) for expected in standard)
    return max(0.0, run.score - len(missed) / parts), [*run.problems, *missed]


async def _made(
    trials: Sequence[Trial], plans: Sequence[tuple[int, str, int]], jobs: int, notify: Notify
) -> AsyncGenerator[tuple[tuple[int, str, int], Run]]:
    """Make the runs, some at a time."""
    for at in range(0, len(plans), jobs):
        chosen = plans[at : at + jobs]
        notify(at, chosen[0][1])
        done = dict[tuple[int, str, int], Run]()

        async def make(plan: tuple[int, str, int], done: dict[tuple[int, str, int], Run] = done) -> None:
            n, name, stream = plan
            done[plan] = await trials[n].run(_strategy(name), f"{name}/{stream}", stream)

        async with anyio.create_task_group() as group:
            for plan in chosen:
                group.start_soon(make, plan)
        for item in done.items():
            yield item


def _strategy(name: str) -> Strategy:
    return SKILLS[name]


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
