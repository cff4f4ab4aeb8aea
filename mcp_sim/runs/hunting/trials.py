"""Trials: runs of the agent with chosen faults, seeds and records. Those that were made are kept in a journal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, field, replace
from io import FileIO
from itertools import islice
from pathlib import Path
from typing import Any, Self, cast

import anyio

from mcp_sim.grading.bases import AboutPerturbation
from mcp_sim.runs.hunting.faults import Placed, with_fault
from mcp_sim.runs.results import Condition, RunPlan, RunResult
from mcp_sim.runs.runner import Settings, run_all
from mcp_sim.types import Record
from mcp_sim.types.errors import McpSimError, UsageError
from mcp_sim.types.frozen import frozen
from mcp_sim.types.json_values import canonical
from mcp_sim.types.kinds import expectations
from mcp_sim.types.scenario import ExpectationEntry, GivenRecords, Scenario
from mcp_sim.world.sinks.jsonl import lock

AGENT = "the agent"  # stands for an expectation where the agent itself did not end well

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
        """Return the trial of a line in a journal."""
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
        waiting = iter([setup for setup in setups if trials[setup.key] is None])
        errors = list[Exception]()

        async def work() -> None:
            try:
                for setup in waiting:
                    trials[setup.key] = trial = (await self._run(setup)).to_json()
                    self._journal.add(setup.key, trial)
            except Exception as error:  # noqa: BLE001 (raised again outside of the task group)
                errors.append(error)
                workers.cancel_scope.cancel()

        async with anyio.create_task_group() as workers:
            for _ in range(min(self._settings.jobs, len(setups))):
                workers.start_soon(work)
        if errors:
            raise errors[0]
        return [Trial.from_json(trials[setup.key] or {}) for setup in setups]

    async def _run(self, setup: Setup) -> Trial:
        results = list[RunResult]()
        plan = RunPlan(_WITH if setup.faults else _WITHOUT, setup.seed)
        await run_all(setup.scenario(self.scenario), [plan], replace(self._settings, jobs=1), results.append)
        return Trial.of(results[0])


PROGRAMS = "programs"
"""The key of a header under which the agent's programs are, as `program_hashes` returns them."""


def program_hashes(command: Sequence[str]) -> Record:
    """Return the hashes of the files that a command runs: its first word, and the first file among its arguments.

    What follows is left out: it may be a file that the agent writes, such as a log.
    """
    files = (word for word in command[1:] if Path(word).is_file())
    words = [word for word in (*command[:1], *islice(files, 1)) if Path(word).is_file()]
    try:
        return {word: hashlib.sha256(Path(word).read_bytes()).hexdigest() for word in words}
    except OSError as error:
        raise UsageError(f"cannot read {error.filename}: {error.strerror}") from None


class Journal:
    """A JSONL file: a header that identifies the hunt, then a line for each trial."""

    def __init__(self, path: Path, header: Mapping[str, Any]) -> None:
        """Open a journal, and read what it has. A torn last line is dropped. No other hunt opens it until it is closed.

        A journal without trials is begun anew, and so is one of the same hunt whose agent was edited since (PROGRAMS).
        Raises `UsageError` if the file is something else, or the journal of another hunt.
        """
        self._path, self._file = path, _opened(path)
        try:
            self._known = self._begun(header)
        except BaseException:
            self._file.close()
            raise
        self.length = len(self._known)
        """The number of trials that it had when it was opened."""

    def _begun(self, header: Mapping[str, Any]) -> dict[str, Record]:
        """Return the trials of the file, which has the header and whole lines afterwards."""
        path = self._path
        text = _read(path)
        if text and not text.startswith('{"hunt"'):
            raise UsageError(
                f"{path}: is not the journal of a hunt; choose another file (hunt --journal, curriculum -o)"
            )
        whole = text[: text.rfind("\n") + 1]
        lines = _lines(whole, path)
        if lines and lines[0] != header:
            if len(lines) > 1 and lines[0] != {**header, PROGRAMS: lines[0].get(PROGRAMS)}:
                raise UsageError(
                    f"{path}: this is not the journal of this hunt: the scenario, the agent or an option differs, or "
                    "mcp-sim; delete it, or choose another file (hunt --journal, curriculum -o)"
                )
            lines, whole = [], ""
        self._file.truncate(len(whole.encode()))
        if not lines:
            self._write(header)
        return {line["key"]: line["trial"] for line in lines[1:]}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def trial(self, key: str) -> Record | None:
        """Return a trial that was made; None if it was not."""
        return self._known.get(key)

    def add(self, key: str, trial: Record) -> None:
        """Keep a trial."""
        self._known[key] = trial
        self._write({"key": key, "trial": trial})

    def _write(self, line: Mapping[str, Any]) -> None:
        try:
            self._file.write(f"{json.dumps(line, ensure_ascii=True)}\n".encode())
        except OSError as error:
            raise UsageError(f"cannot write {self._path}: {error.strerror}") from None


def _opened(path: Path) -> FileIO:
    """Open a file to append to, for this process alone. Raises `UsageError` if that is impossible."""
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: is not a file; choose another one (hunt --journal, curriculum -o)")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = FileIO(path, "a")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    try:
        lock(file.fileno())
    except BlockingIOError:
        file.close()
        reason = "another hunt writes this journal; wait for it, or choose another file (hunt --journal, curriculum -o)"
        raise UsageError(f"{path}: {reason}") from None
    return file


def _read(path: Path) -> str:
    """Return the text of a file. Raises `UsageError` if it is not text."""
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from None


def _lines(text: str, path: Path) -> list[dict[str, Any]]:
    """Return the objects of a journal. Raises `UsageError` if it is something else."""
    entries = list[dict[str, Any]]()
    for number, line in enumerate(text.splitlines()):
        try:
            value: Any = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict) or (number and not {"key", "trial"} <= value.keys()):
            raise UsageError(
                f"{path}: line {number + 1} is not one of a hunt's journal; delete it, or name another file"
            )
        entries.append(cast("dict[str, Any]", value))
    return entries
