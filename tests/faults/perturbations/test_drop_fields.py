"""drop_fields: fields that should be there are not."""

from __future__ import annotations

import pytest
from support.perturbed import ADA, HALF, Crm, outcomes, repeats_and_differs, served_value, truth

from mcp_sim.types.errors import DocumentError


@pytest.mark.parametrize(("leave", "left"), [("absent", "gone"), ("null", None), ("empty", "")])
async def test_a_field_is_absent_null_or_empty_and_the_world_has_it(crm: Crm, leave: str, left: object) -> None:
    entry = f"perturbations: [{{drop_fields: {{fields: [email], leave: '{leave}'}}, id: drop}}]"
    async with crm(entry).open() as world:
        contact = await served_value(world, "get_contact", ADA)
        assert contact.get("email", "gone") == left
        assert {**contact, "email": "ada@wielhuis.example"} == {**truth(world)}
        rows = (await served_value(world, "search_contacts"))["contacts"]
        assert {row.get("email", "gone") for row in rows} == {left}
        assert (world.view.get("contact", "con_00001") or {})["email"] == "ada@wielhuis.example"


async def test_without_fields_each_record_loses_one_the_same_every_time_and_never_its_id(crm: Crm) -> None:
    async with crm("perturbations: [{drop_fields: {}, id: drop}]").open() as world:
        once = await served_value(world, "get_contact", ADA)
        assert len(once) == len(truth(world)) - 1
        rows = (await served_value(world, "search_contacts"))["contacts"]
        assert next(row for row in rows if row["id"] == "con_00001").keys() == once.keys()
        assert all("id" in row and "company_id" in row for row in rows)


async def test_it_has_no_effect_where_there_is_no_such_field_or_nothing_in_it(crm: Crm) -> None:
    async with crm("perturbations: [{drop_fields: {fields: [company_id], leave: 'null'}, id: drop}]").open() as world:
        await served_value(world, "get_deal", {"deal_id": "deal_0001"})
        await served_value(world, "get_company", {"company_id": "cmp_001"})
        assert not (await world.call("get_contact", {"contact_id": "con_99999"})).ok
        assert outcomes(world) == [["no_effect"]] * 3


async def test_the_same_seed_repeats_it_and_another_differs(crm: Crm) -> None:
    simulator = crm("perturbations: [{drop_fields: {}, id: p}]")
    assert await repeats_and_differs(simulator, [("get_contact", ADA)], "served")
    simulator = crm(f"perturbations: [{{drop_fields: {{}}, id: p, {HALF}}}]")
    assert await repeats_and_differs(simulator, [("get_contact", ADA)] * 5)


def test_a_field_that_nothing_has_is_reported_at_load_with_the_nearest(crm: Crm) -> None:
    with pytest.raises(DocumentError, match=r"has a field 'emial'.*email"):
        crm("perturbations: [{drop_fields: [emial], tools: get_contact}]")
