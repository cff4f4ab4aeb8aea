"""outage: the backend is down for a while, and comes back gradually."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.types.kinds import perturbations
from mcp_sim.world.world import World

ADA = {"contact_id": "con_00001"}
SPRING = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
Crm = Callable[[str], Simulator]


async def answered(world: World, calls: int) -> str:
    """Return a sign per call: `+` answered, `-` refused. The n-th call is made n seconds after the world's start."""
    return "".join(["+" if (await world.call("get_contact", ADA)).ok else "-" for _ in range(calls)])


async def test_nothing_is_let_through_while_it_lasts_by_the_clock(crm: Crm) -> None:
    async with crm("perturbations: [{outage: {start: 3s, lasts: 4s}, id: down}]").open() as world:
        assert await answered(world, 9) == "++----+++"
        steps = world.ledger.steps[1:]
        assert [step["truth"] is None for step in steps] == [letter == "-" for letter in "++----+++"]
        assert [d["outcome"] for step in steps for d in step["perturbations"]] == [
            "applied" if letter == "-" else "no_effect" for letter in "++----+++"
        ]


async def test_a_refused_call_commits_nothing(crm: Crm) -> None:
    async with crm("perturbations: [{outage: 1h}]").open() as world:
        observation = await world.call("create_deal", SPRING)
        assert observation.body == ToolResult("503 Service Unavailable", form="text", is_error=True)
        assert not world.view.find("deal", "title", "Spring order")


async def test_it_comes_again_and_again(crm: Crm) -> None:
    async with crm("perturbations: [{outage: {lasts: 2s, start: 1s, every: 5s}}]").open() as world:
        assert await answered(world, 12) == "--+++--+++--"


async def test_in_recovery_more_and_more_is_let_through_drawn_by_seed(crm: Crm) -> None:
    simulator = crm("perturbations: [{outage: {lasts: 5s, recovery: 200s}, id: down}]")

    async def run(seed: int) -> str:
        async with simulator.open(seed=seed) as world:
            return await answered(world, 215)

    first = await run(1)
    assert first[:4] == "----"
    assert first[205:] == "+" * 10
    early, late = first[4:104].count("+"), first[104:204].count("+")
    assert 10 <= early <= 42
    assert 58 <= late <= 90
    assert await run(1) == first
    assert await run(2) != first


async def test_the_agent_is_shown_when_it_ends_and_a_call_made_then_is_let_through(crm: Crm) -> None:
    async with crm("perturbations: [{outage: {lasts: 10s, announce_end: true}}]").open() as world:
        observation = await world.call("get_contact", ADA)
        shown = "503 Service Unavailable; try again in 9 s"
        assert observation.body == ToolResult(shown, form="text", is_error=True)
        world.clock.advance(timedelta(seconds=8))
        assert await answered(world, 1) == "+"


@pytest.mark.parametrize(
    "options",
    [
        None,
        "0s",
        {"lasts": "10s", "every": "5s"},
        {"lasts": "10s", "recovery": "5s", "every": "12s"},
        {"lasts": "10s", "status": 404},
        {"lasts": 10},
    ],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["outage"].model_validate(options)
