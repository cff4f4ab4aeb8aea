"""Tools on the records of other nouns: lists of a state, changes of a part, renames, cascades."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.matched_tools import TEXT, answered, refused, simulator, tool

Json = Any
STATUS: Json = {"type": "string", "enum": ["todo", "blocked", "done"]}
TASKS = [
    tool("create_task", title=TEXT),
    tool("get_task", task_id=TEXT),
    tool("list_tasks"),
    tool("update_task_status", task_id=TEXT, status=STATUS),
    tool("get_blocked_tasks", "Get all blocked tasks."),
    tool("set_blocker", "Mark a task as blocked, with a reason.", task_id=TEXT, reason=TEXT),
    tool("resolve_blocker", "Resolve a blocker and set task to todo.", task_id=TEXT),
    tool("set_handover", "Keep what the next one has to know.", task_id=TEXT, notes=TEXT),
]


async def test_a_list_named_after_a_state_shows_only_that_state(tmp_path: Path) -> None:
    async with simulator(tmp_path, TASKS, {}).open() as world:
        first = (await answered(world, "create_task", title="Tiles"))["id"]
        await answered(world, "create_task", title="Paint")
        assert (await answered(world, "get_blocked_tasks"))["tasks"] == []
        await answered(world, "update_task_status", task_id=first, status="blocked")
        assert [one["title"] for one in (await answered(world, "get_blocked_tasks"))["tasks"]] == ["Tiles"]


async def test_a_noun_that_no_tool_creates_is_set_on_the_named_record(tmp_path: Path) -> None:
    async with simulator(tmp_path, TASKS, {}).open() as world:
        task = (await answered(world, "create_task", title="Tiles"))["id"]
        await answered(world, "set_blocker", task_id=task, reason="No grout")
        found = await answered(world, "get_task", task_id=task)
        assert (found["status"], found["reason"]) == ("blocked", "No grout")
        await answered(world, "resolve_blocker", task_id=task)
        await answered(world, "set_handover", task_id=task, notes="Ask Bo")
        found = await answered(world, "get_task", task_id=task)
        assert (found["status"], found["notes"]) == ("todo", "Ask Bo")
        assert "nope" in await refused(world, "set_blocker", task_id="nope", reason="x")


async def test_completed_and_incomplete_lists_filter_by_a_flag(tmp_path: Path) -> None:
    tools = [
        tool("create_todo", title=TEXT),
        tool("update_todo", todo_id=TEXT, completed={"type": "boolean"}),
        tool("list_completed_todos"),
        tool("list_incomplete_todos"),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        todo = (await answered(world, "create_todo", title="Milk"))["id"]
        bread = (await answered(world, "create_todo", title="Bread"))["id"]
        await answered(world, "update_todo", todo_id=todo, completed=True)
        assert [one["id"] for one in (await answered(world, "list_completed_todos"))["todos"]] == [todo]
        assert [one["id"] for one in (await answered(world, "list_incomplete_todos"))["todos"]] == [bread]


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


async def test_a_described_cascade_deletes_dependent_records(tmp_path: Path) -> None:
    tools = [
        tool("create_board", name=TEXT),
        tool("delete_board", "Delete a board and all its lists.", board_id=TEXT),
        tool("create_list", board_id=TEXT, name=TEXT),
        tool("get_list", list_id=TEXT),
        tool("create_card", list_id=TEXT, title=TEXT),
        tool("get_card", card_id=TEXT),
        tool("delete_list", "Delete a list.", list_id=TEXT),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        board = (await answered(world, "create_board", name="House"))["id"]
        column = (await answered(world, "create_list", board_id=board, name="Attic"))["id"]
        card = (await answered(world, "create_card", list_id=column, title="Insulate"))["id"]
        assert "refers to it" in await refused(world, "delete_list", list_id=column)
        await answered(world, "delete_board", board_id=board)
        assert column in await refused(world, "get_list", list_id=column)
        assert card in await refused(world, "get_card", card_id=card)


async def test_a_reference_by_a_chosen_name_must_exist(tmp_path: Path) -> None:
    tools = [
        tool("create_shelf", "Create a shelf.", name=TEXT),
        tool("delete_shelf", "Delete a shelf and everything on it.", name=TEXT),
        tool("rename_shelf", old_name=TEXT, new_name=TEXT),
        tool("add_book", shelf=TEXT, title=TEXT),
        tool("get_book", book_id=TEXT),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        assert "Travel" in await refused(world, "add_book", shelf="Travel", title="Alps")
        await answered(world, "create_shelf", name="Travel")
        book = (await answered(world, "add_book", shelf="Travel", title="Alps"))["id"]
        await answered(world, "rename_shelf", old_name="Travel", new_name="Away")
        assert (await answered(world, "get_book", book_id=book))["shelf"] == "Away"
        await answered(world, "delete_shelf", name="Away")
        assert book in await refused(world, "get_book", book_id=book)


async def test_id_or_name_finds_a_record_by_either(tmp_path: Path) -> None:
    tools = [
        tool("create_template", name=TEXT, body=TEXT),
        tool("get_template", id_or_name=TEXT),
        tool("update_template", needed="id_or_name", id_or_name=TEXT, body=TEXT),
        tool("delete_template", id_or_name=TEXT),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        made = await answered(world, "create_template", name="review", body="Read it")
        assert (await answered(world, "get_template", id_or_name="review"))["id"] == made["id"]
        await answered(world, "update_template", id_or_name="review", body="Read it twice")
        assert (await answered(world, "get_template", id_or_name=made["id"]))["body"] == "Read it twice"
        await answered(world, "delete_template", id_or_name="review")
        assert "review" in await refused(world, "get_template", id_or_name="review")
