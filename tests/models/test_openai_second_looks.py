"""Faults that look twice at a call: the one reply of the model is rendered against another view."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.desk import desk_in, said, ticket, value
from support.endpoint import Engine, serving

from mcp_sim.world.world import World

Json = Any
COUNTED: Json = {"records": {"ticket": 0, "customer": 1}}
ARGUMENTS = {"title": "one", "customer_id": "customer_00001"}


def outcomes(world: World) -> list[str]:
    return [one["outcome"] for one in world.ledger.newest["step"]["perturbations"]]


def listed(*rows: Json) -> Json:
    return {"tickets": [*rows], "total": len(rows)}


async def made_and_changed(engine: Engine, world: World) -> None:
    await said(engine, world, ticket(1), "create_ticket", ARGUMENTS)
    changed = {"ticket_id": "ticket_00001", "title": "two"}
    await said(engine, world, ticket(1, title="two"), "update_ticket", changed)


async def test_a_stale_read_shows_the_reply_with_the_values_of_before(tmp_path: Path) -> None:
    stale: Json = {"stale_read": {}, "tools": ["get_ticket", "list_tickets"]}
    async with serving() as engine, desk_in(tmp_path, COUNTED, stale)(engine.url).open() as world:
        await made_and_changed(engine, world)
        asked = len(engine.asked)
        now = ticket(1, title="two")
        seen = await said(engine, world, now, "get_ticket", {"ticket_id": now["id"]})
        assert value(seen) == ticket(1)
        assert outcomes(world) == ["applied"]
        seen = await said(engine, world, listed(now), "list_tickets", {})
        assert value(seen) == listed(ticket(1))
        assert (len(engine.asked) - asked, outcomes(world)) == (2, ["applied"])
        assert (world.view.get("ticket", now["id"]) or {})["title"] == "two"


async def test_a_stale_read_of_a_reply_with_new_fields_is_stale_too(tmp_path: Path) -> None:
    stale: Json = {"stale_read": {}, "tools": "get_ticket"}
    async with serving() as engine, desk_in(tmp_path, COUNTED, stale)(engine.url).open() as world:
        await made_and_changed(engine, world)
        now = ticket(1, title="two", mood="grim")
        seen = await said(engine, world, now, "get_ticket", {"ticket_id": now["id"]})
        assert (value(seen)["title"], outcomes(world)) == ("one", ["applied"])
        assert (world.view.get("ticket", now["id"]) or {})["title"] == "two"


async def test_a_stale_read_of_what_has_not_changed_has_no_effect(tmp_path: Path) -> None:
    stale: Json = {"stale_read": {}, "tools": "get_customer"}
    async with serving() as engine, desk_in(tmp_path, COUNTED, stale)(engine.url).open() as world:
        await made_and_changed(engine, world)
        customer = world.view.get("customer", "customer_00001")
        seen = await said(engine, world, customer, "get_customer", {"customer_id": "customer_00001"})
        assert (value(seen), outcomes(world)) == (customer, ["no_effect"])


async def test_a_stale_read_does_not_find_what_is_new(tmp_path: Path) -> None:
    stale: Json = {"stale_read": {}, "tools": ["get_ticket", "list_tickets"]}
    async with serving() as engine, desk_in(tmp_path, COUNTED, stale)(engine.url).open() as world:
        await said(engine, world, ticket(1), "create_ticket", ARGUMENTS)
        assert not (await said(engine, world, ticket(1), "get_ticket", {"ticket_id": "ticket_00001"})).ok
        seen = value(await said(engine, world, listed(ticket(1)), "list_tickets", {}))
        assert (seen["tickets"], len(engine.asked)) == ([], 3)


async def test_a_list_without_the_rows_that_are_new_counts_without_them(tmp_path: Path) -> None:
    stale: Json = {"stale_read": {}, "tools": "list_tickets"}
    async with serving() as engine, desk_in(tmp_path, COUNTED, stale)(engine.url).open() as world:
        await said(engine, world, ticket(1), "create_ticket", ARGUMENTS)
        assert value(await said(engine, world, listed(ticket(1)), "list_tickets", {})) == listed()


TEXT = [{"type": "text", "text": "Created ticket_00001."}]


@pytest.mark.parametrize("reply", [ticket(1), {"content": TEXT, "structuredContent": ticket(1)}])
async def test_a_repeated_create_makes_a_second_record_with_the_next_id(reply: Json, tmp_path: Path) -> None:
    twice: Json = {"duplicate_effect": {"answer": "last"}, "tools": "create_ticket"}
    async with serving() as engine, desk_in(tmp_path, COUNTED, twice)(engine.url).open() as world:
        made = value(await said(engine, world, reply, "create_ticket", ARGUMENTS))
        assert made == ticket(2)
        assert [record for _, record in world.view.rows("ticket")] == [ticket(1), ticket(2)]
        assert (len(engine.asked), outcomes(world)) == (1, ["applied"])


async def test_a_repeated_create_repeats_no_record_that_it_refers_to(tmp_path: Path) -> None:
    twice: Json = {"duplicate_effect": {}, "tools": "create_ticket"}
    async with serving() as engine, desk_in(tmp_path, {"records": {}}, twice)(engine.url).open() as world:
        await said(engine, world, ticket(1, customer_id="C-5"), "create_ticket", {"title": "one"})
        assert [key for key, _ in world.view.rows("ticket")] == ["ticket_00001", "ticket_00002"]
        assert [key for key, _ in world.view.rows("customer")] == ["C-5"]


@pytest.mark.parametrize("fault", [{"delayed_visibility": {}}, {"phantom_success": {}, "tools": "create_ticket"}])
async def test_what_a_fault_keeps_from_the_world_is_not_brought_back_by_the_next_answer(
    fault: Json, tmp_path: Path
) -> None:
    async with serving() as engine, desk_in(tmp_path, COUNTED, fault)(engine.url).open() as world:
        assert value(await said(engine, world, ticket(1), "create_ticket", ARGUMENTS)) == ticket(1)
        assert not (await said(engine, world, ticket(1), "get_ticket", {"ticket_id": "ticket_00001"})).ok
        assert value(await said(engine, world, listed(ticket(1)), "list_tickets", {}))["tickets"] == []
        assert world.view.count("ticket") == 0
