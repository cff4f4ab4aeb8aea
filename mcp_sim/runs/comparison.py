"""Compare two reports of runs: whether a later version of an agent is worse than an earlier one."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from mcp_sim.runs.reports.report import FORMAT
from mcp_sim.runs.results import CLEAN, AppliedFault
from mcp_sim.runs.statistics import Interval, Pairs, newcombe, paired_interval
from mcp_sim.spec.trust import read_whole
from mcp_sim.types import Record
from mcp_sim.types.errors import UsageError
from mcp_sim.types.frozen import frozen

Decision: TypeAlias = Literal["PASS", "REGRESSION", "IMPROVED", "INCONCLUSIVE"]

MOST_GROWTH = 1024
"""The most often that the runs are multiplied to find how many would decide; beyond, the rates are too near to tell.
A thousand times as many runs are too many for any agent."""

_UNDECIDED: Decision = "INCONCLUSIVE"

_SEVERITY: tuple[Decision, ...] = ("REGRESSION", "INCONCLUSIVE", "IMPROVED", "PASS")
"""Decisions about conditions, the one that counts for all of them first."""


@frozen
class ReportedRun:
    """A run as a JSON report has it. `verdicts` are outcomes by expectation."""

    condition: str
    seed: int
    repetition: int
    outcome: str
    verdicts: Mapping[str, str]
    applied: tuple[AppliedFault, ...]

    @property
    def faults(self) -> frozenset[str]:
        """The ids of the faults that were applied."""
        return frozenset(fault.id for fault in self.applied)

    @property
    def start(self) -> tuple[int, int]:
        """What runs that begin alike share."""
        return self.seed, self.repetition

    @property
    def is_judged(self) -> bool:
        return self.outcome in ("passed", "failed")


@frozen
class RunsReport:
    """What other commands need of a JSON report of `mcp-sim run`. `document` is the file of its scenario."""

    path: str
    scenario: str
    document: str
    agent: tuple[str, ...]
    sha256: str
    planned: int
    runs: Sequence[ReportedRun]

    @property
    def counting(self) -> list[str]:
        """The conditions that the agent is judged by: those with faults, or all if none has."""
        names = list(dict.fromkeys(run.condition for run in self.runs))
        return [name for name in names if name != CLEAN] or names

    def under(self, condition: str) -> list[ReportedRun]:
        return [run for run in self.runs if run.condition == condition]


def read_report(path: Path) -> RunsReport:
    """Read a JSON report of `mcp-sim run`. Raises `UsageError` if the file is something else."""
    try:
        report: Any = json.loads(read_whole(path).decode())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise _no_report(path, "it is not JSON") from None
    if not isinstance(report, dict) or "runs" not in report or "format" not in report:
        raise _no_report(path, "it has no `runs`")
    report = cast("Record", report)
    if report["format"] != FORMAT:
        raise UsageError(f"{path} is a report of format {report['format']!r}, expected {FORMAT}")
    try:
        return RunsReport(
            str(path),
            report["scenario"],
            report["path"],
            tuple(report["agent"]),
            report["sha256"],
            report["planned"],
            [_run(run) for run in report["runs"]],
        )
    except (AttributeError, KeyError, TypeError) as error:
        raise _no_report(path, f"{type(error).__name__}: {error}") from None


def _no_report(path: Path, reason: str) -> UsageError:
    return UsageError(f"{path} is not a report that `mcp-sim run --json FILE` wrote: {reason}")


def _run(run: Record) -> ReportedRun:
    return ReportedRun(
        run["condition"],
        run["seed"],
        run["repetition"],
        run["outcome"],
        {verdict["id"]: verdict["outcome"] for verdict in run["grade"]["verdicts"]},
        tuple(AppliedFault(**fault) for fault in run["faults"]),
    )


# pass rates -----------------------------------------------------------------------------------------------------------


@frozen
class Rate:
    """How many runs passed of those that were judged."""

    passed: int
    judged: int

    @property
    def share(self) -> float | None:
        return self.passed / self.judged if self.judged else None


@frozen
class Change:
    """Two pass rates, before and after. `pairs` are those of runs that begin alike, None if the seeds differ."""

    before: Rate
    after: Rate
    pairs: Pairs | None = None

    @property
    def difference(self) -> float:
        """The later pass rate minus the earlier one; negative if the agent became worse."""
        if self.pairs is not None:
            return -self.pairs.difference
        return (self.after.share or 0.0) - (self.before.share or 0.0)

    @property
    def interval(self) -> Interval:
        """The 95 % interval of the difference."""
        return self._interval(1)

    def _interval(self, growth: int) -> Interval:
        """Return the interval that so many times as many runs with these rates would have."""
        if self.pairs is not None:
            pairs = self.pairs
            counts = (pairs.both, pairs.only_first, pairs.only_second, pairs.neither)
            fall = paired_interval(Pairs(*(growth * count for count in counts)))
            return Interval(-fall.high, -fall.low)
        before, after = ((growth * rate.passed, growth * rate.judged) for rate in (self.before, self.after))
        return newcombe(after, before)

    def decision(self, allow: float, growth: int = 1) -> Decision:
        """Return what the interval shows about a pass rate that may fall by `allow`."""
        if not self.before.judged or not self.after.judged:
            return "INCONCLUSIVE"
        interval = self._interval(growth)
        if interval.high < -allow:
            return "REGRESSION"
        if interval.low > 0:
            return "IMPROVED"
        return "PASS" if interval.low >= -allow else "INCONCLUSIVE"

    def runs_needed(self, allow: float) -> int | None:
        """Return about how many runs of each would decide with these rates; None if no usual number does."""
        low, high = 1, 2
        while high <= MOST_GROWTH and self.decision(allow, high) == "INCONCLUSIVE":
            low, high = high, high * 2
        if high > MOST_GROWTH:
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.decision(allow, middle) == "INCONCLUSIVE" else (low, middle)
        return high * max(self.before.judged, self.after.judged)

    def to_json(self) -> Record:
        return {
            "before": asdict(self.before),
            "after": asdict(self.after),
            "pairs": None if self.pairs is None else asdict(self.pairs),
            "difference": self.difference,
            "interval": asdict(self.interval),
        }


@frozen
class ConditionChange:
    """The pass rates under one condition, of the judged runs.

    `worst` and `best` count the inconclusive runs against the later version, and in favour of it.
    """

    condition: str
    judged: Change
    worst: Change
    best: Change
    left_out: int
    """How many runs are not judged on both sides, or have no counterpart that is."""

    def decision(self, allow: float) -> Decision:
        """Return the decision, which must not depend on how inconclusive runs would have ended."""
        decisions: set[Decision] = {change.decision(allow) for change in (self.judged, self.worst, self.best)}
        return decisions.pop() if len(decisions) == 1 else "INCONCLUSIVE"


@frozen
class Cell:
    """An expectation in the runs that met a fault. `fault` is "" for the runs that met none."""

    expectation: str
    fault: str
    change: Change

    def to_json(self) -> Record:
        return {"expectation": self.expectation, "fault": self.fault, **self.change.to_json()}


@frozen
class Comparison:
    """Two reports of one scenario, and how much the pass rate may fall, as a share."""

    before: RunsReport
    after: RunsReport
    allow: float
    conditions: Sequence[ConditionChange]
    """The conditions that count and that both reports have."""
    cells: Sequence[Cell]
    """The expectations by fault whose rates differ: falls first, the largest before others."""

    @property
    def decision(self) -> Decision:
        """The decision about all conditions: a regression under one of them is one."""
        severities = [_SEVERITY.index(condition.decision(self.allow)) for condition in self.conditions]
        return _SEVERITY[min(severities)] if severities else _UNDECIDED

    @property
    def is_paired(self) -> bool:
        return all(condition.judged.pairs is not None for condition in self.conditions)

    def to_json(self) -> Record:
        return {
            "scenario": self.before.scenario,
            "decision": self.decision,
            "allow": self.allow,
            "conditions": [
                {
                    "condition": condition.condition,
                    "decision": condition.decision(self.allow),
                    **condition.judged.to_json(),
                    "left_out": condition.left_out,
                    "runs_needed": condition.judged.runs_needed(self.allow),
                }
                for condition in self.conditions
            ],
            "cells": [cell.to_json() for cell in self.cells],
        }


def compare(before: RunsReport, after: RunsReport, allow: float) -> Comparison:
    """Compare two reports. Raises `UsageError` if they are not about the same scenario and conditions."""
    if before.scenario != after.scenario:
        raise UsageError(
            f"the reports are about different scenarios: {before.path} about {before.scenario!r}, "
            f"{after.path} about {after.scenario!r}"
        )
    if before.sha256 != after.sha256:
        raise UsageError(
            f"{before.path} and {after.path} were made with different versions of {before.scenario}; "
            "run both agents with the same scenario and the same mcp-sim"
        )
    if before.runs and after.runs and not {*before.counting} & {*after.counting}:
        raise UsageError(
            f"the reports have no condition in common: {before.path} has {', '.join(before.counting)}, "
            f"{after.path} has {', '.join(after.counting)}"
        )
    names = [name for name in before.counting if name in after.counting]
    conditions = [_condition(name, before.under(name), after.under(name)) for name in names]
    first, second = ([run for run in report.runs if run.condition in names] for report in (before, after))
    changed = [cell for cell in _cells(first, second) if cell.change.before.share != cell.change.after.share]
    cells = sorted(changed, key=lambda cell: (cell.change.difference > 0, -abs(cell.change.difference)))
    return Comparison(before, after, allow, conditions, cells)


Passed: TypeAlias = "Callable[[ReportedRun], bool | None]"  # whether a run passed, None if that is not known


def _passed(run: ReportedRun) -> bool | None:
    return run.outcome == "passed" if run.is_judged else None


def _passed_if(inconclusive: bool) -> Passed:
    return lambda run: inconclusive if run.outcome == "inconclusive" else _passed(run)


def _condition(name: str, before: Sequence[ReportedRun], after: Sequence[ReportedRun]) -> ConditionChange:
    judged = _change(before, after, _passed, _passed)
    worst = _change(before, after, _passed_if(True), _passed_if(False))
    best = _change(before, after, _passed_if(False), _passed_if(True))
    counted = judged.before.judged + judged.after.judged
    return ConditionChange(name, judged, worst, best, len(before) + len(after) - counted)


def _change(
    before: Iterable[ReportedRun], after: Iterable[ReportedRun], passed_before: Passed, passed_after: Passed
) -> Change:
    """Return the change of a pass rate: of pairs if both sides have the same runs, else of all runs."""
    first = {run.start: passed_before(run) for run in before}
    second = {run.start: passed_after(run) for run in after}
    if first.keys() == second.keys():
        both = [(first[start], second[start]) for start in first]
        pairs = [(was, now) for was, now in both if was is not None and now is not None]
        return Change(_rate(was for was, _ in pairs), _rate(now for _, now in pairs), Pairs.count(pairs))
    return Change(_rate(first.values()), _rate(second.values()))


def _rate(passed: Iterable[bool | None]) -> Rate:
    known = [value for value in passed if value is not None]
    return Rate(sum(known), len(known))


def _cells(before: Sequence[ReportedRun], after: Sequence[ReportedRun]) -> Iterator[Cell]:
    """Yield every expectation with every fault that runs met, and without faults."""
    faults = dict.fromkeys(fault for run in (*before, *after) for fault in sorted(run.faults))
    expectations = dict.fromkeys(name for run in (*before, *after) for name in run.verdicts)
    for name in expectations:
        for fault in (*faults, ""):
            first, second = (_rate(_verdicts(runs, name, fault)) for runs in (before, after))
            if first.judged or second.judged:
                yield Cell(name, fault, Change(first, second))


def _verdicts(runs: Collection[ReportedRun], expectation: str, fault: str) -> Iterator[bool | None]:
    """Yield whether an expectation passed in the runs that met a fault, None where it was not judged."""
    for run in runs:
        if fault in run.faults or (not fault and not run.faults):
            yield {"passed": True, "failed": False}.get(run.verdicts.get(expectation, ""))
