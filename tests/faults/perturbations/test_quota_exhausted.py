"""quota_exhausted: a budget of calls, items or cost, and it is used up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from mcp_sim import Simulator
from mcp_sim.types import ToolResult
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.kinds import perturbations
from mcp_sim.world.world import World

ADA = {"contact_id": "con_00001"}
Crm = Callable[[str], Simulator]


def deal(amount: float) -> dict[str, Any]:
    return {"title": "Spring order", "amount": amount, "contact_id": "con_00001"}


def outcomes(world: World) -> list[str]:
    return [decided["outcome"] for step in world.ledger.steps[1:] for decided in step["perturbations"]]


async def test_once_the_calls_are_used_up_every_call_is_refused_for_good(crm: Crm) -> None:
    async with crm("perturbations: [{quota_exhausted: 2, id: plan}]").open() as world:
        answers = [await world.call("create_deal", deal(1)) for _ in range(4)]
        assert [answer.ok for answer in answers] == [True, True, False, False]
        shown = "429 Too Many Requests: quota exhausted (2 of 2 calls)"
        assert answers[-1].body == ToolResult(shown, form="text", is_error=True)
        assert len(world.view.find("deal", "title", "Spring order")) == 2
        assert world.ledger.steps[-1]["truth"] is None
        assert outcomes(world) == ["no_effect", "no_effect", "applied", "applied"]
        world.clock.advance(timedelta(days=400))
        assert not (await world.call("get_contact", ADA)).ok


async def test_a_renewed_budget_says_when_and_begins_anew_then(crm: Crm) -> None:
    async with crm("perturbations: [{quota_exhausted: {limit: 1, renewed: 10s}}]").open() as world:
        assert (await world.call("get_contact", ADA)).ok
        refused = await world.call("get_contact", ADA)
        shown = "429 Too Many Requests: quota exhausted (1 of 1 calls); renewed in 8 s"
        assert refused.body == ToolResult(shown, form="text", is_error=True)
        world.clock.advance(timedelta(seconds=7))
        assert (await world.call("get_contact", ADA)).ok


async def test_items_are_the_records_that_answers_return(crm: Crm) -> None:
    async with crm("perturbations: [{quota_exhausted: {limit: 4, of: items}}]").open() as world:
        assert not (await world.call("get_contact", {"contact_id": "con_99999"})).ok  # no record, no cost
        listed = await world.call("list_companies", {"limit": 2})
        assert isinstance(listed.body, ToolResult)
        assert len(listed.body.value["companies"]) == 2
        assert (await world.call("get_contact", ADA)).ok
        assert (await world.call("create_deal", deal(1))).ok  # a write returns no items
        assert (await world.call("get_contact", ADA)).ok  # the fourth
        assert not (await world.call("get_contact", ADA)).ok
        twin = world.fork()
        assert not (await twin.call("get_contact", ADA)).ok


async def test_a_call_that_costs_more_than_is_left_is_refused_and_a_cheaper_one_goes_through(crm: Crm) -> None:
    entry = "{quota_exhausted: {limit: 100, of: arguments.amount, status: 402}, tools: create_deal}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        answers = [await world.call("create_deal", deal(amount)) for amount in (60, 50, 40.5, 39.5, 0.5, 1)]
        assert [answer.ok for answer in answers] == [True, False, False, True, True, False]
        shown = "402 Payment Required: quota exhausted (100 of 100 amount)"
        assert answers[-1].body == ToolResult(shown, form="text", is_error=True)


async def test_each_tool_or_value_may_have_a_budget_of_its_own(crm: Crm) -> None:
    async with crm("perturbations: [{quota_exhausted: {limit: 1, per: tool}}]").open() as world:
        calls: list[tuple[str, dict[str, str]]] = [
            ("get_contact", ADA),
            ("list_deals", {}),
            ("get_contact", ADA),
            ("list_deals", {}),
        ]
        assert [(await world.call(*call)).ok for call in calls] == [True, True, False, False]
    entry = "{quota_exhausted: {limit: 1, per: arguments.contact_id}, tools: get_contact}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        keys = ("con_00001", "con_00002", "con_00001")
        assert [(await world.call("get_contact", {"contact_id": key})).ok for key in keys] == [True, True, False]


async def test_a_message_of_ones_own_may_show_what_was_used(crm: Crm) -> None:
    entry = "{quota_exhausted: {limit: 0, message: 'Plan {plan}: {used} of {limit}, {contact_id}'}}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        observation = await world.call("get_contact", ADA)
    assert observation.body == ToolResult("Plan {plan}: 0 of 0, con_00001", form="text", is_error=True)


@pytest.mark.parametrize(
    "options",
    [
        None,
        -1,
        float("inf"),
        "10",
        {"limit": 1, "of": "rows"},
        {"limit": 1, "per": "entity"},
        {"limit": 1, "status": 500},
    ],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["quota_exhausted"].model_validate(options)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{quota_exhausted: {limit: 1, of: items}, tools: create_*}", "no tool in reach returns records"),
        ("{quota_exhausted: {limit: 1, of: arguments.amuont}}", "has an argument 'amuont'; did you mean 'amount'"),
        ("{quota_exhausted: {limit: 1, per: arguments.contct_id}}", "did you mean 'contact_id'"),
    ],
)
def test_what_can_never_be_counted_is_reported_at_load(crm: Crm, entry: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        crm(f"perturbations: [{entry}]")
