"""latency: the answer is delivered later, in world time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.extensions import perturbations

ADA = {"contact_id": "con_00001"}
SPRING = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
Crm = Callable[[str], Simulator]


async def delays(simulator: Simulator, calls: int, seed: int = 1) -> list[timedelta]:
    async with simulator.open(seed=seed) as world:
        return [(await world.call("get_contact", ADA)).delay for _ in range(calls)]


async def test_a_constant_latency_delays_each_answer_and_leaves_it_as_it_is(crm: Crm) -> None:
    async with crm("perturbations: [{latency: 2s, tools: create_deal}]").open() as world:
        made = await world.call("create_deal", SPRING)
        assert made.ok
        assert made.delay == timedelta(seconds=2)
        assert len(world.view.find("deal", "title", "Spring order")) == 1
        assert (await world.call("get_contact", ADA)).delay == timedelta(0)
        steps = world.ledger.steps
        assert steps[1]["served"]["delay_ms"] == 2000
        assert [decided["outcome"] for decided in steps[1]["perturbations"]] == ["applied"]


async def test_the_virtual_clock_moves_by_the_delay(crm: Crm) -> None:
    async with crm("perturbations: [{latency: 1h}]").open() as world:
        await world.call("get_contact", ADA)
        assert world.clock.elapsed() == timedelta(hours=1, seconds=1)


async def test_a_drawn_latency_lies_evenly_between_its_bounds_and_repeats_with_the_seed(crm: Crm) -> None:
    simulator = crm("perturbations: [{latency: {min: 200ms, max: 3s}, id: slow}]")
    drawn = await delays(simulator, 200)
    assert timedelta(milliseconds=200) <= min(drawn) < timedelta(milliseconds=400)
    assert timedelta(milliseconds=2800) < max(drawn) < timedelta(seconds=3)
    assert abs(sum(drawn, timedelta()) / 200 - timedelta(milliseconds=1600)) < timedelta(milliseconds=200)
    assert await delays(simulator, 200) == drawn
    assert await delays(simulator, 200, seed=2) != drawn


async def test_latencies_add_up_and_delay_what_another_perturbation_answers(crm: Crm) -> None:
    simulator = crm("perturbations: [{latency: 1s}, {error: 503}, {latency: 500ms}]")
    async with simulator.open() as world:
        observation = await world.call("get_contact", ADA)
    assert not observation.ok
    assert observation.delay == timedelta(milliseconds=1500)


@pytest.mark.parametrize(
    "options",
    [
        None,
        5,
        "5",
        "0s",
        "-1s",
        "soon",
        {"min": "1s"},
        {"min": "2s", "max": "1s"},
        {"duration": "1s", "min": "1s", "max": "2s"},
    ],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["latency"].model_validate(options)
