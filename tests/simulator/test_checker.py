"""The independent checker of walks: it reports each broken rule, and nothing if no rule is broken."""

from __future__ import annotations

import ast
import subprocess

import pytest
from support.checker import Report, judged
from support.long_walks import plans_json, tools_of, unperturbed
from support.places import ROOT, SUPPORT
from support.walking import Walker
from support.warm import PYTHON
from support.wrong_worlds import MUTANTS, unchecked, with_mutant

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types.scenario import Scenario

CALLS = 300


async def report_on(scenario: Scenario, calls: int = CALLS) -> Report:
    """Return the checker's report on a walk over a scenario."""
    async with Simulator(scenario, ledger_keep=2 * calls).open() as world:
        walker = Walker(tools_of(world), 1, world)
        for _ in range(calls):
            tool, arguments = walker.call()
            walker.learn(tool, arguments, await world.call(tool.id, arguments))
        return judged(world.ledger, plans_json(scenario.domain))


def calm_crm() -> Scenario:
    return unperturbed(load("calm_crm"))


def test_the_checker_imports_nothing_of_the_product() -> None:
    for path in (SUPPORT / "checker").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.split(".")[0] == "mcp_sim"], path


async def test_the_unmutated_product_violates_nothing() -> None:
    report = await report_on(calm_crm())
    assert report.violations == ()
    assert report.calls == CALLS
    assert report.succeeded > 0.7 * CALLS


@pytest.mark.parametrize("rule", MUTANTS)
async def test_a_mutant_that_breaks_one_rule_is_caught_under_that_rule(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    unchecked(monkeypatch)
    report = await report_on(with_mutant(calm_crm(), MUTANTS[rule]()))
    assert report.by_rule[rule] > 0, report.by_rule
    assert report.per_thousand >= 2


async def test_a_mutant_without_mutations_violates_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    unchecked(monkeypatch)
    report = await report_on(with_mutant(calm_crm(), lambda _turn, _plan, transition: transition))
    assert report.violations == ()


def test_the_benchmark_of_walks_prints_a_row_for_each_document_and_one_for_all() -> None:
    root = ROOT
    command = [PYTHON, str(root / "benchmarks" / "walks.py"), "--calls", "60", "calm_crm", "calm_chat"]
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env={"PYTHONPATH": str(root), "PATH": ""}
    )
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("calm_", "all "))]
    assert [row[0] for row in rows] == ["calm_crm", "calm_chat", "all"]
    assert [row[3] for row in rows] == ["60", "60", "120"]
