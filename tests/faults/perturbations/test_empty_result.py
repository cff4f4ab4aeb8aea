"""empty_result: the answer holds nothing, as if nothing were there."""

from __future__ import annotations

import pytest
from support.perturbed import ADA, SPRING, Crm, outcomes, served_value, truth

from mcp_sim.types.errors import DocumentError


async def test_a_list_is_empty_and_a_record_an_empty_object_while_the_world_has_them(crm: Crm) -> None:
    async with crm("perturbations: [{empty_result: {}, id: empty}]").open() as world:
        assert await served_value(world, "list_deals") == {"deals": [], "total": 0, "next_cursor": None}
        assert truth(world)["total"] == 2
        assert await served_value(world, "list_companies") == {"companies": [], "total": 0, "has_more": False}
        assert await served_value(world, "get_contact", ADA) == {}
        assert outcomes(world) == [["applied"]] * 3


async def test_it_has_no_effect_on_writes_failures_and_what_is_empty_anyway(crm: Crm) -> None:
    async with crm("perturbations: [{empty_result: {}, id: empty}]").open() as world:
        assert (await served_value(world, "create_deal", SPRING))["id"] == "deal_0003"
        assert not (await world.call("get_contact", {"contact_id": "con_99999"})).ok
        await served_value(world, "list_activities")
        assert outcomes(world) == [["no_effect"]] * 3


def test_tools_that_never_read_are_refused_at_load(crm: Crm) -> None:
    with pytest.raises(DocumentError, match="no tool in reach is one that does get or list or search"):
        crm("perturbations: [{empty_result: {}, tools: create_*}]")
