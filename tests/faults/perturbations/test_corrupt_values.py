"""corrupt_values: values in the answer are wrong, and look right."""

from __future__ import annotations

from typing import Any

import pytest
from support.perturbed import ADA, DEAL, SPRING, Crm, outcomes, repeats_and_differs, served_value, truth

from mcp_sim.types.errors import DocumentError


async def changed(crm: Crm, options: str, tool: str, arguments: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the fields that differ: served value and true value."""
    async with crm(f"perturbations: [{{corrupt_values: {options}, id: wrong}}]").open() as world:
        shown = await served_value(world, tool, arguments)
        true = truth(world)
    assert shown.keys() == true.keys()
    return {name: (shown[name], true[name]) for name in true if shown[name] != true[name]}


async def test_noise_moves_a_number_within_the_amount(crm: Crm) -> None:
    options = "{how: noise, fields: [amount], amount: 0.5}"
    (shown, true) = (await changed(crm, options, "create_deal", SPRING))["amount"]
    assert 2000 <= shown <= 6000
    assert true == 4000


async def test_noise_swaps_two_letters_of_a_text(crm: Crm) -> None:
    (shown, true) = (await changed(crm, "{how: noise, fields: [title]}", "create_deal", SPRING))["title"]
    assert sorted(shown) == sorted(true)


async def test_swap_shows_the_value_of_another_record(crm: Crm) -> None:
    options = "{how: swap, fields: [title]}"
    assert await changed(crm, options, "get_deal", DEAL) == {"title": ("Chains", "Winter tyres")}


async def test_off_by_one_moves_whole_numbers_and_days(crm: Crm) -> None:
    options = "{how: off_by_one, fields: [amount, expected_close_date]}"
    given = {**SPRING, "expected_close_date": "2029-04-15"}
    found = await changed(crm, options, "create_deal", given)
    assert abs(found["amount"][0] - 4000) == 1
    assert found["expected_close_date"][0] in ("2029-04-14", "2029-04-16")


async def test_unit_shows_a_number_in_another_unit(crm: Crm) -> None:
    found = await changed(crm, "{how: unit, fields: [amount]}", "create_deal", SPRING)
    assert found["amount"][0] in (400_000, 4_000_000)


@pytest.mark.parametrize(("title", "shown"), [("Café", "CafÃ©"), ("Nuts & bolts", "Nuts &amp; bolts")])
async def test_encoding_shows_a_text_read_wrongly(crm: Crm, title: str, shown: str) -> None:
    found = await changed(crm, "{how: encoding, fields: [title]}", "create_deal", {**SPRING, "title": title})
    assert found == {"title": (shown, title)}


@pytest.mark.parametrize("how", ["noise", "swap", "off_by_one", "unit"])
async def test_one_field_of_each_record_is_wrong_never_a_key_and_the_same_way_every_time(crm: Crm, how: str) -> None:
    async with crm(f"perturbations: [{{corrupt_values: {how}, id: wrong}}]").open() as world:
        listed = (await served_value(world, "list_deals"))["deals"]
        for shown, true in zip(listed, truth(world)["deals"], strict=True):
            wrong = [name for name in true if shown[name] != true[name]]
            assert len(wrong) == 1
            assert not {"id", "contact_id", "company_id"} & {*wrong}
        assert await served_value(world, "get_deal", DEAL) == listed[0]
        assert world.view.get("deal", "deal_0001") == truth(world)


async def test_it_has_no_effect_where_there_is_nothing_of_the_sort(crm: Crm) -> None:
    async with crm("perturbations: [{corrupt_values: unit, id: wrong}]").open() as world:
        await served_value(world, "get_contact", ADA)
        assert not (await world.call("get_contact", {"contact_id": "con_99999"})).ok
        assert outcomes(world) == [["no_effect"]] * 2


async def test_the_same_seed_repeats_it_and_another_differs(crm: Crm) -> None:
    simulator = crm("perturbations: [{corrupt_values: {}, id: p}]")
    assert await repeats_and_differs(simulator, [("get_deal", DEAL)], "served")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("[amuont]", "has a field 'amuont'"),
        ("[id]", "ids are never corrupted"),
        ("[title], how: unit", "title: unit changes no string"),
        ("[amount], how: encoding", "amount: encoding changes no number"),
    ],
)
def test_fields_that_cannot_be_corrupted_are_reported_at_load(crm: Crm, fields: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        crm(f"perturbations: [{{corrupt_values: {{fields: {fields}}}, tools: get_deal}}]")
