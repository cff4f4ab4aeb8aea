"""Arguments that name a record by its old name, and creates whose noun is not what they create."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.matched_tools import TEXT, answered, refused, simulator, tool

Json = Any


async def test_old_name_beside_new_name_names_the_record(tmp_path: Path) -> None:
    tools = [
        tool("create_shelf", name=TEXT),
        tool("list_shelves"),
        tool("rename_shelf", old_name=TEXT, new_name=TEXT),
        tool("delete_shelf", name=TEXT),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        await answered(world, "create_shelf", name="Tools")
        await answered(world, "rename_shelf", old_name="Tools", new_name="Machines")
        assert [one["name"] for one in (await answered(world, "list_shelves"))["shelves"]] == ["Machines"]
        assert "Tools" in await refused(world, "rename_shelf", old_name="Tools", new_name="Bolts")
        assert "Tools" in await refused(world, "delete_shelf", name="Tools")


async def test_the_id_that_a_result_shows_names_the_record_that_is_created(tmp_path: Path) -> None:
    shown: Json = {"type": "object", "properties": {"booking_id": TEXT, "payment_id": TEXT, "note": TEXT}}
    tools = [
        tool("list_payments"),
        tool("search_cabins", town=TEXT),
        tool("book_cabin", output=shown, guest=TEXT, nights={"type": "integer"}),
        tool("cancel_booking", booking_id=TEXT),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        made = await answered(world, "book_cabin", guest="Ada", nights=2)
        await answered(world, "cancel_booking", booking_id=made["booking_id"])
        assert "nowhere" in await refused(world, "cancel_booking", booking_id="nowhere")


async def test_a_verb_that_is_the_noun_of_other_tools_names_what_it_creates(tmp_path: Path) -> None:
    tools = [
        tool("request_leave", "Submit a request for a day off.", day=TEXT),
        tool("get_request", request_id=TEXT),
        tool("list_requests"),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        made = await answered(world, "request_leave", day="2031-01-05")
        assert (await answered(world, "get_request", request_id=made["id"]))["day"] == "2031-01-05"
