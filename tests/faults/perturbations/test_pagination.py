"""pagination: lists that come in pages do not add up."""

from __future__ import annotations

from typing import Any

import pytest
from support.perturbed import ADA, ALL, Crm, calls, outcomes, repeats_and_differs, served_value, truth

from mcp_sim.types.errors import DocumentError
from mcp_sim.world.world import World


def paged(options: str, rest: str = "") -> str:
    return f"perturbations: [{{pagination: {options}, id: pages{rest}}}]\n"


async def made(world: World, count: int) -> list[str]:
    """Create deals and return their ids."""
    given = {"amount": 1, "contact_id": "con_00001"}
    return [(await served_value(world, "create_deal", {**given, "title": f"Deal {n}"}))["id"] for n in range(count)]


async def walked(world: World, **arguments: Any) -> list[list[str]]:
    """The ids on every page, from the first to the last."""
    pages, cursor = list[list[str]](), None
    while len(pages) < 20:
        page = await served_value(world, "list_deals", arguments | ({} if cursor is None else {"cursor": cursor}))
        pages.append([deal["id"] for deal in page["deals"]])
        cursor = page["next_cursor"]
        if cursor is None:
            break
    return pages


async def test_a_page_is_smaller_than_asked_for_and_the_cursor_goes_on_from_there(crm: Crm) -> None:
    async with crm(paged("2")).open() as world:
        await made(world, 3)
        pages = await walked(world, limit=50)
        assert [len(page) for page in pages] == [2, 2, 1]
        assert [key for page in pages for key in page] == [f"deal_{n:04d}" for n in range(1, 6)]
        assert len((await served_value(world, "list_deals", {"limit": 1}))["deals"]) == 1
        assert outcomes(world)[3:] == [["applied"], ["applied"], ["no_effect"], ["no_effect"]]


async def test_the_truth_is_the_page_that_was_asked_for(crm: Crm) -> None:
    async with crm(paged("1")).open() as world:
        await served_value(world, "list_deals")
        assert len(truth(world)["deals"]) == 2
        assert len(calls(world)[-1]["served"]["result"]["deals"]) == 1


@pytest.mark.parametrize(("total", "shown"), [("page", 1), ("more", 3), ("fewer", 1), ("rounded", 10)])
async def test_totals_are_wrong(crm: Crm, total: str, shown: int) -> None:
    async with crm(paged(f"{{total: {total}}}")).open() as world:
        assert (await served_value(world, "list_deals", {"limit": 1}))["total"] == shown
        assert truth(world)["total"] == 2


async def test_rows_of_the_page_before_come_again(crm: Crm) -> None:
    async with crm(paged("{duplicates: 1}")).open() as world:
        await made(world, 3)
        assert [page[0] for page in await walked(world, limit=2)] == ["deal_0001", "deal_0002", "deal_0004"]


async def test_rows_are_left_out_at_the_beginning_of_a_page(crm: Crm) -> None:
    async with crm(paged("{drops: 1}")).open() as world:
        await made(world, 3)
        assert await walked(world, limit=2) == [["deal_0001", "deal_0002"], ["deal_0004"], []]


async def test_the_order_is_another_one(crm: Crm) -> None:
    async with crm(paged("{order: unstable}")).open() as world:
        await made(world, 6)
        orders = [tuple((await walked(world))[0]) for _ in range(4)]
        assert len(set(orders)) > 1
        assert len({frozenset(order) for order in orders}) == 1


async def test_a_cursor_dies_after_a_time_or_so_many_calls(crm: Crm) -> None:
    async with crm(paged("{cursor_expires: 1 calls}")).open() as world:
        cursor = (await served_value(world, "list_deals", {"limit": 1}))["next_cursor"]
        assert (await world.call("list_deals", {"limit": 1, "cursor": cursor})).ok
        dead = await world.call("list_deals", {"limit": 1, "cursor": cursor})
        assert not dead.ok
        assert "expired after 1 call" in str(dead.body)
        assert outcomes(world) == [["no_effect"], ["no_effect"], ["applied"]]
    async with crm(paged("{cursor_expires: 5s}")).open() as world:
        cursor = (await served_value(world, "list_deals", {"limit": 1}))["next_cursor"]
        world.clock.advance(world.scenario.clock.per_call * 5)
        assert not (await world.call("list_deals", {"limit": 1, "cursor": cursor})).ok


async def test_pages_by_offset_are_bent_too(crm: Crm) -> None:
    async with crm(paged("{page_size: 1, duplicates: 1}", ", tools: list_companies")).open() as world:
        first = (await served_value(world, "list_companies"))["companies"]
        second = (await served_value(world, "list_companies", {"offset": 1}))["companies"]
        assert [company["id"] for company in first] == ["cmp_001"]
        assert [company["id"] for company in second] == ["cmp_001", "cmp_002"]


async def test_it_has_no_effect_on_calls_that_list_nothing_and_refused_ones(crm: Crm) -> None:
    async with crm(paged("1")).open() as world:
        await served_value(world, "get_contact", ADA)
        assert not (await world.call("list_deals", {"limit": -1})).ok
        assert outcomes(world) == [["no_effect"]] * 2


async def test_the_same_seed_repeats_it_and_another_differs(crm: Crm) -> None:
    simulator = crm(paged("{order: unstable}"))
    assert await repeats_and_differs(simulator, [("search_contacts", ALL)] * 4, "served")


@pytest.mark.parametrize(
    ("options", "rest", "problem"),
    [
        ("{}", "", "expected one of"),
        ("{duplicates: 1, drops: 1}", "", "duplicates and drops exclude each other"),
        ("1", ", tools: get_*", "no tool in reach is one that does list or search"),
        ("{cursor_expires: 1s}", ", tools: list_companies", "cursor_expires: no tool in reach has a cursor"),
        ("1000", "", "page_size: no tool in reach has an argument that takes this page size"),
    ],
)
def test_what_cannot_work_is_refused_at_load(crm: Crm, options: str, rest: str, problem: str) -> None:
    with pytest.raises(DocumentError, match=problem):
        crm(paged(options, rest))
