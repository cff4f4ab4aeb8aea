"""duplicate_effect: the call takes effect more than once."""

from __future__ import annotations

import pytest
from support.perturbed import ADA, SPRING, Crm, calls, outcomes, served_value

from mcp_sim.types.errors import DocumentError

TWICE = "perturbations: [{duplicate_effect: {}, id: twice, when: {nth: 1}}]"


async def test_two_deals_are_made_and_the_agent_hears_of_the_first(crm: Crm) -> None:
    async with crm(TWICE).open() as world:
        deal = await served_value(world, "create_deal", SPRING)
        made = world.view.find("deal", "title", "Spring order")
        assert [key for key, _ in made] == [deal["id"], "deal_0004"]
        step = calls(world)[-1]
        assert len(step["truth"]["changes"]) == 1
        assert [change["key"] for change in step["committed"]] == ["deal_0003", "deal_0004"]
        assert step["served"] is None
        assert (await served_value(world, "create_deal", SPRING))["id"] == "deal_0005"
        assert outcomes(world) == [["applied"], []]


async def test_it_may_be_more_times_and_the_last_answer_that_is_heard(crm: Crm) -> None:
    async with crm("perturbations: [{duplicate_effect: {more: 2, answer: last}, id: thrice}]").open() as world:
        assert (await served_value(world, "create_deal", SPRING))["id"] == "deal_0005"
        assert len(world.view.find("deal", "title", "Spring order")) == 3


async def test_it_has_no_effect_where_once_more_changes_nothing(crm: Crm) -> None:
    async with crm("perturbations: [{duplicate_effect: {}, id: twice}]").open() as world:
        await served_value(world, "get_contact", ADA)
        await served_value(world, "update_deal", {"deal_id": "deal_0002", "stage": "won"})
        await served_value(world, "delete_contact", {"contact_id": "con_00003"})
        assert outcomes(world) == [["no_effect"]] * 3
        assert world.view.count("contact") == 2


async def test_a_quota_outside_of_it_counts_one_call(crm: Crm) -> None:
    entries = "perturbations: [{duplicate_effect: {}, id: twice}, {rate_limit: {limit: 2, window: 1h}, id: quota}]"
    async with crm(entries).open() as world:
        await served_value(world, "create_deal", SPRING)
        await served_value(world, "create_deal", SPRING)
        assert not (await world.call("create_deal", SPRING)).ok
        assert len(world.view.find("deal", "title", "Spring order")) == 4


def test_tools_that_only_read_are_refused_at_load(crm: Crm) -> None:
    with pytest.raises(DocumentError, match="no tool in reach changes anything"):
        crm("perturbations: [{duplicate_effect: {}, tools: list_*}]")
