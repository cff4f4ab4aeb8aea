"""truncate: a part of the answer is missing, and nothing says so."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from support.perturbed import ADA, SPRING, Crm, outcomes, served_value, truth

from mcp_sim.types.errors import DocumentError
from mcp_sim.types.json_values import encode
from mcp_sim.types.kinds import perturbations


async def test_rows_are_missing_from_the_end_and_the_total_is_the_true_one(crm: Crm) -> None:
    async with crm("perturbations: [{truncate: 1, id: cut}]").open() as world:
        listed = await served_value(world, "list_deals")
        assert [deal["id"] for deal in listed["deals"]] == ["deal_0001"]
        assert listed["total"] == 2
        assert len(truth(world)["deals"]) == 2
        assert world.view.count("deal") == 2


async def test_texts_are_cut_but_no_ids_dates_and_choices(crm: Crm) -> None:
    async with crm("perturbations: [{truncate: {characters: 3}, id: cut}]").open() as world:
        deal = await served_value(world, "create_deal", {**SPRING, "expected_close_date": "2029-04-01"})
        assert (deal["title"], deal["contact_id"], deal["stage"]) == ("Spr", "con_00001", "qualified")
        assert deal["expected_close_date"] == "2029-04-01"
        assert (world.view.get("deal", deal["id"]) or {})["title"] == "Spring order"


@pytest.mark.parametrize(("most", "rows"), [(900, 2), (300, 1), (120, 0), (5, 0)])
async def test_rows_go_until_the_json_is_short_enough_or_nothing_is_left_to_cut(crm: Crm, most: int, rows: int) -> None:
    async with crm(f"perturbations: [{{truncate: {{bytes: {most}}}, id: cut}}]").open() as world:
        listed = await served_value(world, "list_deals")
        assert len(listed["deals"]) == rows
        assert len(encode(listed)) <= most or rows == 0
        assert listed["total"] == 2


async def test_a_record_that_is_too_long_has_its_texts_cut(crm: Crm) -> None:
    async with crm("perturbations: [{truncate: {bytes: 225}, id: cut}]").open() as world:
        deal = await served_value(world, "create_deal", {**SPRING, "title": "Spring order " * 8})
        assert len(encode(deal)) <= 225
        assert deal["contact_id"] == "con_00001"
        assert len(deal["title"]) < len(truth(world)["title"])


async def test_it_has_no_effect_where_nothing_is_longer(crm: Crm) -> None:
    async with crm("perturbations: [{truncate: 5, id: cut}]").open() as world:
        await served_value(world, "list_deals")
        await served_value(world, "get_contact", ADA)
        assert not (await world.call("get_contact", {"contact_id": "con_99999"})).ok
        assert outcomes(world) == [["no_effect"]] * 3


@pytest.mark.parametrize("options", [None, {"items": 1, "bytes": 3}, {"bytes": 0}, -1])
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["truncate"].model_validate(options)


def test_rows_of_tools_that_list_nothing_are_refused_at_load(crm: Crm) -> None:
    with pytest.raises(DocumentError, match="no tool in reach is one that does list or search"):
        crm("perturbations: [{truncate: 1, tools: get_*}]")
