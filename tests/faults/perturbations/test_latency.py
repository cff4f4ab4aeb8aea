"""latency: the answer is delivered later, in world time."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from pydantic import ValidationError
from support.over_http import ERAS, caller, listening
from support.stdio_process import MODERN_META, odd, serving

from mcp_sim import Simulator
from mcp_sim.server.testing import connected
from mcp_sim.types.kinds import perturbations

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


async def test_a_log_normal_latency_lies_around_its_median_and_never_above_max(crm: Crm) -> None:
    drawn = await delays(crm("perturbations: [{latency: {median: 400ms, sigma: 0.8, max: 5s}, id: slow}]"), 400)
    below = sum(delay < timedelta(milliseconds=400) for delay in drawn)
    within = sum(timedelta(milliseconds=400 / 2.2255) < delay < timedelta(milliseconds=400 * 2.2255) for delay in drawn)
    assert abs(below - 200) < 4 * 10
    assert abs(within - 400 * 0.6827) < 4 * 9.4
    assert max(drawn) <= timedelta(seconds=5)


async def test_a_pareto_latency_is_never_shorter_than_min_and_has_a_heavy_tail(crm: Crm) -> None:
    drawn = await delays(crm("perturbations: [{latency: {min: 200ms, alpha: 1.5}, id: slow}]"), 400)
    assert min(drawn) >= timedelta(milliseconds=200)
    above = sum(delay > timedelta(milliseconds=400) for delay in drawn)
    assert abs(above - 400 * 2**-1.5) < 4 * 9.6
    assert timedelta(seconds=2) < max(drawn) <= timedelta(days=1)


async def test_progress_comes_evenly_before_the_answer_and_after_what_delayed_it_before(crm: Crm) -> None:
    async with crm("perturbations: [{latency: 1s}, {latency: {duration: 3s, progress: 2}}]").open() as world:
        observation = await world.call("get_contact", ADA)
    assert observation.delay == timedelta(seconds=4)
    assert [notice["at_ms"] for notice in observation.notifications] == [2000, 3000]
    assert [notice["params"] for notice in observation.notifications] == [
        {"progress": 1, "total": 3},
        {"progress": 2, "total": 3},
    ]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_a_client_that_asks_for_progress_gets_it(crm: Crm, mode: str) -> None:
    seen = list[float]()

    async def progressed(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    entry = "{latency: {duration: 3h, progress: 3}}"
    async with crm(f"perturbations: [{entry}]").open() as world, connected(world, mode=mode) as client:
        await client.call_tool("get_contact", ADA, progress_callback=progressed)
    assert seen == [1, 2, 3]


@pytest.mark.parametrize("era", ERAS)
async def test_over_http_the_answer_comes_so_much_later_and_others_are_answered_meanwhile(
    tmp_path: Path, era: str
) -> None:
    slow = odd(tmp_path, {"latency": "700ms", "tools": "get_contact"})
    with listening(slow) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as one, caller(f"{served.url}/w/a/mcp", era) as other:
            answered, began = list[str](), time.monotonic()

            async def call(who: Any, tool: str, arguments: Any) -> None:
                assert "result" in await who.call(tool, arguments)
                answered.append(tool)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(call, one, "get_contact", ADA)
                tasks.start_soon(call, other, "list_deals", dict[str, Any]())
    assert answered == ["list_deals", "get_contact"]
    assert time.monotonic() - began >= 0.7


@pytest.mark.parametrize("handshake", [True, False])
def test_over_stdio_the_answer_comes_so_much_later_and_others_are_answered_meanwhile(
    tmp_path: Path, handshake: bool
) -> None:
    meta = {} if handshake else {"_meta": MODERN_META}
    with serving(odd(tmp_path, {"latency": "700ms", "tools": "get_contact"}), handshake=handshake) as wire:
        began = time.monotonic()
        wire.call(1, "get_contact", ADA, **meta)
        wire.call(2, "list_deals", {}, **meta)
        assert [wire.answer()["id"], wire.answer()["id"]] == [2, 1]
        assert time.monotonic() - began >= 0.7


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
        {"median": "1s", "min": "1s"},
        {"median": "5s", "max": "4s"},
        {"median": "1s", "sigma": 0},
        {"sigma": 1},
        {"min": "0s", "alpha": 2},
        {"alpha": 2},
        {"min": "1s", "alpha": 0},
        {"progress": 3},
        {"duration": "1s", "progress": -1},
    ],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["latency"].model_validate(options)
