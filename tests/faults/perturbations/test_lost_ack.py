"""lost_ack: the call takes effect, but the agent gets a timeout."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import DocumentError

ADA = {"contact_id": "con_00001"}
SPRING = {"title": "Spring order", "amount": 4000, "contact_id": "con_00001"}
Crm = Callable[[str], Simulator]


async def test_the_deal_is_made_and_the_agent_reads_of_a_timeout(crm: Crm) -> None:
    async with crm("perturbations: [{lost_ack: {}, id: lost, tools: create_deal, when: {nth: 1}}]").open() as world:
        observation = await world.call("create_deal", SPRING)
        shown = "504 Gateway Timeout: the request was not answered in time"
        assert observation.body == ToolResult(shown, form="text", is_error=True)
        assert len(world.view.find("deal", "title", "Spring order")) == 1
        step = world.ledger.steps[-1]
        assert step["truth"]["observation"]["result"]["title"] == "Spring order"
        assert step["served"]["result"] == shown
        assert [change["op"] for change in step["committed"]] == ["put"]
        assert [decided["outcome"] for decided in step["perturbations"]] == ["applied"]
        assert (await world.call("create_deal", SPRING)).ok


async def test_a_message_of_ones_own_is_what_the_agent_reads(crm: Crm) -> None:
    async with crm("perturbations: [{lost_ack: no answer from upstream, tools: create_*}]").open() as world:
        observation = await world.call("create_deal", SPRING)
    assert observation.body == ToolResult("no answer from upstream", form="text", is_error=True)


async def test_it_has_no_effect_on_reads_and_refused_calls_and_is_carried_to_the_next_write(crm: Crm) -> None:
    async with crm("perturbations: [{lost_ack: {}, when: {nth: 1}}]").open() as world:
        assert (await world.call("get_contact", ADA)).ok
        refused = await world.call("get_contact", {"contact_id": "con_99999"})
        assert not refused.ok
        assert not (await world.call("create_deal", SPRING)).ok
        assert (await world.call("create_deal", SPRING)).ok
        outcomes = [[decided["outcome"] for decided in step["perturbations"]] for step in world.ledger.steps[1:]]
    assert outcomes == [["no_effect"], ["no_effect"], ["applied"], []]


async def test_an_error_in_the_worlds_place_preempts_it_and_latency_still_applies(crm: Crm) -> None:
    entries = (
        "perturbations: [{lost_ack: {}, id: lost}, {error: 503, id: down, when: {nth: 1}}, {latency: 1s, id: slow}]"
    )
    async with crm(entries).open() as world:
        await world.call("create_deal", SPRING)
        assert not world.view.find("deal", "title", "Spring order")
        later = await world.call("create_deal", SPRING)
        assert later.delay.total_seconds() == 1
        outcomes = [{d["id"]: d["outcome"] for d in step["perturbations"]} for step in world.ledger.steps[1:]]
    assert outcomes == [
        {"lost": "preempted", "down": "applied", "slow": "applied"},
        {"lost": "applied", "slow": "applied"},
    ]


def test_a_perturbation_that_can_only_reach_reads_is_refused_at_load(crm: Crm) -> None:
    with pytest.raises(DocumentError, match="no tool in reach changes anything"):
        crm("perturbations: [{lost_ack: {}, tools: get_*}]")
