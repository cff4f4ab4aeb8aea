"""rate_limit: so many calls in a window of time, and no more."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.extensions import perturbations
from mcp_sim.types import ToolResult
from mcp_sim.world import World

ADA = {"contact_id": "con_00001"}
LIMITED = "perturbations: [{rate_limit: {limit: 2, window: 10s}, id: quota}]"
Crm = Callable[[str], Simulator]


async def answered(world: World, calls: int) -> list[bool]:
    return [(await world.call("get_contact", ADA)).ok for _ in range(calls)]


def outcomes(world: World) -> list[str]:
    return [decided["outcome"] for step in world.ledger.steps[1:] for decided in step["perturbations"]]


async def test_calls_beyond_the_quota_are_refused_until_the_window_ends(crm: Crm) -> None:
    async with crm(LIMITED).open() as world:  # a call takes a second: the first is at 1 s, the tenth at 10 s
        assert await answered(world, 12) == [True] * 2 + [False] * 7 + [True] * 2 + [False]
        assert outcomes(world) == ["no_effect"] * 2 + ["applied"] * 7 + ["no_effect"] * 2 + ["applied"]


async def test_retry_after_is_exact_an_agent_that_waits_so_long_is_let_through_and_not_before(crm: Crm) -> None:
    async with crm(LIMITED).open() as world:
        await answered(world, 2)
        refused = await world.call("get_contact", ADA)  # at 3 s
        assert refused.body == ToolResult(
            "429 Too Many Requests: at most 2 calls per 10s; try again in 7 s", form="text", is_error=True
        )
        early, late = world.fork(), world.fork()
        early.clock.advance(timedelta(seconds=5.999))
        assert await answered(early, 1) == [False]
        late.clock.advance(timedelta(seconds=6))  # the call itself takes the seventh
        assert await answered(late, 1) == [True]


async def test_a_refused_call_commits_nothing_and_the_world_is_not_asked(crm: Crm) -> None:
    async with crm("perturbations: [{rate_limit: {limit: 1, window: 1h}, tools: create_deal}]").open() as world:
        for _ in range(3):
            await world.call("create_deal", {"title": "Spring order", "amount": 1, "contact_id": "con_00001"})
        assert len(world.view.find("deal", "title", "Spring order")) == 1
        assert [step["truth"] is None for step in world.ledger.steps[1:]] == [False, True, True]
        assert (await world.call("get_contact", ADA)).ok


async def test_each_world_has_a_quota_of_its_own_and_a_fork_keeps_what_was_used(crm: Crm) -> None:
    simulator = crm(LIMITED)
    async with simulator.open("a") as one, simulator.open("b") as other:
        assert await answered(one, 1) == [True]
        assert await answered(other, 2) == [True, True]
        twin = one.fork()
        assert await answered(twin, 2) == [True, False]
        assert await answered(one, 2) == [True, False]
        one.reset()
        assert await answered(one, 3) == [True, True, False]


async def test_a_message_of_ones_own_may_tell_the_seconds(crm: Crm) -> None:
    entry = "perturbations: [{rate_limit: {limit: 1, window: 10s, message: 'slow {down}: {retry_after} s'}}]"
    async with crm(entry).open() as world:
        await answered(world, 1)
        refused = await world.call("get_contact", ADA)
    assert refused.body == ToolResult("slow {down}: 8 s", form="text", is_error=True)


@pytest.mark.parametrize("options", [0, "many", {"window": "0s"}, {"window": 60}, {"limits": 1}])
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["rate_limit"].model_validate(options)
