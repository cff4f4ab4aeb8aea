"""timeout: the answer does not come in time, and whether the call took effect is another question."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.server.deliverability import check_deliverable
from mcp_sim.types import BrokenDelivery, ToolResult
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import perturbations

SPRING = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
LATE = ToolResult("504 Gateway Timeout: the request was not answered in time", form="text", is_error=True)
Crm = Callable[[str], Simulator]


async def committed(simulator: Simulator, seed: int, calls: int = 40) -> list[bool]:
    async with simulator.open(seed=seed) as world:
        for _ in range(calls):
            await world.call("create_deal", SPRING)
        return [bool(step["committed"]) for step in world.ledger.steps[1:]]


async def test_the_agent_waits_and_reads_of_a_timeout_and_nothing_was_done(crm: Crm) -> None:
    async with crm("perturbations: [{timeout: 45s, id: late, tools: create_deal, when: {nth: 1}}]").open() as world:
        observation = await world.call("create_deal", SPRING)
        assert (observation.body, observation.delay) == (LATE, timedelta(seconds=45))
        assert world.clock.elapsed() == timedelta(seconds=46)
        assert not world.view.find("deal", "title", "Spring order")
        step = world.ledger.steps[-1]
        assert (step["truth"], step["committed"]) == (None, [])
        assert step["perturbations"] == [{"id": "late", "kind": "timeout", "outcome": "applied", "why": "nth 1"}]
        again = await world.call("create_deal", SPRING)
        assert again.ok
        assert again.delay == timedelta(0)


async def test_applied_takes_effect_all_the_same_and_the_ledger_knows(crm: Crm) -> None:
    async with crm("perturbations: [{timeout: {commit: applied, after: 5s}}]").open() as world:
        observation = await world.call("create_deal", SPRING)
        assert (observation.body, observation.delay) == (LATE, timedelta(seconds=5))
        assert len(world.view.find("deal", "title", "Spring order")) == 1
        step = world.ledger.steps[-1]
        assert step["truth"]["observation"]["result"]["title"] == "Spring order"
        assert len(step["committed"]) == 1


async def test_coin_commits_about_every_other_call_the_same_ones_for_the_same_seed(crm: Crm) -> None:
    simulator = crm("perturbations: [{timeout: {commit: coin, after: 1s}, id: coin}]")
    first = await committed(simulator, 1)
    assert 8 <= sum(first) <= 32
    assert await committed(simulator, 1) == first
    assert await committed(simulator, 2) != first


async def test_a_call_that_hangs_is_never_answered_and_may_have_taken_effect(crm: Crm) -> None:
    simulator = crm("perturbations: [{timeout: {then: hang, commit: applied}, id: hung}]")
    async with simulator.open() as world:
        observation = await world.call("create_deal", SPRING)
        assert observation.body == BrokenDelivery("no_answer")
        assert len(world.view.find("deal", "title", "Spring order")) == 1
        assert world.ledger.steps[-1]["served"]["broken"]["how"] == "no_answer"
    check_deliverable(simulator.scenario, "stdio", "real")
    with pytest.raises(UsageError, match=r"hung \(timeout\): a call that is never answered needs the real clock"):
        check_deliverable(simulator.scenario, "stdio", "virtual")


async def test_latency_adds_to_the_wait_and_a_lost_acknowledgement_is_preempted_where_nothing_was_done(
    crm: Crm,
) -> None:
    entries = "[{timeout: 5s, id: late}, {lost_ack: {}, id: lost}, {latency: 2s, id: slow}]"
    async with crm(f"perturbations: {entries}").open() as world:
        observation = await world.call("create_deal", SPRING)
        assert observation.delay == timedelta(seconds=7)
        outcomes = {d["id"]: d["outcome"] for d in world.ledger.steps[-1]["perturbations"]}
        assert outcomes == {"late": "applied", "lost": "preempted", "slow": "applied"}


async def test_a_message_of_ones_own_may_show_how_long_it_was(crm: Crm) -> None:
    async with crm("perturbations: [{timeout: {after: 90s, message: 'no answer for {after}'}}]").open() as world:
        observation = await world.call("create_deal", SPRING)
    assert observation.body == ToolResult("no answer for 90s", form="text", is_error=True)


@pytest.mark.parametrize(
    "options",
    [
        {"then": "hang", "after": "5s"},
        {"then": "hang", "message": "x"},
        {"commit": "maybe"},
        {"after": 5},
        {"for": "5s"},
    ],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["timeout"].model_validate(options)
