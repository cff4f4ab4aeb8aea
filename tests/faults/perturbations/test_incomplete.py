"""incomplete: a list silently misses some records, and another call misses others."""

from __future__ import annotations

import pytest
from support.perturbed import ADA, Crm, outcomes, served_value, truth

from mcp_sim.types.errors import DocumentError

ALL = {"limit": 100}


async def test_lists_miss_different_records_that_can_all_be_read(crm: Crm) -> None:
    async with crm("perturbations: [{incomplete: {share: 0.4}, id: gap}]").open() as world:
        listed = [await served_value(world, "list_deals", ALL) for _ in range(6)]
        every: set[str] = {deal["id"] for deal in truth(world)["deals"]}
        seen: list[set[str]] = [{deal["id"] for deal in page["deals"]} for page in listed]
        assert all(ids <= every for ids in seen)
        assert len({frozenset(ids) for ids in seen}) > 1, "each call misses others"
        assert {key for ids in seen for key in ids} == every
        assert all(page["total"] == len(page["deals"]) for page in listed), "the count fits what is shown"
        for key in every:
            assert (await served_value(world, "get_deal", {"deal_id": key}))["id"] == key


async def test_it_has_no_effect_on_calls_that_list_nothing(crm: Crm) -> None:
    async with crm("perturbations: [{incomplete: {share: 1}, id: gap}]").open() as world:
        await served_value(world, "get_contact", ADA)
        assert (await served_value(world, "list_deals", ALL))["deals"] == []
        assert outcomes(world) == [["no_effect"], ["applied"]]


def test_tools_that_list_nothing_are_refused_at_load(crm: Crm) -> None:
    with pytest.raises(DocumentError, match="no tool in reach is one that does list or search"):
        crm("perturbations: [{incomplete: {}, tools: get_*}]")
