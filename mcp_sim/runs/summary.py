"""Summarise runs: pass rates, the cost of faults, coverage, and whether the agent has passed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, field

from mcp_sim.runs.results import OUTCOMES, Condition, Outcome, RunResult, count_retries
from mcp_sim.runs.statistics import (
    Interval,
    Pairs,
    mcnemar,
    paired_interval,
    pairs_needed,
    pass_hat,
    runs_needed,
    wilson,
)
from mcp_sim.types import Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.scenario import Scenario

FEWEST = 4  # the fewest runs whose pass rate gets an interval: that of three is at least 56 points wide
PASS_HATS = range(1, 9)  # as tau-bench reports them
DIFFERENCES = (0.05, 0.1, 0.2)
"""The differences of pass rates for which the necessary runs are reported. What a team may want to tell apart: a
regression of 5, 10 or 20 points."""

JUDGED = ("passed", "failed")
PASSED, FAILED, CRASHED, UNDECIDED = 0, 1, 3, 4  # 2 is argparse's for wrong arguments


@frozen
class ConditionSummary:
    """The runs of one condition."""

    condition: Condition
    counts: Mapping[Outcome, int]
    pass_hat: Mapping[int, float]
    """By k. With repetitions, each seed is a task; without, the runs of all seeds are those of one task."""

    @property
    def runs(self) -> int:
        return sum(self.counts.values())

    @property
    def judged(self) -> int:
        return self.counts["passed"] + self.counts["failed"]

    @property
    def rate(self) -> float | None:
        """The pass rate of the judged runs."""
        return self.counts["passed"] / self.judged if self.judged else None

    @property
    def interval(self) -> Interval:
        return wilson(self.counts["passed"], self.judged)

    def exit_code(self, require: float) -> int:
        """Return PASSED, FAILED, or UNDECIDED if no run was judged, or it depends on inconclusive runs."""
        if not self.judged:
            return UNDECIDED
        possible = self.judged + self.counts["inconclusive"]
        needed = require * possible - 1e-9
        if self.counts["passed"] >= needed:
            return PASSED
        return FAILED if possible - self.counts["failed"] < needed else UNDECIDED

    def to_json(self) -> Record:
        return {
            "condition": self.condition.name,
            "intensity": self.condition.intensity,
            "runs": self.runs,
            **{outcome.replace(" ", "_"): self.counts[outcome] for outcome in OUTCOMES},
            "pass_rate": self.rate,
            "interval": asdict(self.interval),
            "pass_hat": {str(k): share for k, share in self.pass_hat.items()},
        }


@frozen
class Cost:
    """What faults cost, by runs of one seed with and without them."""

    pairs: Pairs

    @property
    def interval(self) -> Interval:
        return paired_interval(self.pairs)

    @property
    def p(self) -> float:
        return mcnemar(self.pairs)

    def to_json(self) -> Record:
        pairs = {
            "both": self.pairs.both,
            "only_clean": self.pairs.only_first,
            "only_faulted": self.pairs.only_second,
            "neither": self.pairs.neither,
        }
        return {"pairs": pairs, "cost": self.pairs.difference, "interval": asdict(self.interval), "p": self.p}


@frozen
class Met:
    """How many judged runs met something, how many of them survived it, and of how many that is not known."""

    met: int = 0
    survived: int = 0
    unknown: int = 0

    @classmethod
    def count(cls, survived: Collection[bool | None]) -> Met:
        """Count runs by whether they survived it, None if that is not known."""
        values = [*survived]
        return cls(len(values), values.count(True), values.count(None))


@frozen
class FaultSummary:
    """A fault: how many judged runs met it and survived it, and with a baseline what all faults cost these runs."""

    id: str
    kind: str
    met: Met
    cost: Cost | None = None
    retries: Counter[str] = field(default_factory=Counter[str])
    """What followed the calls that failed by it, in all runs."""

    def to_json(self) -> Record:
        cost = None if self.cost is None else self.cost.to_json()
        retries = {how.replace(" ", "_"): count for how, count in self.retries.items()}
        return {"id": self.id, "kind": self.kind, **asdict(self.met), "cost": cost, "retries": retries}


@frozen
class Summary:
    """All runs of a command."""

    conditions: tuple[ConditionSummary, ...]
    expectations: Mapping[str, Mapping[str, int]]
    """Verdicts by expectation and outcome, of runs under the conditions that count."""
    costs: Mapping[str, Cost]
    """By condition with faults; empty without a baseline."""
    faults: tuple[FaultSummary, ...]
    coverage: Mapping[str, Mapping[str, Met]]
    """By tool, in order of the scenario, then by kind of fault. A tool that was never called is missing."""

    @property
    def counting(self) -> list[ConditionSummary]:
        """The conditions that the agent is judged by: those with faults, or all if none has."""
        return [condition for condition in self.conditions if condition.condition.has_faults] or [*self.conditions]

    @property
    def is_estimated(self) -> bool:
        """Whether some condition has so many runs that intervals and tests say anything."""
        return any(condition.runs >= FEWEST for condition in self.conditions)

    def exit_code(self, require: float) -> int:
        """Return 0 if every condition reaches the pass rate, else 1; 3 after a crash; 4 if that is not known."""
        if any(condition.counts["crashed"] for condition in self.conditions):
            return CRASHED
        codes = {condition.exit_code(require) for condition in self.counting}
        return next((code for code in (FAILED, UNDECIDED, PASSED) if code in codes), UNDECIDED)

    def to_json(self) -> Record:
        return {
            "conditions": [condition.to_json() for condition in self.conditions],
            "expectations": {name: dict(counts) for name, counts in self.expectations.items()},
            "costs": {name: cost.to_json() for name, cost in self.costs.items()},
            "faults": [fault.to_json() for fault in self.faults],
            "coverage": {
                tool: {kind: asdict(met) for kind, met in kinds.items()} for tool, kinds in self.coverage.items()
            },
            "runs_needed": [self._needed(difference) for difference in DIFFERENCES],
        }

    def _needed(self, difference: float) -> Record:
        """Return how many runs of each of two agents, and how many pairs, would show a difference."""
        return {
            "difference": difference,
            "runs_of_each": self.runs_needed(difference),
            "pairs": self.pairs_needed(difference),
        }

    def runs_needed(self, difference: float) -> int | None:
        """Return how many runs of each would show that another agent's pass rate differs so much from this one's."""
        rates = [condition.rate for condition in self.counting if condition.rate is not None]
        if not rates:
            return None
        rate = sum(rates) / len(rates)
        return runs_needed(rate, rate - difference if rate >= difference else rate + difference)

    def pairs_needed(self, cost: float) -> int | None:
        """Return how many pairs would show such a cost of the faults, if as many pairs differ as did here."""
        pairs = [cost.pairs for cost in self.costs.values()]
        total = sum(each.total for each in pairs)
        differing = sum(each.only_first + each.only_second for each in pairs)
        return pairs_needed(cost, differing / total) if total else None


def summarise(scenario: Scenario, results: Sequence[RunResult]) -> Summary:
    by_condition = defaultdict[Condition, list[RunResult]](list)
    for result in results:
        by_condition[result.plan.condition].append(result)
    counted = [result for result in results if result.plan.condition.has_faults] or [*results]
    # The judged runs with faults, each with the judged run without faults of its seed and repetition.
    clean = {
        (result.plan.seed, result.plan.repetition): result
        for result in results
        if result.is_judged and not result.plan.condition.has_faults
    }
    faulted = [result for result in results if result.is_judged and result.plan.condition.has_faults]
    ends = [(clean.get((result.plan.seed, result.plan.repetition)), result) for result in faulted]
    pairs, judges = [(first, second) for first, second in ends if first is not None], _judges(scenario)
    counts_by_id: dict[str, dict[str, int]] = {}
    for result in counted:
        for verdict in result.grade.verdicts:
            counts = counts_by_id.setdefault(verdict.id, {})
            counts[verdict.outcome] = counts.get(verdict.outcome, 0) + 1
    return Summary(
        conditions=tuple(_condition(condition, runs) for condition, runs in by_condition.items()),
        expectations=counts_by_id,
        costs=_costs(pairs),
        faults=tuple(
            _fault(entry.id, entry.kind, counted, pairs, judges) for entry in scenario.perturbations if entry.enabled
        ),
        coverage=_coverage(counted, scenario.domain.tools, judges),
    )


def _condition(condition: Condition, results: Sequence[RunResult]) -> ConditionSummary:
    counts: dict[Outcome, int] = {outcome: sum(result.outcome == outcome for result in results) for outcome in OUTCOMES}
    tasks = defaultdict[int, list[bool]](list)
    is_repeated = any(result.plan.repetition > 1 for result in results)
    for result in results:
        if result.is_judged:
            tasks[result.plan.seed if is_repeated else 0].append(result.has_passed)
    trials = [(sum(passed), len(passed)) for passed in tasks.values()]
    shares = {k: pass_hat(k, trials) for k in PASS_HATS}
    return ConditionSummary(condition, counts, {k: share for k, share in shares.items() if share is not None})


def _costs(pairs: Iterable[tuple[RunResult, RunResult]]) -> dict[str, Cost]:
    passed = defaultdict[str, list[tuple[bool, bool]]](list)
    for clean, faulted in pairs:
        passed[faulted.plan.condition.name].append((clean.has_passed, faulted.has_passed))
    return {name: Cost(Pairs.count(pairs)) for name, pairs in passed.items()}


def _judges(scenario: Scenario) -> dict[str, set[str]]:
    """Return the ids of the expectations about each fault, such as `recovered`."""
    ids = defaultdict[str, set[str]](set)
    for entry in scenario.expectations:
        fault = getattr(entry.expectation, "perturbation", None)
        if fault is not None:
            ids[fault].add(entry.id)
    return ids


def survived(result: RunResult, fault: str, judges: Mapping[str, Collection[str]]) -> bool | None:
    """Whether a run coped with a fault: by the expectations about it, or if none was judged, by the whole run.

    None if that is not known: no expectation is about the fault, and one about another fault failed.
    """
    verdicts = _verdicts_about(result, judges.get(fault, ()))
    if verdicts:
        return all(verdicts)
    others = {name for name in judges if name != fault and _met(result, name)}
    fails_another = any(not all(_verdicts_about(result, judges[name])) for name in others)
    return None if fails_another else result.has_passed


def _verdicts_about(result: RunResult, ids: Collection[str]) -> list[bool]:
    """Return which of the expectations with these ids passed, without those that were not judged."""
    return [
        verdict.outcome == "passed"
        for verdict in result.grade.verdicts
        if verdict.id in ids and verdict.outcome in JUDGED
    ]


def _fault(
    name: str,
    kind: str,
    results: Sequence[RunResult],
    pairs: Iterable[tuple[RunResult, RunResult]],
    judges: Mapping[str, Collection[str]],
) -> FaultSummary:
    met = [survived(result, name, judges) for result in results if result.is_judged and _met(result, name)]
    paired = [(clean.has_passed, faulted.has_passed) for clean, faulted in pairs if _met(faulted, name)]
    retries = count_retries((retry for result in results for retry in result.retries), name)
    return FaultSummary(name, kind, Met.count(met), Cost(Pairs.count(paired)) if paired else None, retries)


def _met(result: RunResult, fault: str) -> bool:
    return any(applied.id == fault for applied in result.faults)


def _coverage(
    results: Iterable[RunResult], tools: Iterable[str], judges: Mapping[str, Collection[str]]
) -> dict[str, dict[str, Met]]:
    """Return by tool and kind of fault how many judged runs met it, and how many of them survived it."""
    called, places = set[str](), defaultdict[tuple[str, str], list[bool | None]](list)
    for result in results:
        called |= {*result.tools}
        met = defaultdict[tuple[str, str], list[bool | None]](list)
        for fault in result.faults if result.is_judged else ():
            if fault.tool is not None:
                met[fault.tool, fault.kind].append(survived(result, fault.id, judges))
        for place, each in met.items():
            # Whether all faults were survived: None if that is not known of one, and none was not.
            places[place].append(False if False in each else None if None in each else True)
    order = [tool for tool in tools if tool in called]
    return {
        tool: {kind: Met.count(each) for (name, kind), each in sorted(places.items()) if name == tool} for tool in order
    }
