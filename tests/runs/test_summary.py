"""Whether an agent passes, by its pass rate, and what its runs have in common."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from mcp_sim.runs.reports.report import coverage_table, fault_table, sentences
from mcp_sim.runs.results import AppliedFault, Condition, Outcome, RunPlan, RunResult
from mcp_sim.runs.statistics import Pairs
from mcp_sim.runs.summary import Met, summarise
from mcp_sim.simulator.compile import load
from mcp_sim.types.grades import Grade, GradedVerdict

CLEAN = Condition("clean", has_faults=False)
FAULTS = Condition("faults")


def result(
    outcome: Outcome,
    seed: int = 0,
    condition: Condition = FAULTS,
    repetition: int = 1,
    faults: Sequence[AppliedFault] = (),
    verdicts: Sequence[GradedVerdict] = (),
) -> RunResult:
    return RunResult(
        plan=RunPlan(condition, seed, repetition),
        outcome=outcome,
        because="because",
        grade=Grade(tuple(verdicts), outcome, None, "", ""),
        faults=tuple(faults),
        called=("update_deal", "create_deal"),
        seconds=1.0,
        exit_code=0,
        answer="",
        errors="",
    )


def results(*outcomes: Outcome, condition: Condition = FAULTS) -> list[RunResult]:
    return [result(outcome, seed, condition) for seed, outcome in enumerate(outcomes)]


@pytest.mark.parametrize(
    ("outcomes", "require", "code"),
    [
        (["passed", "passed"], 1.0, 0),
        (["passed", "failed"], 1.0, 1),
        (["passed"] * 9 + ["failed"], 0.9, 0),
        (["passed"] * 8 + ["failed"] * 2, 0.9, 1),
        (["passed", "not exercised"], 1.0, 0),
        (["not exercised", "not exercised"], 1.0, 4),
        (["passed", "inconclusive"], 1.0, 4),
        (["passed", "inconclusive"], 0.5, 0),
        (["failed", "inconclusive"], 1.0, 1),
        (["passed", "crashed"], 1.0, 3),
        (["failed", "crashed"], 1.0, 3),
        ([], 1.0, 4),
    ],
)
def test_an_agent_passes_if_enough_of_the_judged_runs_do(outcomes: list[Outcome], require: float, code: int) -> None:
    assert summarise(load("flaky_crm"), results(*outcomes)).exit_code(require) == code


def test_runs_without_faults_count_only_where_there_are_no_others() -> None:
    clean = results("failed", "failed", condition=CLEAN)
    assert summarise(load("flaky_crm"), clean).exit_code(1) == 1
    assert summarise(load("flaky_crm"), [*clean, *results("passed", "passed")]).exit_code(1) == 0


def test_every_condition_must_reach_the_pass_rate() -> None:
    mild, hard = Condition("intensity 0.3", 0.3), Condition("intensity 1", 1.0)
    runs = [*results("passed", "passed", condition=mild), *results("passed", "failed", condition=hard)]
    assert summarise(load("flaky_crm"), runs).exit_code(0.9) == 1


@pytest.mark.parametrize(("hard", "code"), [("passed", 4), ("failed", 1)])
def test_a_condition_without_any_judged_run_is_undecided(hard: Outcome, code: int) -> None:
    runs = results("not exercised", "not exercised", condition=Condition("intensity 0.1", 0.1))
    runs += results(hard, hard, condition=Condition("intensity 1", 1.0))
    assert summarise(load("flaky_crm"), runs).exit_code(1) == code


def test_conditions_of_different_intensities_have_different_names() -> None:
    names = [Condition.at(intensity).name for intensity in (0.0, 0.1234567, 0.1234568, 1.0)]
    assert names == ["intensity 0", "intensity 0.1234567", "intensity 0.1234568", "intensity 1"]


def test_pass_hat_takes_the_seeds_as_tasks_if_runs_are_repeated() -> None:
    outcomes: list[list[Outcome]] = [["passed", "passed"], ["failed", "failed"]]
    repeated = [result(one, seed, repetition=at + 1) for seed, two in enumerate(outcomes) for at, one in enumerate(two)]
    (condition,) = summarise(load("flaky_crm"), repeated).conditions
    assert condition.pass_hat == {1: 0.5, 2: 0.5}
    (condition,) = summarise(load("flaky_crm"), results("passed", "passed", "failed", "failed")).conditions
    assert condition.pass_hat == {1: 0.5, 2: pytest.approx(1 / 6), 3: 0, 4: 0}


def test_only_judged_runs_of_one_seed_and_repetition_are_paired() -> None:
    clean = results("passed", "passed", "passed", "crashed", condition=CLEAN)
    faulted = results("passed", "failed", "not exercised", "failed", "failed")
    cost = summarise(load("flaky_crm"), [*clean, *faulted]).costs["faults"]
    assert (cost.pairs.both, cost.pairs.only_first, cost.pairs.total) == (1, 1, 2)


def test_the_report_says_why_a_baseline_has_nothing_to_compare() -> None:
    clean = results("not exercised", "not exercised", condition=CLEAN)
    said = " ".join(sentences(summarise(load("flaky_crm"), [*clean, *results("passed", "failed")])))
    assert "in 2 of 2 runs without faults, no expectation had anything to judge" in said
    assert "not known" not in " ".join(sentences(summarise(load("flaky_crm"), results("passed", "failed"))))


def test_a_fault_is_survived_if_the_expectation_about_it_passed_else_if_the_run_did() -> None:
    lost = AppliedFault("lost-deal", "lost_ack", "create_deal", 1)
    busy = AppliedFault("busy-backend", "error", "update_deal", 2)
    verdict = GradedVerdict("recovered-deal", "recovered", "passed", "")
    found = summarise(load("flaky_crm"), [result("failed", faults=[lost, busy], verdicts=[verdict])])
    assert [(fault.id, fault.met) for fault in found.faults] == [("lost-deal", Met(1, 1)), ("busy-backend", Met(1, 0))]
    assert found.coverage == {"create_deal": {"lost_ack": Met(1, 1)}, "update_deal": {"error": Met(1, 0)}}


def test_a_fault_is_not_blamed_for_what_another_one_cost() -> None:
    lost = AppliedFault("lost-deal", "lost_ack", "create_deal", 1)
    busy = AppliedFault("busy-backend", "error", "update_deal", 2)
    verdict = GradedVerdict("recovered-deal", "recovered", "failed", "")
    found = summarise(load("flaky_crm"), [result("failed", faults=[lost, busy], verdicts=[verdict])])
    unknown = Met(1, 0, unknown=1)
    assert [(fault.id, fault.met) for fault in found.faults] == [("lost-deal", Met(1, 0)), ("busy-backend", unknown)]
    assert found.coverage["update_deal"] == {"error": unknown}
    assert fault_table(found)[2] == ["busy-backend", "error", "1", "0", "1"]
    assert coverage_table(found)[1:] == [["create_deal", "-", "0/1"], ["update_deal", "0/1 (1 unknown)", "-"]]


def test_the_cost_of_a_fault_compares_whole_runs_with_and_without_it() -> None:
    lost = AppliedFault("lost-deal", "lost_ack", "create_deal", 1)
    coped = GradedVerdict("recovered-deal", "recovered", "passed", "")
    clean = result("failed", condition=CLEAN)
    (fault, *_) = summarise(load("flaky_crm"), [clean, result("failed", faults=[lost], verdicts=[coped])]).faults
    assert (fault.met.survived, fault.cost and fault.cost.pairs) == (1, Pairs(neither=1))
