"""noise_rows: a list holds rows that do not belong to it."""

from __future__ import annotations

import pytest
from support.perturbed import ADA, SPRING, Crm, outcomes, served_value, truth

from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_schema.validation import Validator

WON = {"stage": "won"}


async def test_records_that_do_not_match_appear_among_those_that_do(crm: Crm) -> None:
    async with crm("perturbations: [{noise_rows: 5, id: noise}]").open() as world:
        listed = await served_value(world, "list_deals", WON)
        assert sorted(deal["id"] for deal in listed["deals"]) == ["deal_0001", "deal_0002"]
        assert listed["total"] == 1
        assert [deal["id"] for deal in truth(world)["deals"]] == ["deal_0001"]
        assert next(d for d in listed["deals"] if d["id"] == "deal_0002") == world.view.get("deal", "deal_0002")


async def test_invented_records_have_ids_that_no_one_has_and_fit_the_schema(crm: Crm) -> None:
    async with crm("perturbations: [{noise_rows: {rows: 2, source: invented}, id: noise}]").open() as world:
        listed = await served_value(world, "list_deals", WON)
        strangers = [deal["id"] for deal in listed["deals"] if deal["id"] != "deal_0001"]
        assert sorted(strangers) == ["deal_0003", "deal_0004"]
        assert not any(world.view.get("deal", key) for key in strangers)
        schema = world.scenario.domain.tools["list_deals"].output_schema or {}
        assert Validator(schema).is_valid(listed)
        assert (await served_value(world, "create_deal", SPRING))["id"] == "deal_0003"


async def test_it_has_no_effect_without_other_records_and_on_calls_that_list_nothing(crm: Crm) -> None:
    async with crm("perturbations: [{noise_rows: {}, id: noise}]").open() as world:
        await served_value(world, "list_deals")
        await served_value(world, "get_contact", ADA)
        await served_value(world, "create_deal", SPRING)
        assert outcomes(world) == [["no_effect"]] * 3


def test_tools_that_list_nothing_are_refused_at_load(crm: Crm) -> None:
    with pytest.raises(DocumentError, match="no tool in reach is one that does list or search"):
        crm("perturbations: [{noise_rows: 1, tools: get_*}]")
