"""Changes that names of tools imply: labels, flags, copies, the record that a change addresses, the next record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import message, service, value

Json = Any
TEXT = {"type": "string"}


def tool(name: str, *needed: str, **more: Json) -> Json:
    schema = {"type": "object", "properties": dict.fromkeys(needed, TEXT) | more, "required": [*needed]}
    return {"name": name, "inputSchema": schema}


def spec(*tools: Json) -> str:
    return f"tools: {json.dumps([*tools])}"


TASKS = (tool("create_task", "title", project_id=TEXT), tool("get_task", "task_id"), tool("list_tasks"))


async def test_values_that_only_enter_records_are_lists_of_the_record(tmp_path: Path) -> None:
    tools = spec(*TASKS, tool("add_label", "task_id", "label"), tool("remove_label", "task_id", "label"))
    async with service(tmp_path, tools, "records: {task: 3}") as sim, sim.open() as world:
        task = value(await world.call("create_task", {"title": "Paint"}))["id"]
        for label in ("urgent", "blue"):
            await world.call("add_label", {"task_id": task, "label": label})
        assert value(await world.call("get_task", {"task_id": task}))["labels"] == ["urgent", "blue"]
        value(await world.call("remove_label", {"task_id": task, "label": "urgent"}))
        assert value(await world.call("get_task", {"task_id": task}))["labels"] == ["blue"]
        assert "no" in message(await world.call("remove_label", {"task_id": task, "label": "urgent"}))


@pytest.mark.parametrize(("owner", "part"), [("todo", "blocker"), ("contact", "segment"), ("recipe", "tag")])
@pytest.mark.parametrize(
    ("name", "key", "argument"),
    [
        ("{owner}_{verb}_{part}", "id", "{part}"),
        ("{verb}_{owner}_{part}", "{owner}_id", "{part}"),
        ("{verb}_{owner}_{part}", "{owner}_id", "{part}_id"),
        ("{verb}_{part}_to_{owner}", "{owner}_id", "{part}"),
    ],
)
async def test_a_part_named_beside_its_owner_enters_it_and_leaves_it(
    owner: str, part: str, name: str, key: str, argument: str, tmp_path: Path
) -> None:
    key, argument = key.format(owner=owner), argument.format(part=part)
    mine = [tool(f"{owner}_create", "title"), tool(f"{owner}_get", key), tool(f"{owner}_list")]
    names = {verb: name.format(owner=owner, verb=verb, part=part) for verb in ("add", "remove")}
    names["remove"] = names["remove"].replace("_to_", "_from_")
    changes = [tool(changing, key, argument) for changing in names.values()]
    others = [tool(f"note_{verb}", "id") for verb in ("get", "update", "delete", "archive")]
    async with (
        service(tmp_path, spec(*others, *mine, *changes), f"records: {{{owner}: 0}}") as sim,
        sim.open() as world,
    ):
        number = value(await world.call(f"{owner}_create", {"title": "Paint"}))["id"]
        for entered in ("blue", "red"):
            value(await world.call(names["add"], {key: number, argument: entered}))
        value(await world.call(names["remove"], {key: number, argument: "blue"}))
        assert ["red"] in value(await world.call(f"{owner}_get", {key: number})).values()
        assert world.view.count(owner) == 1


async def test_values_with_tools_of_their_own_are_records(tmp_path: Path) -> None:
    tools = spec(*TASKS, tool("add_label", "task_id", "label"), tool("list_labels"))
    async with service(tmp_path, tools, "records: {task: 3}") as sim, sim.open() as world:
        task = value(await world.call("create_task", {"title": "Paint"}))["id"]
        await world.call("add_label", {"task_id": task, "label": "urgent-17"})
        assert "urgent-17" in json.dumps(value(await world.call("list_labels", {})))
        assert "labels" not in value(await world.call("get_task", {"task_id": task}))


async def test_verbs_that_others_undo_set_a_flag(tmp_path: Path) -> None:
    tools = spec(*TASKS, tool("pin_task", "task_id"), tool("unpin_task", "task_id"), tool("archive_task", "task_id"))
    async with service(tmp_path, tools, "records: {task: 3}") as sim, sim.open() as world:
        task = {"task_id": value(await world.call("create_task", {"title": "Paint"}))["id"]}
        await world.call("pin_task", task)
        await world.call("archive_task", task)
        found = value(await world.call("get_task", task))
        assert (found["pinned"], found["archived"]) == (True, True)
        await world.call("unpin_task", task)
        assert value(await world.call("get_task", task))["pinned"] is False


async def test_a_copy_has_the_values_of_its_original_and_an_id_of_its_own(tmp_path: Path) -> None:
    tools = spec(*TASKS, tool("list_projects"), tool("duplicate_task", "task_id", title=TEXT))
    async with service(tmp_path, tools, "records: {task: 3, project: 2}") as sim, sim.open() as world:
        task = value(await world.call("create_task", {"title": "Paint", "project_id": "project_00002"}))
        copy = value(await world.call("duplicate_task", {"task_id": task["id"]}))
        assert (copy["title"], copy["project_id"]) == ("Paint", "project_00002")
        assert copy["id"] != task["id"]
        assert value(await world.call("get_task", {"task_id": copy["id"]})).items() <= copy.items()
        renamed = value(await world.call("duplicate_task", {"task_id": task["id"], "title": "Plaster"}))
        assert (renamed["title"], renamed["project_id"]) == ("Plaster", "project_00002")
        assert "not found" in message(await world.call("duplicate_task", {"task_id": "task_99999"}))


@pytest.mark.parametrize(
    ("noun", "key", "source", "target"),
    [
        ("document", "filename", "source_filename", "destination_filename"),
        ("file", "path", "source", "destination"),
        ("file", "path", "from_path", "to_path"),
        ("worksheet", "sheet_name", "source_sheet", "target_sheet"),
    ],
)
async def test_a_copy_is_named_by_the_call_or_after_its_original(
    tmp_path: Path, noun: str, key: str, source: str, target: str
) -> None:
    tools = spec(
        tool(f"create_{noun}", key, author=TEXT),
        tool(f"get_{noun}", key),
        tool(f"copy_{noun}", source, **{target: TEXT}),
    )
    async with service(tmp_path, tools, "{}") as sim, sim.open() as world:
        value(await world.call(f"create_{noun}", {key: "a.md", "author": "Ada"}))
        value(await world.call(f"copy_{noun}", {source: "a.md", target: "b.md"}))
        assert value(await world.call(f"get_{noun}", {key: "b.md"}))["author"] == "Ada"
        copies = [value(await world.call(f"copy_{noun}", {source: "a.md"}))[key] for _ in range(2)]
        assert copies == ["copy_of_a.md", "copy_2_of_a.md"]
        assert "exists" in message(await world.call(f"create_{noun}", {key: "b.md"}))
        assert "not found" in message(await world.call(f"copy_{noun}", {source: "none.md"}))


async def test_a_change_addresses_its_record_by_the_parent_too(tmp_path: Path) -> None:
    tools = spec(
        tool("create_list", "title"),
        tool("create_item", "list_id", "text"),
        tool("get_item", "item_id"),
        tool("update_item", "list_id", "item_id", text=TEXT),
        tool("delete_item", "list_id", "item_id"),
        tool("move_item", "list_id", "item_id"),
    )
    async with service(tmp_path, tools, "records: {list: 2}") as sim, sim.open() as world:
        mine, other = [value(await world.call("create_list", {"title": name}))["id"] for name in ("A", "B")]
        item = value(await world.call("create_item", {"list_id": mine, "text": "milk"}))["id"]
        wrong, right = ({"list_id": one, "item_id": item} for one in (other, mine))
        assert "not found" in message(await world.call("update_item", {**wrong, "text": "tea"}))
        assert "not found" in message(await world.call("delete_item", wrong))
        assert value(await world.call("update_item", {**right, "text": "tea"}))["list_id"] == mine
        value(await world.call("move_item", wrong))
        found = value(await world.call("get_item", {"item_id": item}))
        assert (found["list_id"], found["text"]) == (other, "tea")


async def test_the_next_record_is_neither_done_nor_past(tmp_path: Path) -> None:
    tools = spec(
        *TASKS,
        tool("get_next_task"),
        tool("get_current_task"),
        tool("complete_task", "task_id"),
        tool("update_task", "task_id", status={**TEXT, "enum": ["todo", "in_progress", "done"]}),
        tool("create_meeting", "topic", start_time={**TEXT, "format": "date-time"}),
        tool("get_next_meeting"),
    )
    world_part = """
    now: 2030-01-01T09:00:00Z
    records:
      task:
        rows:
          - {id: t1, title: Old, status: done}
          - {id: t2, title: Begun, status: in_progress}
          - {id: t3, title: Open, status: todo}
      meeting:
        rows:
          - {id: m1, topic: Past, start_time: "2029-12-31T09:00:00Z"}
          - {id: m2, topic: Later, start_time: "2030-01-05T09:00:00Z"}
          - {id: m3, topic: Soon, start_time: "2030-01-02T09:00:00Z"}
    """
    async with service(tmp_path, tools, world_part) as sim, sim.open() as world:
        assert value(await world.call("get_next_task", {}))["id"] == "t3"
        assert value(await world.call("get_current_task", {}))["id"] == "t2"
        assert value(await world.call("get_next_meeting", {}))["id"] == "m3"
        for task in ("t2", "t3"):
            value(await world.call("complete_task", {"task_id": task}))
        assert "left" in value(await world.call("get_next_task", {}))["message"]
