"""Which rows a list has: what a default scope hides, and which rows are on a page, is the model's decision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from support.desk import measured, value
from support.endpoint import saying, serving

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load

Json = Any
TEXT = {"type": "string"}
TASK = {
    "type": "object",
    "properties": {"id": TEXT, "title": TEXT, "status": {"enum": ["todo", "done"]}, "archived": {"type": "boolean"}},
    "required": ["id", "title", "status", "archived"],
}
TASKS = {"type": "array", "items": TASK}
OUTPUT = {"type": "object", "properties": {"tasks": TASKS}, "required": ["tasks"]}


def tool(name: str, output: Json, **arguments: Json) -> Json:
    declared: Json = {"name": name, "inputSchema": {"type": "object", "properties": arguments}}
    return declared if output is None else {**declared, "outputSchema": output}


TOOLS = [
    tool("create_task", TASK, title=TEXT),
    tool("update_task", TASK, task_id=TEXT, status={"enum": ["todo", "done"]}),
    tool("get_task", TASK, task_id=TEXT),
    tool("list_tasks", OUTPUT, status={"enum": ["todo", "done"]}, include_archived={"type": "boolean"}),
    {"name": "list_open_tasks", "inputSchema": {"type": "object"}},
    tool("find_tasks", OUTPUT, status=TEXT),
    tool("get_tasks", OUTPUT, limit={"type": "integer"}),
]


def task(number: int, status: str = "todo", *, archived: bool = False) -> Json:
    return {"id": f"task_{number:05}", "title": f"Task {number}", "status": status, "archived": archived}


def shown(*rows: Json) -> str:
    return json.dumps({"tasks": [*rows]})


def board(folder: Path, url: str, *rows: Json, tools: Sequence[Json] = TOOLS, state: Json = None) -> Simulator:
    """Return a simulator of a board whose tasks are these, or of other tools with their state."""
    (folder / "board.tools.json").write_text(json.dumps({"tools": [*tools]}), encoding="utf-8")
    scenario: Json = {
        "mcp_sim": 1,
        "name": "board",
        "tools": "board.tools.json",
        "world": {"records": {"task": {"count": len(rows), "rows": [*rows]}}} if state is None else {"state": state},
        "world_model": {"openai": {"base_url": url, "model": "tiny"}},
    }
    path = folder / "board.yaml"
    path.write_text(json.dumps(scenario), encoding="utf-8")
    return Simulator(load(path, trust=True))


async def test_a_list_may_leave_out_all_records_of_a_state_if_the_model_insists(tmp_path: Path) -> None:
    rows = task(1), task(2, "done"), task(3)
    answer = shown(rows[0], rows[2])
    async with serving(saying(answer)) as engine, board(tmp_path, engine.url, *rows).open() as world:
        assert value(await world.call("list_tasks", {})) == json.loads(answer)
        assert "tasks has 2 rows, but other rows exist for this call: 3" in engine.asked[1].question
    async with serving(saying(answer, shown(rows[2]))) as engine, board(tmp_path, engine.url, *rows).open() as world:
        assert value(await world.call("list_tasks", {})) == {"tasks": [rows[2], rows[0], rows[1]]}


async def test_which_records_an_argument_asks_for_is_for_the_model_to_say_if_it_insists(tmp_path: Path) -> None:
    rows = task(1), task(2)
    async with serving(saying(shown(rows[1]))) as engine, board(tmp_path, engine.url, *rows).open() as world:
        assert value(await world.call("find_tasks", {"status": "todo"})) == {"tasks": [rows[1]]}
        assert measured(world)["attempts"] == 2
        engine.respond = saying(json.dumps(task(3)))
        await world.call("create_task", {"title": "Task 3"})
        engine.respond = saying(shown(rows[1]))
        assert value(await world.call("find_tasks", {"status": "todo"})) == {"tasks": [rows[1], task(3)]}


async def test_a_list_may_leave_out_what_a_call_has_created_and_another_one_has_finished(tmp_path: Path) -> None:
    async with serving(saying(json.dumps(task(2)))) as engine, board(tmp_path, engine.url, task(1)).open() as world:
        await world.call("create_task", {"title": "Task 2"})
        engine.respond = saying(json.dumps(task(2, "done")))
        await world.call("update_task", {"task_id": "task_00002", "status": "done"})
        engine.respond = saying(shown(task(1)))
        assert value(await world.call("list_tasks", {})) == {"tasks": [task(1)]}
        assert measured(world)["attempts"] == 1


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        pytest.param("list_tasks", {}, shown(task(1)), id="some of one state"),
        pytest.param("list_tasks", {}, shown(), id="all, and nothing has changed"),
        pytest.param("list_tasks", {"status": "todo"}, shown(task(1)), id="some of the state that is asked for"),
        pytest.param("get_tasks", {"limit": 3}, shown(task(1)), id="some of a page"),
    ],
)
async def test_a_list_leaves_out_nothing_else(name: str, arguments: Json, answer: str, tmp_path: Path) -> None:
    rows = [task(1), task(2), task(3)]
    async with serving(saying(answer, shown())) as engine, board(tmp_path, engine.url, *rows).open() as world:
        assert value(await world.call(name, arguments)) == {"tasks": rows}


@pytest.mark.parametrize("cursor", ["abc", None])
async def test_no_rows_follow_the_last_ones(cursor: str | None, tmp_path: Path) -> None:
    ends = {"has_more": {"type": "boolean"}, "next_cursor": {"type": ["string", "null"]}}
    output = {"type": "object", "properties": {"tasks": TASKS, **ends}, "required": ["tasks", *ends]}
    tools, rows = [tool("list_tasks", output, cursor=TEXT, limit={"type": "integer"})], [task(1), task(2)]
    reply = json.dumps({"tasks": rows, "has_more": True, "next_cursor": cursor})
    async with serving(saying(reply)) as engine, board(tmp_path, engine.url, *rows, tools=tools).open() as world:
        served = value(await world.call("list_tasks", {}))
        assert served == {"tasks": rows, "has_more": False, "next_cursor": None}
