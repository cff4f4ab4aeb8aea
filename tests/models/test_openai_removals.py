"""What answers show of records reaches the world whatever names them, and leaves it when the records are removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.desk import Desk, said, tool, value
from support.endpoint import saying, serving

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load

Json = Any
BELL = {"id": "tkt-41", "title": "Bell", "project": "shop", "effort": 2}
TOOLS = [
    tool("create_ticket", ["title", "project"]),
    tool("get_ticket", ["ticket_id"]),
    {
        "name": "update_ticket",
        "inputSchema": {
            "type": "object",
            "properties": {"ticket_id": {"type": "string"}, "title": {"type": "string"}, "delete": {"type": "boolean"}},
            "required": ["ticket_id"],
        },
    },
    tool("list_tickets", ["project"]),
    tool("search_tickets", ["query"]),
    tool("read_file", ["path"]),
    tool("write_file", ["path", "content"]),
    tool("delete_file", ["path"]),
    tool("move_file", ["source", "destination"]),
    tool("list_directory", ["path"]),
]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return a desk that knows only what the model shows, and one file."""

    def simulator(url: str) -> Simulator:
        state: Json = {"/notes/old.md": "Old."}
        scenario: Json = {
            "mcp_sim": 1,
            "tools": "removals.tools.json",
            "world": {"state": state},
            "world_model": {"openai": {"base_url": url, "model": "tiny"}},
        }
        (tmp_path / "removals.tools.json").write_text(json.dumps({"tools": TOOLS}), encoding="utf-8")
        path = tmp_path / "removals.yaml"
        path.write_text(json.dumps(scenario), encoding="utf-8")
        return Simulator(load(path, trust=True))

    return simulator


@pytest.mark.parametrize(("flag", "is_left"), [(True, False), (False, True)])
async def test_an_update_whose_flag_is_a_verb_of_removal_removes_its_record(
    flag: bool, is_left: bool, desk: Desk
) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        assert (await said(engine, world, BELL, "get_ticket", {"ticket_id": "tkt-41"})).ok
        reply = {"deleted": flag, **BELL}
        arguments = {"ticket_id": "tkt-41", "delete": flag}
        assert value(await said(engine, world, reply, "update_ticket", arguments)) == reply
        assert (world.view.get("ticket", "tkt-41") is not None) is is_left


async def test_a_search_shows_the_id_of_a_known_record_and_no_other_fact(desk: Desk) -> None:
    hit = {"id": "tkt-41", "uuid": "8d1e-77", "snippet": "Be..", "effort": 9}
    async with serving() as engine, desk(engine.url).open() as world:
        assert (await said(engine, world, BELL, "get_ticket", {"ticket_id": "tkt-41"})).ok
        assert (await said(engine, world, {"tickets": [hit]}, "search_tickets", {"query": "bell"})).ok
        assert world.view.get("ticket", "tkt-41") == {**BELL, "uuid": "8d1e-77"}


async def test_rows_without_an_id_are_kept_by_their_name(desk: Desk) -> None:
    rows = [{"title": "Bell", "effort": 2}, {"title": "Lamp", "effort": 5}]
    async with serving() as engine, desk(engine.url).open() as world:
        assert (await said(engine, world, {"tickets": rows}, "list_tickets", {"project": "shop"})).ok
        kept = [record for entity in world.view.entities() for _, record in world.view.rows(entity)]
        assert all(row in kept for row in rows)
        wrong = [{**rows[0], "effort": 7}, rows[1]]
        again = await said(engine, world, {"tickets": wrong}, "list_tickets", {"project": "shop"})
        assert value(again) == {"tickets": rows}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("delete_file", {"path": "notes/old.md"}),
        ("move_file", {"source": "notes/old.md", "destination": "notes/new.md"}),
    ],
)
async def test_a_removed_file_is_gone_under_the_name_that_answers_showed_it_by(
    name: str, arguments: Json, desk: Desk
) -> None:
    shown: Json = {"path": "notes/old.md", "content": "Old.", "etag": "e1"}

    def kept(world: Any) -> list[Json]:
        rows = [record for entity in world.view.entities() for _, record in world.view.rows(entity)]
        return [row for row in rows if row.get("path") == "notes/old.md"]

    async with serving() as engine, desk(engine.url).open() as world:
        assert (await said(engine, world, shown, "read_file", {"path": "notes/old.md"})).ok
        assert kept(world) == [shown]
        assert (await said(engine, world, {"done": True}, name, arguments)).ok
        assert kept(world) == []
        assert value(await said(engine, world, shown, "write_file", {"path": "notes/old.md", "content": "Old."}))
        assert (await said(engine, world, shown, "read_file", {"path": "notes/old.md"})).ok
        assert kept(world) == [shown]


async def test_a_removed_id_is_not_given_again_in_another_notation(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        await said(engine, world, json.dumps({**BELL, "id": 7}), "get_ticket", {"ticket_id": "7"})
        await said(engine, world, "Deleted.", "update_ticket", {"ticket_id": "7", "delete": True})
        again = await said(engine, world, json.dumps({**BELL, "id": "7"}), "create_ticket", {"title": "Bell"})
        assert value(again)["id"] not in (7, "7")
        assert not (await said(engine, world, json.dumps(BELL | {"id": 7}), "get_ticket", {"ticket_id": "7"})).ok


async def test_arguments_may_be_about_an_object_that_the_call_adds_to_a_record(tmp_path: Path) -> None:
    names = ["project_id", "title", "priority"]
    task: Json = {**tool("add_project_task", names), "description": "Add a task to a project"}
    level: Json = {"type": "string", "enum": ["low", "high", "urgent"]}
    task["inputSchema"]["properties"]["priority"] = level
    project_tools: list[Json] = [tool("create_project", ["name", "priority"]), tool("get_project", ["project_id"])]
    project_tools[0]["inputSchema"]["properties"]["priority"] = level
    tools = [*project_tools, task]
    (tmp_path / "projects.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    project = {"id": "p-1", "name": "Garden", "status": "new", "priority": "high", "tasks": list[Json]()}
    extended = {**project, "tasks": [{"id": "t-1", "title": "Pour", "priority": "urgent"}]}
    async with serving(saying(json.dumps(project))) as engine:
        model = {"openai": {"base_url": engine.url, "model": "tiny"}}
        scenario = {"mcp_sim": 1, "tools": "projects.json", "world_model": model}
        (tmp_path / "projects.yaml").write_text(json.dumps(scenario), encoding="utf-8")
        async with Simulator(load(tmp_path / "projects.yaml", trust=True)).open() as world:
            await world.call("create_project", {"name": "Garden", "priority": "high"})
            engine.respond = saying(json.dumps(extended))
            added = dict(zip(names, ["p-1", "Pour", "urgent"], strict=True))
            assert value(await world.call("add_project_task", added)) == extended
            assert value(await world.call("get_project", {"project_id": "p-1"})) == extended
