"""stale_read: a read answers from the past."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.perturbed import (
    ALL,
    DEAL,
    SPRING,
    Calls,
    Crm,
    calls,
    outcomes,
    run,
    served_value,
    truth,
)

from mcp_sim import Simulator
from mcp_sim.simulator.persistence import StoreKeeper
from mcp_sim.types import Call
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.kinds import stores
from mcp_sim.world.world import World

WON = {"deal_id": "deal_0002", "stage": "won"}


async def seen(world: World) -> int:
    return (await served_value(world, "list_deals"))["total"]


async def test_a_list_does_not_show_what_was_just_written_while_the_world_has_it(crm: Crm) -> None:
    async with crm("perturbations: [{stale_read: {}, id: stale, tools: list_*}]").open() as world:
        await served_value(world, "create_deal", SPRING)
        assert await seen(world) == 2
        assert truth(world)["total"] == 3
        assert world.view.count("deal") == 3
        assert calls(world)[-1]["served"]["result"]["total"] == 2
        assert outcomes(world) == [[], ["applied"]]


async def test_the_lag_is_in_versions_calls_or_time(crm: Crm) -> None:
    async def shown(lag: str) -> list[int]:
        async with crm(f"perturbations: [{{stale_read: {lag}, tools: list_*}}]").open() as world:
            for _ in range(3):
                await served_value(world, "create_deal", SPRING)
            world.clock.advance(timedelta(seconds=2))  # now + 2 s, and each call takes a second
            return [await seen(world), await seen(world), await seen(world)]

    assert await shown("{versions: 2}") == [3, 3, 3]
    assert await shown("{versions: 99}") == [2, 2, 2]
    assert await shown("2 calls") == [3, 4, 5]
    assert await shown("4s") == [4, 5, 5]


async def test_it_has_no_effect_on_writes_and_where_the_past_says_the_same(crm: Crm) -> None:
    async with crm("perturbations: [{stale_read: {}, id: stale}]").open() as world:
        await seen(world)
        await served_value(world, "update_deal", WON)
        assert (await served_value(world, "get_deal", {"deal_id": "deal_0002"}))["stage"] == "proposal"
        await served_value(world, "get_deal", {"deal_id": "deal_0001"})
        assert outcomes(world) == [["no_effect"], ["no_effect"], ["applied"], ["no_effect"]]


async def test_a_deleted_record_is_still_there_and_a_new_one_is_not(crm: Crm) -> None:
    async with crm("perturbations: [{stale_read: {}, tools: get_*}]").open() as world:
        await served_value(world, "delete_contact", {"contact_id": "con_00003"})
        assert (await served_value(world, "get_contact", {"contact_id": "con_00003"}))["id"] == "con_00003"
        made = await served_value(world, "create_deal", SPRING)
        assert not (await world.call("get_deal", {"deal_id": made["id"]})).ok


async def test_a_fork_looks_back_on_its_own_and_a_reset_forgets(crm: Crm) -> None:
    async with crm("perturbations: [{stale_read: {}, tools: list_*}]").open() as world:
        await served_value(world, "create_deal", SPRING)
        twin = world.fork()
        await served_value(twin, "create_deal", SPRING)
        assert (await seen(world), await seen(twin)) == (2, 3)
        world.reset()
        assert await seen(world) == 2
        assert outcomes(world)[-1] == ["no_effect"]


async def test_without_it_no_versions_are_kept(crm: Crm) -> None:
    async with crm("").open() as world:
        await served_value(world, "create_deal", SPRING)
        assert not world.turn(Call("list_deals", {}), world.scenario.domain.tools["list_deals"]).versions


async def test_a_kept_world_looks_back_and_forward_as_one_of_a_single_process(crm: Crm, tmp_path: Path) -> None:
    late = "{delayed_visibility: 2 calls, tools: create_deal, when: {every: 2}, id: late}"
    pages = "{pagination: {page_size: 2, duplicates: 1}, tools: list_*, id: pages}"
    simulator = crm(f"perturbations: [{{stale_read: 2 calls, id: stale}}, {late}, {pages}]")
    made: Calls = [("create_deal", SPRING), ("list_deals", ALL), ("update_deal", WON), ("get_deal", DEAL)] * 4
    whole = await run(simulator, made, 7)
    store = stores["sqlite"].model_validate({"path": tmp_path / "worlds.db"})
    kept = list[dict[str, Any]]()
    for call in made:
        with store.open("x") as opened:
            async with Simulator(simulator.scenario) as fresh:
                world = StoreKeeper(fresh, opened, "w").world(7, "virtual")
                await world.call(*call)
                kept = world.ledger.steps[1:]
    assert kept == whole
    applied = {part["id"] for step in kept for part in step.get("perturbations", ()) if part["outcome"] == "applied"}
    assert applied == {"stale", "late", "pages"}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{stale_read: {lag: 3s, versions: 1}}", "lag and versions exclude each other"),
        ("{stale_read: 0 calls}", "longer than 0"),
        ("{stale_read: 0s}", "longer than 0"),
        ("{stale_read: {versions: 256}}", "must be less than 256"),
        ("{stale_read: {}, tools: create_*}", "no tool in reach is one that does get or list or search"),
    ],
)
def test_what_cannot_work_is_refused_at_load(crm: Crm, entry: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        crm(f"perturbations: [{entry}]")
