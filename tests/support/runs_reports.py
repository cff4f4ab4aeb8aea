"""Reports of runs, made without running an agent."""

from __future__ import annotations

from mcp_sim.runs.reports.report import Report
from mcp_sim.runs.results import Condition, Outcome, RunPlan, RunResult
from mcp_sim.runs.summary import summarise
from mcp_sim.simulator.compile import load
from mcp_sim.types.grades import Grade, GradedVerdict

FAULTS = Condition("faults")


def result(
    outcome: Outcome,
    seed: int,
    because: str = "one-deal failed",
    errors: str = "",
    calls: int = 1,
    guessed: int = 0,
    *,
    rests_on_guess: bool = False,
) -> RunResult:
    because_of = "2 records | <b>fit</b>, `expected` 1"
    verdict = GradedVerdict("one-deal", "state", "failed", because_of, guessed=rests_on_guess)
    return RunResult(
        plan=RunPlan(FAULTS, seed),
        outcome=outcome,
        because=because,
        grade=Grade((verdict,), outcome, None, because, "", guessed=rests_on_guess),
        faults=(),
        called=("create_deal",) * calls,
        seconds=1.0,
        exit_code=0 if outcome == "passed" else 1,
        answer="",
        errors=errors,
        guessed=guessed,
    )


def report(*results: RunResult, planned: int | None = None) -> Report:
    scenario = load("flaky_crm")
    summary = summarise(scenario, results)
    return Report(scenario, "flaky_crm", ("my agent", "{url}"), results, summary, 1.0, planned or len(results))
