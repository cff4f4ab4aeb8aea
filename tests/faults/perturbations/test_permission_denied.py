"""permission_denied: the agent may not do everything with everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.types import Observation, ToolResult
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.kinds import perturbations
from mcp_sim.world.world import World

WON, OPEN = {"deal_id": "deal_0001"}, {"deal_id": "deal_0002"}
NEW = {"title": "Spring order", "amount": 1, "contact_id": "con_00001"}
Crm = Callable[[str], Simulator]


def value(observation: Observation) -> Any:
    assert isinstance(observation.body, ToolResult)
    return observation.body.value


def outcomes(world: World) -> list[str]:
    return [decided["outcome"] for step in world.ledger.steps[1:] for decided in step["perturbations"]]


async def test_an_entity_may_not_be_read_listed_or_written_and_all_else_may(crm: Crm) -> None:
    async with crm("perturbations: [{permission_denied: deal, id: rights}]").open() as world:
        refused = await world.call("get_deal", WON)
        served = "403 Forbidden: no permission for deal deal_0001"
        assert refused.body == ToolResult(served, form="text", is_error=True)
        assert value(await world.call("list_deals", {})) == "403 Forbidden: no permission for deal"
        assert not (await world.call("create_deal", NEW)).ok
        assert not (await world.call("update_deal", {**OPEN, "stage": "won"})).ok
        assert all(step["truth"] is None and not step["committed"] for step in world.ledger.steps[1:])
        assert (await world.call("get_contact", {"contact_id": "con_00001"})).ok
        assert "404" in value(await world.call("get_deal", {"deal_id": "deal_9999"}))
        assert outcomes(world) == ["applied"] * 4 + ["no_effect"] * 2


async def test_some_records_are_listed_but_neither_read_nor_written(crm: Crm) -> None:
    async with crm("perturbations: [{permission_denied: {entity: deal, where: {stage: won}}}]").open() as world:
        assert not (await world.call("get_deal", WON)).ok
        assert not (await world.call("update_deal", {**WON, "title": "x"})).ok
        assert (await world.call("get_deal", OPEN)).ok
        listed = value(await world.call("list_deals", {}))
        assert [row["id"] for row in listed["deals"]] == ["deal_0001", "deal_0002"]
        assert (await world.call("update_deal", {**OPEN, "stage": "won"})).ok  # from now on it is one of them
        assert not (await world.call("get_deal", OPEN)).ok
        assert outcomes(world) == ["applied", "applied", "no_effect", "no_effect", "no_effect", "applied"]


async def test_hidden_records_are_as_if_they_did_not_exist_in_lists_totals_and_by_id(crm: Crm) -> None:
    entry = "{permission_denied: {entity: deal, where: {stage: won}, hidden: true}}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        listed = value(await world.call("list_deals", {}))
        assert ([row["id"] for row in listed["deals"]], listed["total"]) == (["deal_0002"], 1)
        step = world.ledger.steps[-1]
        assert step["truth"]["observation"]["result"]["total"] == 2
        unknown = value(await world.call("get_deal", {"deal_id": "deal_9999"}))
        for tool, arguments in [("get_deal", WON), ("update_deal", {**WON, "title": "x"})]:
            missing = value(await world.call(tool, arguments))
            assert missing == unknown.replace("deal_9999", "deal_0001")
        assert (await world.call("create_deal", NEW)).ok
        assert value(await world.call("list_deals", {}))["total"] == 2
        assert world.view.count("deal") == 3
        assert outcomes(world) == ["applied", "no_effect", "applied", "applied", "no_effect", "applied"]


async def test_fields_are_not_shown_and_may_not_be_set(crm: Crm) -> None:
    entry = "{permission_denied: {entity: contact, fields: [phone, job_title]}, tools: '*_contact*'}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        assert (world.view.get("contact", "con_00002") or {})["phone"]
        shown = value(await world.call("get_contact", {"contact_id": "con_00002"}))
        assert (shown["phone"], shown["job_title"]) == (None, None)
        assert world.ledger.steps[-1]["truth"]["observation"]["result"]["phone"]
        found = value(await world.call("search_contacts", {"query": ""}))["contacts"]
        assert [(row.get("phone"), row.get("job_title")) for row in found] == [(None, None)] * 3
        assert not (await world.call("update_contact", {"contact_id": "con_00002", "phone": "1"})).ok
        moved = value(await world.call("update_contact", {"contact_id": "con_00002", "stage": "customer"}))
        assert (moved["stage"], moved["phone"]) == ("customer", None)
        assert (world.view.get("contact", "con_00002") or {})["phone"]
        assert outcomes(world) == ["applied"] * 4


async def test_only_the_records_in_question_lose_their_fields(crm: Crm) -> None:
    entry = "{permission_denied: {entity: deal, where: {stage: won}, fields: [expected_close_date]}, tools: '*_deal*'}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        for deal in (WON, OPEN):
            await world.call("update_deal", {**deal, "title": "x"})
        assert outcomes(world)[1] == "no_effect"
        assert not (await world.call("update_deal", {**WON, "expected_close_date": "2029-05-01"})).ok
        assert (await world.call("update_deal", {**OPEN, "expected_close_date": "2029-05-01"})).ok
        rows = value(await world.call("list_deals", {}))["deals"]
        assert [row["expected_close_date"] for row in rows] == [None, "2029-05-01"]


async def test_actions_narrow_it_to_reading_or_writing(crm: Crm) -> None:
    async with crm("perturbations: [{permission_denied: {entity: deal, actions: write}}]").open() as world:
        assert (await world.call("get_deal", WON)).ok
        assert (await world.call("list_deals", {})).ok
        assert not (await world.call("create_deal", NEW)).ok
    async with crm("perturbations: [{permission_denied: {entity: deal, actions: read}}]").open() as world:
        assert not (await world.call("get_deal", WON)).ok
        assert (await world.call("create_deal", NEW)).ok


async def test_a_create_is_refused_where_the_record_to_be_is_one_of_those(crm: Crm) -> None:
    async with crm("perturbations: [{permission_denied: {entity: deal, where: {amount: {gt: 100}}}}]").open() as world:
        assert (await world.call("create_deal", NEW)).ok
        assert not (await world.call("create_deal", {**NEW, "amount": 101})).ok


async def test_what_counts_calls_counts_a_hidden_read_once(crm: Crm) -> None:
    entries = "[{permission_denied: {entity: deal, where: {stage: won}, hidden: true}}, {rate_limit: {limit: 2}}]"
    async with crm(f"perturbations: {entries}").open() as world:
        assert [(await world.call("list_deals", {})).ok for _ in range(3)] == [True, True, False]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{permission_denied: deel}", "unknown entity 'deel'; did you mean 'deal'"),
        ("{permission_denied: {entity: deal, fields: [amuont]}}", "deal has no field 'amuont'; did you mean 'amount'"),
        ("{permission_denied: {entity: deal, where: {stagee: won}}}", "deal has no field 'stagee'"),
        ("{permission_denied: {entity: deal, where: {stage: wonn}}}", 'no deal can have "wonn" as its stage'),
        ("{permission_denied: deal, tools: '*_contact'}", "no tool in reach works on deal"),
        ("{permission_denied: {entity: deal, fields: [title]}}", "get_deal must show 'title' by its outputSchema"),
    ],
)
def test_what_cannot_be_is_reported_at_load(crm: Crm, entry: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        crm(f"perturbations: [{entry}]")


@pytest.mark.parametrize(
    "options",
    [
        None,
        {"entity": "deal", "hidden": True, "fields": ["amount"]},
        {"entity": "deal", "hidden": True, "actions": "write"},
        {"entity": "deal", "where": {"stage": {"is": "won"}}},
        {"entity": "deal", "actions": "delete"},
    ],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["permission_denied"].model_validate(options)
