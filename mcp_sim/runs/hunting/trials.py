"""Trials: runs of the agent with chosen faults, seeds and records. Those that were made are kept in a journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field, replace
from heapq import heappop, heappush
from typing import Any

from mcp_sim.grading.bases import AboutPerturbation
from mcp_sim.runs.hunting.faults import Placed, with_fault
from mcp_sim.runs.hunting.journal import Journal
from mcp_sim.runs.results import Condition, RunPlan, RunResult
from mcp_sim.runs.runner import Settings, first_error, run_all
from mcp_sim.types import Record
from mcp_sim.types.errors import McpSimError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import canonical
from mcp_sim.types.kinds import expectations
from mcp_sim.types.scenario import ExpectationEntry, GivenRecords, Scenario

AGENT = "the agent"  # fails, like an expectation, where the agent itself did not end well

_WITH, _WITHOUT = Condition("faults"), Condition("clean", has_faults=False)


class BudgetSpent(McpSimError):
    """All runs of the budget were made."""

    def __init__(self, runs: int) -> None:
        self.runs = runs
        super().__init__(f"all {runs} runs were made")


@frozen
class Setup:
    """What a trial is made of. `records` replace those of the scenario, by entity."""

    seed: int
    faults: tuple[Placed, ...] = ()
    records: Mapping[str, GivenRecords] = field(default_factory=dict[str, GivenRecords])
    repetition: int = 1

    @property
    def key(self) -> str:
        """The same text for the same trial, in every process."""
        records = {name: [given.count, list(given.rows)] for name, given in self.records.items()}
        return canonical([self.seed, [fault.entry() for fault in self.faults], records, self.repetition])

    def clean(self) -> Setup:
        """Return the same without faults."""
        return replace(self, faults=())

    def scenario(self, base: Scenario) -> Scenario:
        """Return the scenario of the trial. Raises `DocumentError` if it takes no such fault."""
        scenario = replace(base, records={**base.records, **self.records})
        for fault in self.faults:
            scenario = with_fault(scenario, fault)
        return scenario if scenario.expectations else replace(scenario, expectations=recoveries(self.faults))


class Queue:
    """Setups to try, those first that cost least. The same setup is tried once."""

    def __init__(self) -> None:
        self._waiting = list[tuple[float, int, Setup]]()
        self._seen = set[tuple[int, frozenset[Placed]]]()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, setup: Setup, cost: float) -> None:
        key = setup.seed, frozenset(setup.faults)
        if key not in self._seen:
            heappush(self._waiting, (cost, len(self._seen), setup))
            self._seen.add(key)

    def next(self) -> Setup:
        return heappop(self._waiting)[2]


@frozen
class Trial:
    """What became of a trial."""

    outcome: str
    because: str
    failed: tuple[str, ...]
    """The ids of the expectations that failed."""
    called: tuple[str, ...]
    """The tool of each call, in order."""
    applied: tuple[str, ...]
    """The ids of the faults that were applied."""

    @classmethod
    def of(cls, result: RunResult) -> Trial:
        failed = [verdict for verdict in result.grade.verdicts if verdict.outcome == "failed" and not verdict.optional]
        reasons = [f"{verdict.id}: {verdict.because}" for verdict in failed]
        names = tuple(verdict.id for verdict in failed)
        if result.exit_code != 0:
            reasons, names = [result.because, *reasons], (AGENT, *names)
        because = "\n".join(reasons) or result.because
        applied = tuple(sorted({fault.id for fault in result.faults}))
        is_calm = result.outcome == "inconclusive" and not result.grade.verdicts  # nothing was expected: no faults
        return cls("passed" if is_calm else result.outcome, because, names, result.called, applied)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Trial:
        return cls(
            value["outcome"], value["because"], tuple(value["failed"]), tuple(value["called"]), tuple(value["applied"])
        )

    def to_json(self) -> Record:
        return asdict(self)

    def fails_like(self, other: Trial) -> bool:
        """Whether it failed in an expectation that the other one failed in, too."""
        return self.outcome == "failed" and not {*self.failed}.isdisjoint(other.failed)


def recoveries(faults: Sequence[Placed]) -> tuple[ExpectationEntry, ...]:
    """Return the expectation for each fault that the agent recovers from it."""
    kind = expectations["recovered"]
    return tuple(
        ExpectationEntry(f"recovered-{fault.id}", "recovered", kind.model_validate(fault.id)) for fault in faults
    )


def without_own_faults(scenario: Scenario) -> Scenario:
    """Return the scenario without its perturbations and the expectations about them."""
    kept = tuple(entry for entry in scenario.expectations if not isinstance(entry.expectation, AboutPerturbation))
    return replace(scenario, perturbations=(), expectations=kept)


class Tester:
    """Makes trials, each of them once, until `budget` of them were made. `on_trial` gets each new one."""

    def __init__(
        self,
        scenario: Scenario,
        settings: Settings,
        journal: Journal,
        budget: int,
        on_trial: Callable[[Setup, Trial], None],
    ) -> None:
        self.scenario = scenario
        self.runs = 0
        self._settings, self._journal, self._budget, self._on_trial = settings, journal, budget, on_trial
        self._known = dict[str, Trial]()

    @property
    def at_once(self) -> int:
        """How many trials run at a time."""
        return self._settings.jobs

    async def trial(self, setup: Setup) -> Trial:
        """Return what becomes of a trial. Raises `BudgetSpent`."""
        return (await self.trials([setup]))[0]

    async def trials(self, setups: Sequence[Setup]) -> list[Trial]:
        """Return what becomes of several trials, made at the same time. Raises `BudgetSpent` if one cannot be made."""
        new = {setup.key: setup for setup in setups if setup.key not in self._known}
        affordable = list(new.values())[: self._budget - self.runs]
        self.runs += len(affordable)
        for setup, trial in zip(affordable, await self._run_all(affordable), strict=True):
            self._known[setup.key] = trial
            self._on_trial(setup, trial)
        if len(affordable) < len(new):
            raise BudgetSpent(self._budget)
        return [self._known[setup.key] for setup in setups]

    async def _run_all(self, setups: Sequence[Setup]) -> list[Trial]:
        """Return the trials: from the journal, else from runs of the agent."""
        trials = {setup.key: self._journal.trial(setup.key) for setup in setups}

        async def run(setup: Setup) -> None:
            trials[setup.key] = trial = (await self._run(setup)).to_json()
            self._journal.add(setup.key, trial)

        waiting = [setup for setup in setups if trials[setup.key] is None]
        if error := await first_error(waiting, self._settings.jobs, run):
            raise error
        return [Trial.from_json(trials[setup.key] or {}) for setup in setups]

    async def _run(self, setup: Setup) -> Trial:
        results = list[RunResult]()
        plan = RunPlan(_WITH if setup.faults else _WITHOUT, setup.seed)
        await run_all(setup.scenario(self.scenario), [plan], replace(self._settings, jobs=1), results.append)
        return Trial.of(results[0])
