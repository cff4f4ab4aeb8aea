"""What all reports show."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from mcp_sim import __version__
from mcp_sim.runs.results import OUTCOMES, Outcome, RunResult, exact, retry_sentence
from mcp_sim.runs.statistics import Interval
from mcp_sim.runs.summary import CRASHED, FAILED, PASSED, ConditionSummary, Cost, Met, Summary
from mcp_sim.types import Record
from mcp_sim.types.frozen import frozen
from mcp_sim.types.grades import GradedVerdict, failed_first, guessed_share
from mcp_sim.types.readable import percent
from mcp_sim.types.scenario import Scenario

FORMAT = 1  # the version of the JSON report

MOST_SEEDS = 12  # a line of the report
N = TypeVar("N", bound=str)

VERDICTS = ("passed", "failed", "vacuous", "inconclusive", "not judged")


@frozen
class Report:
    """A finished command. `planned` is the number of runs that were to be made; fewer if it was interrupted."""

    scenario: Scenario
    reference: str
    """The scenario as it was named on the command line."""
    agent: tuple[str, ...]
    results: Sequence[RunResult]
    summary: Summary
    require: float
    planned: int
    options: tuple[str, ...] = ()
    """The options that a command has to repeat, such as `--clock virtual`."""

    @property
    def exit_code(self) -> int:
        return self.summary.exit_code(self.require)

    @property
    def conclusion(self) -> str:
        """The verdict on the agent, and what of it is guessed, as sentences."""
        return " ".join([self._verdict, *guesses(self.results)])

    @property
    def _verdict(self) -> str:
        words = {PASSED: "passed", FAILED: "failed", CRASHED: "mcp-sim crashed"}
        word = words.get(self.exit_code, "undecided")
        if self.planned == 1 and self.results and self.results[0].outcome == "crashed":
            return f"{self.results[0].because}."
        if self.planned == 1 and self.results and self.results[0].has_passed == (self.exit_code == PASSED):
            return f"{word}: {self.results[0].because}."
        stopped = f" Stopped after {len(self.results)} of {self.planned} runs." if self.is_partial else ""
        return f"{word}: {'; '.join(map(self._rate, self.summary.counting)) or 'no run has finished'}.{stopped}"

    @property
    def is_partial(self) -> bool:
        return len(self.results) < self.planned

    def _rate(self, summary: ConditionSummary) -> str:
        name = f"{summary.condition.name}: " if len(self.summary.counting) > 1 else ""
        others = [f"{summary.counts[outcome]} {outcome}" for outcome in OUTCOMES[2:] if summary.counts[outcome]]
        beside = f" ({', '.join(others)})" if others else ""
        runs = f"{summary.judged} judged run{'' if summary.judged == 1 else 's'}"
        return f"{name}{summary.counts['passed']} of {runs} passed{beside}, {percent(self.require)} required"

    def repeat(self, result: RunResult) -> str:
        """Return the command that repeats a run."""
        condition = result.plan.condition
        options = ["--seeds", str(result.plan.seed)]
        if not condition.has_faults and self.summary_has_faults:
            options.append("--no-faults")
        if condition.intensity is not None:
            options += ["--intensity", exact(condition.intensity)]
        return shlex.join(["mcp-sim", "run", self.reference, *options, *self.options, "--", *self.agent])

    @property
    def summary_has_faults(self) -> bool:
        """Whether the scenario has faults that a run without them would lack."""
        return any(entry.enabled for entry in self.scenario.perturbations)

    def troubled(self, *outcomes: Outcome) -> list[RunResult]:
        return [result for result in self.results if result.outcome in outcomes]

    def to_json(self) -> Record:
        return {
            "format": FORMAT,
            "version": __version__,
            "scenario": self.scenario.name,
            "path": self.scenario.path,
            "sha256": self.scenario.sha256,
            "agent": list(self.agent),
            "require": self.require,
            "exit_code": self.exit_code,
            "conclusion": self.conclusion,
            "planned": self.planned,
            **self.summary.to_json(),
            "runs": [{**result.to_json(), "repeat": self.repeat(result)} for result in self.results],
        }


def guesses(results: Sequence[RunResult]) -> Iterator[str]:
    """Yield how many outcomes rest on a guess, and how many answers are guessed, as sentences."""
    unsure = sum(result.grade.guessed for result in results)
    if unsure and len(results) > 1:
        yield f"{unsure} of these outcomes {'rests' if unsure == 1 else 'rest'} on a guess."
    guessed, calls = (sum(getattr(result, name) for result in results) for name in ("guessed", "calls"))
    if guessed:
        yield guessed_share(guessed, calls)


def span(interval: Interval) -> str:
    return f"{100 * interval.low:.0f} to {100 * interval.high:.0f} %"


def cost_sentence(name: str, cost: Cost) -> str:
    pairs = cost.pairs
    verb = "cost" if pairs.difference >= 0 else "gained"
    interval = f"{100 * cost.interval.low:.0f} to {100 * cost.interval.high:.0f}"
    return (
        f"{name} {verb} {abs(100 * pairs.difference):.0f} points of the pass rate (95 % interval {interval}; "
        f"{pairs.total} pairs of one seed, of which {pairs.only_first} passed only without faults and "
        f"{pairs.only_second} only with them; McNemar p = {cost.p:.2g})"
    )


def cost_sentences(summary: Summary) -> list[str]:
    """Render what the faults of each condition cost, or with a baseline why that is not known."""
    clean = [condition for condition in summary.conditions if not condition.condition.has_faults]
    if clean and len(clean) < len(summary.conditions) and not summary.costs:
        idle, runs = clean[0].counts["not exercised"], clean[0].runs
        because = f": in {idle} of {runs} runs without faults, no expectation had anything to judge" if idle else ""
        return [f"What the faults cost is not known, since no seed has judged runs both with and without them{because}"]
    if not summary.is_estimated:
        return []
    return [
        cost_sentence("Faults" if name == "faults" else f"Faults at {name}", cost)
        for name, cost in summary.costs.items()
    ]


_DIFFERENCE = 0.1  # of pass rates


def needed_sentence(summary: Summary) -> str:
    """Render how many runs would show a difference; '' if that is not known."""
    runs = summary.runs_needed(_DIFFERENCE)
    if runs is None:
        return ""
    pairs = summary.pairs_needed(_DIFFERENCE)
    paired = f", or {pairs} pairs with and without faults" if pairs is not None else ""
    return f"To show a difference of {100 * _DIFFERENCE:.0f} points: {runs} runs of each of two agents{paired}"


def condition_table(summary: Summary) -> list[list[str]]:
    """Return the rows of the table of conditions, its head first. Outcomes that did not occur have no column."""
    outcomes = _occurring(OUTCOMES, [condition.counts for condition in summary.conditions])
    hats = [k for k in (2, 4, 8) if any(k in condition.pass_hat for condition in summary.conditions)]
    estimates = ["95 % interval", *(f"pass^{k}" for k in hats)] if summary.is_estimated else []
    head = ["condition", "runs", *outcomes, "pass rate", *estimates]
    return [head, *(_condition_row(condition, outcomes, hats)[: len(head)] for condition in summary.conditions)]


def _condition_row(condition: ConditionSummary, outcomes: Sequence[Outcome], hats: Sequence[int]) -> list[str]:
    return [
        condition.condition.name,
        str(condition.runs),
        *(str(condition.counts[outcome]) for outcome in outcomes),
        percent(condition.rate),
        span(condition.interval) if condition.judged else "-",
        *(percent(condition.pass_hat.get(k)) for k in hats),
    ]


def _occurring(outcomes: Sequence[N], counts: Sequence[Mapping[N, int]]) -> list[N]:
    """Return `passed` and `failed`, and the other outcomes that occur."""
    return [*outcomes[:2], *(outcome for outcome in outcomes[2:] if any(each.get(outcome) for each in counts))]


def fault_table(summary: Summary) -> list[list[str]]:
    has_costs, has_unknown = bool(summary.costs), any(fault.met.unknown for fault in summary.faults)
    head = ["fault", "kind", "runs that met it", "survived"]
    head += [*(["unknown"] if has_unknown else []), *(["cost where met"] if has_costs else [])]
    rows = [
        [
            fault.id,
            fault.kind,
            str(fault.met.met),
            str(fault.met.survived) if fault.met.met else "-",
            *([str(fault.met.unknown)] if has_unknown else []),
            *(["-" if fault.cost is None else f"{100 * fault.cost.pairs.difference:.0f} points"] if has_costs else []),
        ]
        for fault in summary.faults
    ]
    return [head, *rows] if rows else []


def expectation_table(summary: Summary) -> list[list[str]]:
    """Return the rows of the table of expectations, its head first. Outcomes that did not occur have no column."""
    outcomes = _occurring(VERDICTS, [*summary.expectations.values()])
    rows = [
        [name, *(str(counts.get(outcome, 0)) for outcome in outcomes)] for name, counts in summary.expectations.items()
    ]
    return [["expectation", *outcomes], *rows] if rows else []


def coverage_table(summary: Summary) -> list[list[str]]:
    """Return the rows of the table of tools by kinds of faults, `survived/met`, its head first."""
    kinds = sorted({kind for met in summary.coverage.values() for kind in met})
    rows = [
        [tool, *(_survived_of(met[kind]) if kind in met else "-" for kind in kinds)]
        for tool, met in summary.coverage.items()
    ]
    return [["tool (survived/met)", *kinds], *rows] if kinds else []


def _survived_of(met: Met) -> str:
    unknown = f" ({met.unknown} unknown)" if met.unknown else ""
    return f"{met.survived}/{met.met}{unknown}"


TABLES: Mapping[str, Callable[[Summary], list[list[str]]]] = {
    "Conditions": condition_table,
    "Expectations": expectation_table,
    "Faults": fault_table,
    "Coverage": coverage_table,
}
"""The tables of a report by title, each a function that returns rows."""


def sentences(summary: Summary) -> list[str]:
    """Render what the faults cost, how agents went on after them, and how many runs would show a difference."""
    retries = [retry_sentence(fault.id, fault.retries) for fault in summary.faults if fault.retries]
    needed = needed_sentence(summary) if summary.is_estimated else ""
    return [f"{sentence}." for sentence in (*cost_sentences(summary), *retries, needed) if sentence]


def groups(results: Sequence[RunResult]) -> list[list[RunResult]]:
    """Group runs that ended alike, in order of the first of each."""
    alike: dict[tuple[str, str, str], list[RunResult]] = {}
    for result in results:
        alike.setdefault((result.plan.condition.name, result.outcome, result.because), []).append(result)
    return list(alike.values())


def group_title(group: Sequence[RunResult]) -> str:
    """Render which runs a group has, and how they ended."""
    first = group[0]
    seeds = list(dict.fromkeys(str(result.plan.seed) for result in group))
    shown = ", ".join(seeds) if len(seeds) <= MOST_SEEDS else f"{', '.join(seeds[:MOST_SEEDS])}, ..."
    runs = f"{len(group)} runs, seeds" if len(seeds) > 1 else f"{len(group)} runs, seed" if len(group) > 1 else "seed"
    return f"{first.outcome} ({first.plan.condition.name}, {runs} {shown}): {first.because}"


def reasons(result: RunResult) -> list[str]:
    """Return why a run did not pass: the process, then each verdict that did not pass."""
    bad = [
        verdict
        for verdict in failed_first(result.grade.verdicts)
        if verdict.outcome not in ("passed", "vacuous") and not verdict.optional
    ]
    verdicts = [f"{verdict.id}: {verdict.because}{notes(verdict)}" for verdict in bad]
    return (
        list(dict.fromkeys([] if verdicts and result.outcome == result.grade.outcome else [result.because])) + verdicts
    )


def notes(verdict: GradedVerdict) -> str:
    """Render whether a verdict rests on a guess, and its options, in brackets."""
    names = [name for name in ("guessed", "gate", "optional") if getattr(verdict, name)]
    return f" ({', '.join(names)})" if names else ""
