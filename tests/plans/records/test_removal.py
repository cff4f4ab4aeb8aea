"""Tools that delete all records of another one, such as the servers of a site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, simulator, tool
from support.work import MOST_GROWTH, counted

from mcp_sim import Simulator, World
from mcp_sim.types import ToolResult

Json = Any


def listing(row: Json) -> Json:
    return {"type": "object", "properties": {"items": {"type": "array", "items": row}}}


def site_tools(folder: Path, site_id: Json = TEXT, **records: int) -> Simulator:
    """Return a simulator of servers that belong to sites. All tools take the id of a site as a text."""

    def listed(**fields: Json) -> Json:
        shown = {"type": "object", "properties": fields, "required": [*fields]}
        return listing(shown)

    tools = [
        tool("list_sites", output=listed(id=site_id, name=TEXT)),
        tool("list_servers", output=listed(id=TEXT, name=TEXT, site_id=site_id), needed="", site_id=TEXT),
        tool("delete_site_servers", "Delete all servers of a site.", site_id=TEXT),
    ]
    return simulator(folder, tools, world={"records": {"site": 3, "server": 12, **records}})


async def sites_with_servers(world: World) -> list[Json]:
    return [server["site_id"] for server in (await answered(world, "list_servers"))["items"]]


@pytest.mark.time_limit(60)
async def test_a_text_names_a_record_by_its_whole_number(tmp_path: Path) -> None:
    async with site_tools(tmp_path, {"type": "integer"}).open() as world:
        before = await sites_with_servers(world)
        await answered(world, "delete_site_servers", site_id=str(before[0]))
        assert await sites_with_servers(world) == [site for site in before if site != before[0]]
        assert isinstance(before[0], int)
        assert len({*before}) > 1


@pytest.mark.time_limit(60)
@pytest.mark.parametrize("word", ["all", "Any"])
async def test_a_word_for_all_deletes_the_records_of_none(word: str, tmp_path: Path) -> None:
    async with site_tools(tmp_path).open() as world:
        before = await sites_with_servers(world)
        await answered(world, "delete_site_servers", site_id=word)
        assert await sites_with_servers(world) == before != []


@pytest.mark.parametrize(("item", "whole"), [("article", "shelf"), ("host", "rack"), ("song", "mood")])
@pytest.mark.parametrize("others", ["name", "whole", ""])
async def test_a_record_goes_along_with_another_only_if_all_of_its_creates_name_that(
    item: str, whole: str, others: str, tmp_path: Path
) -> None:
    shown = {"type": "object", "properties": {"id": TEXT, "name": TEXT}, "required": ["id", "name"]}
    name, own = f"{whole}_id", f"{item}_id"
    creates: dict[str, Json] = {
        "name": [tool(f"create_{item}", needed="name", name=TEXT, output=shown)],
        "whole": [tool(f"create_{item}", needed=item, **{item: {"type": "object"}}, output=shown)],
        "": [],
    }
    tools = [
        tool(f"create_{whole}", needed="name", name=TEXT, output=shown),
        tool(f"delete_{whole}", needed=name, **{name: TEXT}),
        tool(f"create_{item}_for_{whole}", needed=f"{name} name", **{name: TEXT}, name=TEXT, output=shown),
        tool(f"list_{item}s_for_{whole}", needed=name, **{name: TEXT}, output=listing(shown)),
        tool(f"update_{item}", needed=own, **{own: TEXT}, name=TEXT, output=shown),
        *creates[others],
    ]
    async with simulator(tmp_path, tools).open() as world:
        holder = await answered(world, f"create_{whole}", name="Third")
        created = await answered(world, f"create_{item}_for_{whole}", **{name: holder["id"]}, name="Ada")
        await answered(world, f"delete_{whole}", **{name: holder["id"]})
        observation = await world.call(f"update_{item}", {own: created["id"], "name": "Bo"})
        assert observation.ok is (others == "name")


@pytest.mark.parametrize(("item", "whole"), [("article", "shelf"), ("host", "rack"), ("song", "mood")])
async def test_a_removal_that_names_none_of_several_records_removes_none(item: str, whole: str, tmp_path: Path) -> None:
    shown = {"type": "object", "properties": {"id": TEXT, "name": TEXT}, "required": ["id", "name"]}
    name = f"{whole}_id"
    tools = [
        tool(f"create_{whole}", needed="name", name=TEXT, output=shown),
        tool(f"create_{item}", needed=f"{name} name", **{name: TEXT}, name=TEXT, output=shown),
        tool(f"list_{item}s", needed=name, **{name: TEXT}, output=listing(shown)),
        tool(f"remove_{item}", f"Remove the {item} from a {whole}.", needed=name, **{name: TEXT}),
    ]
    async with simulator(tmp_path, tools).open() as world:
        holder = {name: (await answered(world, f"create_{whole}", name="Third"))["id"]}
        created = [await answered(world, f"create_{item}", **holder, name=text) for text in ("Ada", "Bo")]
        before = (await answered(world, f"list_{item}s", **holder))["items"]
        assert [row["name"] for row in before] == [row["name"] for row in created]
        await answered(world, f"remove_{item}", **holder)
        assert (await answered(world, f"list_{item}s", **holder))["items"] == before


async def test_the_work_is_linear_in_the_records(tmp_path: Path) -> None:
    async def calls(servers: int) -> int:
        async with site_tools(tmp_path, site=1, server=servers).open() as world:
            (whole,) = {record["site_id"] for _, record in world.view.rows("server")}
            with counted() as work:
                await answered(world, "delete_site_servers", site_id=whole)
            assert world.view.count("server") == 0
            return work.calls

    await calls(10)
    assert await calls(200) < MOST_GROWTH * await calls(100)


@pytest.mark.parametrize(
    ("about", "goes"),
    [("Delete a shelf and all its books.", True), ("Delete a shelf, including any of its cards and books", True),
     ("Delete a shelf.", False), ("Delete a shelf that has no books.", False),
     ("Delete a shelf and its cards, but not its books.", False)],
)  # fmt: skip
async def test_a_deletion_takes_along_what_its_description_mentions(tmp_path: Path, about: str, goes: bool) -> None:
    tools = [
        tool("add_shelf", name=TEXT),
        tool("add_book", title=TEXT, shelf_id=TEXT),
        tool("add_note", text=TEXT, book_id=TEXT),
        tool("list_books", needed=""),
        tool("delete_note", note_id=TEXT),
        tool("delete_book", book_id=TEXT),
        tool("delete_shelf", about, shelf_id=TEXT),
    ]
    async with simulator(tmp_path, tools, world={"state": {}}).open() as world:
        shelf = (await answered(world, "add_shelf", name="Sea"))["id"]
        book = (await answered(world, "add_book", title="Nautilus", shelf_id=shelf))["id"]
        await answered(world, "add_note", text="Dog-eared", book_id=book)
        deleted = await world.call("delete_shelf", {"shelf_id": shelf})
        assert isinstance(deleted.body, ToolResult)
        assert deleted.body.is_error is not goes
        assert len((await answered(world, "list_books"))["books"]) == (0 if goes else 1)


@pytest.mark.parametrize(("asked", "value"), [("path", "/home/a.md"), ("note", "Milk"), ("note_id", "n1")])
async def test_what_is_deleted_is_called_as_the_call_does(tmp_path: Path, asked: str, value: str) -> None:
    state = {"notes": [{"id": "n1", "title": "Milk", "path": "/home/a.md"}, {"id": "n2", "title": "b", "path": "/b"}]}
    tools = [tool("delete_note", needed=asked, **{asked: TEXT}), tool("list_notes")]
    async with simulator(tmp_path, tools, state).open() as world:
        assert (await answered(world, "delete_note", **{asked: value}))[asked] == value
        assert [row["id"] for row in await answered(world, "list_notes")] == ["n2"]


@pytest.mark.parametrize(("noun", "field"), [("basket", "item"), ("queue", "track")])
async def test_what_no_tool_shows_is_not_in_the_answer_of_a_removal(tmp_path: Path, noun: str, field: str) -> None:
    number: Json = {"type": "integer"}
    tools = [
        tool(f"remove_from_{noun}", needed=field, **{field: TEXT}),
        tool(f"add_to_{noun}", needed=f"{field} qty", **{field: TEXT, "qty": number}),
    ]
    state = {noun: [{field: "egg", "qty": 1}, {field: "milk", "qty": 3}]}
    async with simulator(tmp_path, [*tools, tool(f"show_{noun}")], state).open() as world:
        gone = await answered(world, f"remove_from_{noun}", **{field: "milk"})
        assert gone.keys() == {"success", field, "message"}
        assert (gone[field], "2" in gone["message"]) == ("milk", False)
        assert await answered(world, f"show_{noun}") == state[noun][:1]
