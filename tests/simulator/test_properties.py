"""Properties of any tool list: forks repeat, ledgers replay, most calls of a plausible agent succeed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from support.strategies import scenarios
from support.walking import Walker

from mcp_sim import Simulator
from mcp_sim.types import Tool
from mcp_sim.types.kinds import perturbations, triggers
from mcp_sim.types.scenario import PerturbationEntry, Scenario, When
from mcp_sim.world.commits import replayed
from mcp_sim.world.world import World

Calls = list[tuple[str, dict[str, Any]]]


def faulty(scenario: Scenario) -> Scenario:
    """Return the scenario with faults of every stage that writes, answers or delays."""
    coin = When((triggers["probability"].model_validate(0.3),))
    entries = [
        PerturbationEntry(kind, kind, perturbations[kind].model_validate(options), when=coin)
        for kind, options in (("lost_ack", {}), ("error", {"status": 500}), ("latency", {"min": "1s", "max": "5s"}))
    ]
    return replace(scenario, perturbations=tuple(entries))


def tools_of(world: World) -> list[Tool]:
    return [tool for server in world.scenario.servers for tool in world.catalogue(server)]


async def make_random_calls(world: World, walker: Walker, calls: int) -> tuple[Calls, int]:
    """Make calls of a random agent. Return them, and how many succeeded."""
    made: Calls = []
    succeeded = 0
    for _ in range(calls):
        tool, arguments = walker.call()
        observation = await world.call(tool.id, arguments)
        walker.learn(tool, arguments, observation)
        made.append((tool.id, arguments))
        succeeded += observation.ok
    return made, succeeded


@given(scenarios(), st.integers(0, 999))
async def test_a_fork_that_gets_the_same_calls_takes_the_same_steps(scenario: Scenario, seed: int) -> None:
    async with Simulator(faulty(scenario)).open() as world:
        walker = Walker(tools_of(world), seed)
        await make_random_calls(world, walker, 10)
        fork = world.fork()
        made, _ = await make_random_calls(world, walker, 20)
        for tool, arguments in made:
            await fork.call(tool, arguments)
        assert fork.ledger.steps == world.ledger.steps
        assert [list(fork.view.rows(entity)) for entity in fork.view.entities()] == [
            list(world.view.rows(entity)) for entity in world.view.entities()
        ]


@given(scenarios(), st.integers(0, 999))
async def test_replaying_the_committed_changes_of_the_ledger_yields_the_state(scenario: Scenario, seed: int) -> None:
    async with Simulator(faulty(scenario)).open() as world:
        start = world.view
        await make_random_calls(world, Walker(tools_of(world), seed), 40)
        rebuilt = replayed(start, world.ledger.steps)
        for entity in {*world.view.entities(), *rebuilt.entities()}:
            assert list(rebuilt.rows(entity)) == list(world.view.rows(entity))


def test_most_calls_of_a_plausible_agent_succeed_on_generated_services() -> None:
    shares: list[float] = []

    async def walk(scenario: Scenario, seed: int) -> None:
        async with Simulator(scenario).open() as world:
            _, succeeded = await make_random_calls(world, Walker(tools_of(world), seed), 60)
            shares.append(succeeded / 60)

    @settings(derandomize=True, database=None)
    @given(scenarios(), st.integers(0, 999))
    def walks(scenario: Scenario, seed: int) -> None:
        asyncio.run(walk(scenario, seed))

    walks()
    assert sum(shares) / len(shares) >= 0.7
