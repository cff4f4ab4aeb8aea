"""delayed_visibility: what was written is seen only later."""

from __future__ import annotations

from datetime import timedelta

import pytest
from support.perturbed import ADA, SPRING, Crm, calls, outcomes, served_value

from mcp_sim.types.errors import DocumentError
from mcp_sim.world.commits import replayed
from mcp_sim.world.world import World

LATE = "perturbations: [{delayed_visibility: 30s, id: late, when: {nth: 1}}]"


async def titles(world: World) -> list[str]:
    return [deal["title"] for deal in (await served_value(world, "list_deals"))["deals"]]


async def test_a_deal_is_seen_only_after_the_time_under_the_id_that_was_shown(crm: Crm) -> None:
    async with crm(LATE).open() as world:
        first = world.view
        deal = await served_value(world, "create_deal", SPRING)
        assert "Spring order" not in await titles(world)
        other = await served_value(world, "create_deal", {**SPRING, "title": "Other"})
        assert other["id"] == "deal_0004"
        world.clock.advance(timedelta(seconds=30))
        assert "Spring order" in await titles(world)
        assert await served_value(world, "get_deal", {"deal_id": deal["id"]}) == deal
        event = next(step for step in world.ledger.steps if step["entry"] == "event")
        assert event["committed"][0]["key"] == deal["id"]
        assert calls(world)[0]["committed"] == [{"op": "reserve", "entity": "deal", "key": deal["id"]}]
        assert outcomes(world) == [["applied"], [], [], [], []]
        assert list(replayed(first, world.ledger.steps).rows("deal")) == list(world.view.rows("deal"))
        assert (await served_value(world, "create_deal", SPRING))["id"] == "deal_0005"


async def test_or_after_so_many_calls(crm: Crm) -> None:
    async with crm("perturbations: [{delayed_visibility: 2 calls, tools: create_deal}]").open() as world:
        await served_value(world, "create_deal", SPRING)
        assert [len(await titles(world)) for _ in range(4)] == [2, 2, 3, 3]


async def test_a_newer_write_to_the_record_wins(crm: Crm) -> None:
    async with crm("perturbations: [{delayed_visibility: 2 calls, id: late, when: {nth: 1}}]").open() as world:
        await served_value(world, "update_deal", {"deal_id": "deal_0002", "stage": "lost"})
        await served_value(world, "update_deal", {"deal_id": "deal_0002", "stage": "won"})
        for _ in range(3):
            await titles(world)
        assert (await served_value(world, "get_deal", {"deal_id": "deal_0002"}))["stage"] == "won"
        assert [step["committed"] for step in world.ledger.steps if step["entry"] == "event"] == [[]]


async def test_deferred_commits_to_one_record_follow_one_another(crm: Crm) -> None:
    async with crm("perturbations: [{delayed_visibility: 1 calls, tools: update_deal}]").open() as world:
        await served_value(world, "update_deal", {"deal_id": "deal_0002", "stage": "lost"})
        await served_value(world, "update_deal", {"deal_id": "deal_0002", "stage": "won"})
        await titles(world)
        await titles(world)
        assert (await served_value(world, "get_deal", {"deal_id": "deal_0002"}))["stage"] == "won"


async def test_a_late_delete_that_would_leave_a_link_to_nothing_is_dropped(crm: Crm) -> None:
    async with crm("perturbations: [{delayed_visibility: 1 calls, tools: delete_contact}]").open() as world:
        await served_value(world, "delete_contact", {"contact_id": "con_00003"})
        await served_value(world, "create_deal", {**SPRING, "contact_id": "con_00003"})
        await titles(world)
        assert world.view.get("contact", "con_00003") is not None


async def test_it_has_no_effect_on_calls_that_change_nothing(crm: Crm) -> None:
    async with crm("perturbations: [{delayed_visibility: 1m, id: late}]").open() as world:
        await served_value(world, "get_contact", ADA)
        assert outcomes(world) == [["no_effect"]]


async def test_a_fork_has_the_deferred_commit_before_it_too(crm: Crm) -> None:
    async with crm(LATE).open() as world:
        await served_value(world, "create_deal", SPRING)
        twin = world.fork()
        twin.clock.advance(timedelta(minutes=1))
        assert "Spring order" in await titles(twin)
        assert "Spring order" not in await titles(world)


@pytest.mark.parametrize("after", ["0s", "0 calls"])
def test_a_delay_of_nothing_is_refused_at_load(crm: Crm, after: str) -> None:
    with pytest.raises(DocumentError, match="longer than 0"):
        crm(f"perturbations: [{{delayed_visibility: {after}}}]")


def test_tools_that_only_read_are_refused_at_load(crm: Crm) -> None:
    with pytest.raises(DocumentError, match="no tool in reach changes anything"):
        crm("perturbations: [{delayed_visibility: 1s, tools: list_*}]")
