"""Random agents on shipped specs: nothing crashes, results conform to schemas, most calls succeed, ledgers replay."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.checker import Violation, judged, judged_tables
from support.checker.tables import Rows
from support.effort import WALKS
from support.long_walks import plans_json, rows_of, tools_of, unperturbed
from support.vendors import PLANNED_SCENARIOS, compiled
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.spec.sources import shipped
from mcp_sim.types import ToolResult
from mcp_sim.world.commits import replayed
from mcp_sim.world.world import World

SCENARIOS = sorted(shipped("scenarios"))
FAULTY = {"office", *(name for name in SCENARIOS if name.startswith("flaky_"))}
"""Scenarios with faults. Without them, each but the office is its calm one."""


async def walk(world: World, seed: int, calls: int) -> float:
    """Make calls and return the share that succeeded. Every success is validated against its outputSchema."""
    walker = Walker(tools_of(world), seed, world)
    succeeded = 0
    for _ in range(calls):
        tool, arguments = walker.call()
        observation = await world.call(tool.id, arguments)
        walker.learn(tool, arguments, observation)
        if observation.ok and tool.output_schema is not None:
            assert isinstance(observation.body, ToolResult)
            judge: Any = Draft202012Validator(tool.output_schema)
            judge.validate(observation.body.value)
        succeeded += observation.ok
    return succeeded / calls


def violations(world: World, start: Rows) -> tuple[Violation, ...]:
    """Return what is wrong in the ledger of a world: by the plans of its tools, or by the tables of its programs."""
    plans = plans_json(world.scenario.domain)
    if world.scenario.domain.programs:
        return judged_tables(world.ledger, plans, start).violations
    return judged(world.ledger, plans).violations


def test_only_these_scenarios_have_faults_and_without_them_they_are_the_calm_ones() -> None:
    assert {name for name in SCENARIOS if compiled(name).perturbations} == FAULTY
    for name in FAULTY - {"office"}:
        calm, faulty = compiled(name.replace("flaky_", "calm_")), compiled(name)
        assert (calm.domain.plans, calm.records, calm.now) == (faulty.domain.plans, faulty.records, faulty.now)


@pytest.mark.parametrize("seed", WALKS)
@pytest.mark.parametrize("name", [name for name in SCENARIOS if name == "office" or name not in FAULTY])
async def test_a_random_walk_without_faults_mostly_succeeds_and_replays(name: str, seed: int) -> None:
    simulator = Simulator(unperturbed(compiled(name)), ledger_keep=10_000)
    async with simulator.open(seed=seed) as world:
        start, rows = world.view, rows_of(world)
        share = await walk(world, seed, 150)
        assert violations(world, rows) == ()
        assert share >= 0.7 or name not in PLANNED_SCENARIOS
        rebuilt = replayed(start, world.ledger.steps)
        for entity in world.view.entities():
            assert list(rebuilt.rows(entity)) == list(world.view.rows(entity))


@pytest.mark.parametrize("seed", WALKS)
@pytest.mark.parametrize("name", sorted(FAULTY))
async def test_a_random_walk_with_faults_replays_and_no_fault_corrupts_the_world(name: str, seed: int) -> None:
    async with Simulator(compiled(name), ledger_keep=10_000).open(seed=seed) as world:
        start, rows = world.view, rows_of(world)
        await walk(world, seed, 150)
        assert violations(world, rows) == ()
        rebuilt = replayed(start, world.ledger.steps)
        for entity in world.view.entities():
            assert list(rebuilt.rows(entity)) == list(world.view.rows(entity))


PROGRAMS = [name for name in FAULTY if name not in PLANNED_SCENARIOS]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
async def test_a_walk_over_a_program_has_the_same_ledger_each_time(name: str) -> None:
    ledgers: list[list[Any]] = []
    for _ in range(2):
        async with Simulator(compiled(name), ledger_keep=10_000).open(seed=1) as world:
            await walk(world, 1, 60)
            ledgers.append([*world.ledger.steps])
    assert ledgers[0] == ledgers[1]
