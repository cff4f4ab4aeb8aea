"""Every shipped scenario is proved: who loses or doubles an effect of the golden run does not pass."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.effort import SEEDS
from support.mutants import ON_SCREENS, USUAL, Row, made, mutants, played, table
from support.vendors import GRADED_SCENARIOS, compiled

from mcp_sim import Simulator

ROOT = Path(__file__).parents[2]
ON_A_SCREEN = ("flaky_desktop", "flaky_phone", "flaky_web_shop")


@pytest.mark.parametrize("name", GRADED_SCENARIOS)
async def test_careful_agents_pass_and_no_other_agent_and_no_mutant_does(name: str) -> None:
    rows = await table(name, seed=0)
    assert not [str(row) for row in rows if row.is_deviation]
    assert {verdict.outcome for verdict in rows[0].run.grade.verdicts} == {"passed"}, (
        "an expectation that judges nothing"
    )
    assert any(row.agent.startswith("repeats write") for row in rows) or not _writes(rows)
    if compiled(name).perturbations:
        assert any(row.agent.startswith("stops") for row in rows)


def _writes(rows: list[Row]) -> bool:
    return any(step["committed"] for row in rows[:1] for step in row.run.steps)


@pytest.mark.parametrize("name", ON_A_SCREEN)
async def test_agents_that_do_not_see_what_a_screen_shows_do_not_reach_the_goal(name: str) -> None:
    rows = [row for row in await table(name, seed=0) if row.agent.startswith(USUAL)]
    assert len(rows) >= 2
    for row in rows:
        outcomes = [verdict.outcome for verdict in row.run.grade.verdicts if verdict.kind == "state"]
        assert "failed" in outcomes, str(row)


def test_each_fault_of_screens_is_in_a_shipped_scenario() -> None:
    assert {*ON_SCREENS} <= {entry.kind for name in ON_A_SCREEN for entry in compiled(name).perturbations}


@pytest.mark.parametrize("name", GRADED_SCENARIOS)
async def test_the_golden_agent_meets_what_it_is_judged_by_and_passes_with_any_seed(name: str) -> None:
    async with Simulator(compiled(name)) as simulator:
        for seed in SEEDS:
            verdicts = (await played(simulator, "golden", seed)).grade.verdicts
            failed = [verdict for verdict in verdicts if verdict.outcome != "passed"]
            # whether a call fails twice, so that its retries have a pace, depends on the seed
            assert [verdict for verdict in failed if verdict.kind != "paced" or verdict.outcome == "failed"] == [], seed


async def test_a_scenario_without_the_expectation_lets_the_mutant_pass(tmp_path: Path) -> None:
    text = (ROOT / "scenarios" / "flaky_crm.yaml").read_text(encoding="utf-8")
    weak = re.sub(r"(?s)expect:.*", "expect: [{called: create_deal}]\n", text)
    (tmp_path / "weak.yaml").write_text(weak, encoding="utf-8")
    async with Simulator.load(tmp_path / "weak.yaml") as simulator:
        golden = await played(simulator, "golden", 0)
        runs = [await made(simulator, 0, calls, golden.answer) for _, calls in mutants(golden)]
    assert any(run.left != golden.left and run.grade.outcome == "passed" for run in runs)
