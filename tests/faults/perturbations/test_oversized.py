"""oversized: the answer is far too long."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from support.perturbed import ADA, Crm, outcomes, served_value, truth

from mcp_sim.types.json_values import encode
from mcp_sim.types.kinds import perturbations


async def test_a_field_with_a_log_floods_the_answer_and_what_belongs_there_stays(crm: Crm) -> None:
    async with crm("perturbations: [{oversized: 50000, id: flood}]").open() as world:
        contact = await served_value(world, "get_contact", ADA)
        assert 45_000 < len(encode(contact)) < 55_000
        log = contact.pop("_debug")
        assert all(isinstance(line, str) for line in log)
        assert contact == truth(world)


async def test_or_the_rows_come_again_and_again(crm: Crm) -> None:
    async with crm("perturbations: [{oversized: {size: 20000, by: rows}, id: flood}]").open() as world:
        listed = await served_value(world, "list_deals")
        assert 20_000 <= len(encode(listed)) < 22_000
        assert {deal["id"] for deal in listed["deals"]} == {"deal_0001", "deal_0002"}
        assert listed["total"] == 2
        assert "_debug" in await served_value(world, "get_contact", ADA)


async def test_it_has_no_effect_on_errors_and_on_what_is_as_long_already(crm: Crm) -> None:
    entries = "perturbations: [{oversized: 3000, id: first}, {oversized: 1000, id: second}]"
    async with crm(entries).open() as world:
        await world.call("get_contact", {"contact_id": "con_99999"})
        await served_value(world, "get_contact", ADA)
        assert outcomes(world) == [["no_effect"] * 2, ["applied", "no_effect"]]


@pytest.mark.parametrize("options", [10, 10**9, {"by": "pages"}])
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["oversized"].model_validate(options)
