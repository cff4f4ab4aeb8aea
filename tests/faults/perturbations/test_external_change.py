"""external_change: another actor inserts, edits and deletes, at calls or by itself."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError
from support.perturbed import ADA, ALL, HALF, SPRING, Crm, outcomes, repeats_and_differs, served_value

from mcp_sim.types.errors import DocumentError
from mcp_sim.types.kinds import perturbations
from mcp_sim.world.commits import replayed
from mcp_sim.world.world import World


def events(world: World) -> list[dict[str, Any]]:
    return [step for step in world.ledger.steps if step["entry"] == "event"]


def times(world: World) -> list[str]:
    return [event["at"][14:19] for event in events(world)]


async def test_at_a_call_the_edit_comes_first_and_the_call_is_answered_on_what_it_left(crm: Crm) -> None:
    entry = "{external_change: {do: edit, entity: deal, where: {id: deal_0002}, values: {stage: lost}, actor: bob}"
    async with crm(f"perturbations: [{entry}, id: bob, when: {{nth: 2}}}}]").open() as world:
        start = world.view
        assert (await served_value(world, "get_deal", {"deal_id": "deal_0002"}))["stage"] == "proposal"
        assert (await served_value(world, "get_deal", {"deal_id": "deal_0002"}))["stage"] == "lost"
        (event,) = events(world)
        assert (event["actor"], event["committed"][0]["key"]) == ("bob", "deal_0002")
        assert outcomes(world) == [[], ["applied"]]
        assert world.ledger.newest["step"]["truth"]["observation"]["result"]["stage"] == "lost"
        assert list(replayed(start, world.ledger.steps).rows("deal")) == list(world.view.rows("deal"))


async def test_an_insert_is_a_whole_record_under_the_next_id_that_lists_show(crm: Crm) -> None:
    entry = "{external_change: {do: insert, entity: deal, values: {title: From afar}, count: 2}, when: {nth: 1}}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        listed = await served_value(world, "list_deals")
        assert listed["total"] == 4
        new = [deal for deal in listed["deals"] if deal["title"] == "From afar"]
        assert sorted(deal["id"] for deal in new) == ["deal_0003", "deal_0004"]
        assert {deal["created_at"] for deal in new} == {"2029-03-01T09:00:01Z"}
        for deal in new:
            assert world.view.get("contact", deal["contact_id"]) is not None
        made = await served_value(world, "create_deal", SPRING)
        assert made["id"] == "deal_0005"


async def test_a_delete_takes_only_what_no_one_links_to(crm: Crm) -> None:
    linked = "{external_change: {do: delete, entity: contact, where: {id: con_00001}}, id: linked}"
    free = "{external_change: {do: delete, entity: deal, where: {stage: won}}, id: free}"
    async with crm(f"perturbations: [{linked}, {free}]").open() as world:
        assert (await served_value(world, "list_deals"))["total"] == 1
        assert world.view.get("contact", "con_00001") is not None
        assert outcomes(world) == [["no_effect", "applied"]]
        await world.call("list_deals")
        assert outcomes(world)[-1] == ["no_effect", "no_effect"]


async def test_by_itself_it_happens_once_at_its_time_whatever_is_called(crm: Crm) -> None:
    for at in ("3s", "'2029-03-01T09:00:03Z'"):
        entry = f"{{external_change: {{do: insert, entity: activity, at: {at}}}, id: a}}"
        async with crm(f"perturbations: [{entry}]").open() as world:
            counts = list[int]()
            for _ in range(5):
                await world.call("list_deals")
                counts.append(world.view.count("activity"))
            assert counts == [0, 0, 1, 1, 1]
            assert times(world) == ["00:03"]
            assert outcomes(world) == [[]] * 5


async def test_every_so_often_it_happens_again_at_its_own_times_in_their_order(crm: Crm) -> None:
    often = "{external_change: {do: insert, entity: deal, every: 4s, times: 3, actor: a}, id: a}"
    once = "{external_change: {do: edit, entity: deal, at: 5s, actor: b}, id: b}"
    async with crm(f"perturbations: [{once}, {often}, {{latency: 8s, id: slow, when: {{nth: 1}}}}]").open() as world:
        start = world.view
        for _ in range(12):
            await world.call("list_deals")
        assert [(event["actor"], event["at"][14:19]) for event in events(world)] == [
            ("a", "00:04"),
            ("b", "00:05"),
            ("a", "00:08"),
            ("a", "00:12"),
        ]
        assert list(replayed(start, world.ledger.steps).rows("deal")) == list(world.view.rows("deal"))


async def test_at_and_every_together_begin_at_the_first(crm: Crm) -> None:
    entry = "{external_change: {do: insert, entity: deal, at: 0s, every: 2s}, id: a}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        for _ in range(4):
            await world.call("list_deals")
        assert times(world) == ["00:00", "00:02", "00:04"]


async def test_a_fork_and_a_reset_live_through_the_same(crm: Crm) -> None:
    entry = "{external_change: {do: insert, entity: deal, every: 2s}, id: a}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        for _ in range(3):
            await world.call("list_deals")
        twin = world.fork()
        for one in (world, twin):
            for _ in range(3):
                await one.call("list_deals")
        assert twin.ledger.steps == world.ledger.steps
        first = [{**step, "n": 0} for step in world.ledger.steps]
        world.reset()
        for _ in range(6):
            await world.call("list_deals")
        assert [{**step, "n": 0} for step in world.ledger.steps][len(first) :] == first


async def test_it_composes_with_latency_and_an_answer_kind_and_stays_when_the_call_is_refused(crm: Crm) -> None:
    entries = (
        "{external_change: {do: insert, entity: deal}, id: a}, {latency: 1s, id: slow}, {empty_result: {}, id: empty}"
    )
    async with crm(f"perturbations: [{entries}]").open() as world:
        observation = await world.call("list_deals")
        assert observation.delay.total_seconds() == 1
        assert outcomes(world) == [["applied", "applied", "applied"]]
        assert world.view.count("deal") == 3
    async with crm("perturbations: [{external_change: {do: insert, entity: deal}}, {error: {}}]").open() as world:
        assert not (await world.call("list_deals")).ok
        assert world.view.count("deal") == 3


async def test_the_same_seed_repeats_it_and_another_differs(crm: Crm) -> None:
    made = [("list_deals", ALL), ("get_contact", ADA)] * 3
    edit = f"{{external_change: {{do: edit, entity: contact}}, id: a, {HALF}}}"
    assert await repeats_and_differs(crm(f"perturbations: [{edit}]"), made)
    timed = "{external_change: {do: edit, entity: contact, every: 2s}, id: a}"
    assert await repeats_and_differs(crm(f"perturbations: [{timed}]"), made, "committed")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{external_change: {do: edit, entity: deals}}", "unknown entity 'deals'; did you mean 'deal'"),
        ("{external_change: {do: edit, entity: deal, values: {stag: won}}}", "no field 'stag'; did you mean 'stage'"),
        ("{external_change: {do: delete, entity: deal, where: {stag: won}}}", "no field 'stag'"),
        ("{external_change: {do: edit, entity: deal, values: {id: deal_9}}}", "cannot be changed"),
        ("{external_change: {do: edit, entity: deal, at: 5s}, when: {nth: 1}}", "happens on its own"),
        ("{external_change: {do: edit, entity: deal, every: 5s}, tools: list_deals}", "happens on its own"),
        ("{external_change: {do: edit, entity: deal, at: 5 calls}}", "when: {after: 5 calls}"),
        ("{external_change: {do: edit, entity: deal, where: {stage: wonn}}}", 'no deal can have "wonn" as its stage'),
        ("{external_change: {do: edit, entity: deal, at: 2029-02-01T00:00:00Z}}", "before the world's start"),
        (
            "{external_change: {do: edit, entity: deal, at: 2029-02-28T00:00:00Z, every: 12h, times: 3}}",
            "before the world's start",
        ),
    ],
)
def test_what_cannot_happen_is_refused_at_load(crm: Crm, entry: str, message: str) -> None:
    with pytest.raises(DocumentError, match=message):
        crm(f"perturbations: [{entry}]")


async def test_what_came_due_a_thousand_times_at_once_is_written_a_thousand_times(crm: Crm) -> None:
    entries = "[{external_change: {do: insert, entity: activity, every: 1s}}, {latency: 3h}]"
    async with crm(f"perturbations: {entries}").open() as world:
        await world.call("list_deals", {})
        await world.call("list_deals", {})
        assert world.view.count("activity") == 1 + 1_000
        last = [step for step in world.ledger.steps if step["entry"] == "event"][-1]
        assert last["at"] == "2029-03-01T12:00:02Z"


async def test_of_a_series_that_begins_before_the_world_only_the_rest_happens_in_it(crm: Crm) -> None:
    entry = "{external_change: {do: edit, entity: deal, at: 2029-02-28T00:00:00Z, every: 1d, times: 3}}"
    async with crm(f"perturbations: [{entry}, {{latency: 240h}}]").open() as world:
        await world.call("list_deals", {})
        await world.call("list_deals", {})
        assert [step["at"] for step in world.ledger.steps if step["entry"] == "event"] == ["2029-03-02T00:00:00Z"]


@pytest.mark.parametrize(
    "options",
    [
        "edit",
        {"do": "insert", "entity": "deal", "where": {"id": 1}},
        {"do": "delete", "entity": "deal", "values": {"stage": "won"}},
        {"do": "edit", "entity": "deal", "times": 2},
        {"do": "edit", "entity": "deal", "every": "10ms"},
        {"do": "edit", "entity": "deal", "count": 0},
    ],
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["external_change"].model_validate(options)
