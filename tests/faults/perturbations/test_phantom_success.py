"""phantom_success: the call says that it worked, and nothing was written."""

from __future__ import annotations

import pytest
from support.perturbed import ADA, SPRING, Crm, calls, outcomes, served_value

from mcp_sim.types.errors import DocumentError
from mcp_sim.world.commits import replayed

FIRST = "perturbations: [{phantom_success: {}, id: phantom, tools: create_deal, when: {nth: 1}}]"


async def test_the_agent_is_shown_of_a_deal_that_does_not_exist_and_whose_id_no_one_gets(crm: Crm) -> None:
    async with crm(FIRST).open() as world:
        first = world.view
        phantom = await served_value(world, "create_deal", SPRING)
        assert phantom["title"] == "Spring order"
        assert world.view.get("deal", phantom["id"]) is None
        assert world.view.count("deal") == 2
        step = calls(world)[-1]
        assert step["committed"] == [{"op": "reserve", "entity": "deal", "key": phantom["id"]}]
        assert step["truth"]["changes"][0]["op"] == "put"
        assert step["served"] is None
        assert not (await world.call("get_deal", {"deal_id": phantom["id"]})).ok
        assert (await served_value(world, "create_deal", SPRING))["id"] == "deal_0004"
        assert outcomes(world) == [["applied"], [], []]
        twin = replayed(first, world.ledger.steps)
        assert list(twin.rows("deal")) == list(world.view.rows("deal"))
        assert twin.last_key("deal") == world.view.last_key("deal")


async def test_an_update_that_is_dropped_leaves_the_record_as_it_was(crm: Crm) -> None:
    async with crm("perturbations: [{phantom_success: {}, tools: update_deal}]").open() as world:
        assert (await served_value(world, "update_deal", {"deal_id": "deal_0002", "stage": "won"}))["stage"] == "won"
        assert (await served_value(world, "get_deal", {"deal_id": "deal_0002"}))["stage"] == "proposal"
        assert calls(world)[0]["committed"] == []


async def test_it_has_no_effect_on_reads_and_on_calls_that_fail(crm: Crm) -> None:
    async with crm("perturbations: [{phantom_success: {}, id: phantom}]").open() as world:
        await served_value(world, "get_contact", ADA)
        assert not (await world.call("create_deal", {**SPRING, "contact_id": "con_99999"})).ok
        assert outcomes(world) == [["no_effect"], ["no_effect"]]


async def test_what_is_dropped_is_neither_delayed_nor_done_twice(crm: Crm) -> None:
    others = "{phantom_success: {}, id: again}, {delayed_visibility: 1s, id: late}, {duplicate_effect: {}, id: twice}"
    async with crm(f"perturbations: [{{phantom_success: {{}}, id: phantom}}, {others}]").open() as world:
        await served_value(world, "create_deal", SPRING)
        await served_value(world, "list_deals")
        assert outcomes(world)[0] == ["applied", "no_effect", "no_effect", "no_effect"]
        assert not [step for step in world.ledger.steps if step["entry"] == "event"]


def test_tools_that_only_read_are_refused_at_load(crm: Crm) -> None:
    with pytest.raises(DocumentError, match=r"scenario.yaml:\d+: .*no tool in reach changes anything"):
        crm("perturbations: [{phantom_success: {}, tools: get_*}]")
