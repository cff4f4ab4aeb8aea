"""Whether a record that a call has archived, closed or trashed is still shown is the model's decision."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.desk import said, tool
from support.endpoint import Engine, serving

from mcp_sim import Simulator
from mcp_sim.simulator.compile import load
from mcp_sim.types import ToolResult
from mcp_sim.world.world import World

Json = Any
TASK = {"id": "t1", "title": "Bell", "status": "pending"}
OTHER = {"id": "t2", "title": "Lamp", "status": "pending"}
TRASHED = {**TASK, "deleted_at": "2029-03-01T09:00:00Z"}
GONE: Json = {"isError": True, "text": "There is no task t1."}
TOOLS = [
    tool("task_list", []),
    tool("task_search", ["query"]),
    *(tool(f"task_{verb}", ["task_id"]) for verb in ("get", "archive", "complete", "trash", "delete", "restore")),
    tool("task_update", ["task_id", "title"]),
]


def tracker(folder: Path, url: str, *more: Json, given: bool) -> Simulator:
    """Return a tracker whose tasks are given, or else as the model shows them, with more tools."""
    rows = [TASK, OTHER]
    scenario: Json = {
        "mcp_sim": 1,
        "tools": "tracker.json",
        "world": {"records": {"task": {"count": 2, "rows": rows}}} if given else {},
        "world_model": {"openai": {"base_url": url, "model": "tiny"}},
    }
    (folder / "tracker.json").write_text(json.dumps({"tools": [*TOOLS, *more]}), encoding="utf-8")
    (folder / "tracker.yaml").write_text(json.dumps(scenario), encoding="utf-8")
    return Simulator(load(folder / "tracker.yaml"))


async def served(engine: Engine, world: World, reply: Json, name: str, arguments: Json) -> Json:
    """Return what a call is answered when this is the model's reply."""
    body = (await said(engine, world, reply, name, arguments)).body
    assert isinstance(body, ToolResult)
    return {"isError": True, "text": body.value} if body.is_error else body.value


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize(
    "reply", ["Done.", {"success": True}, {**TASK, "status": "archived"}], ids=["text", "flag", "record"]
)
@pytest.mark.parametrize(
    ("verb", "is_shown"), [("archive", False), ("complete", False), ("trash", False), ("trash", True)]
)
async def test_the_model_decides_whether_a_hidden_record_is_shown(
    given: bool, reply: Json, verb: str, is_shown: bool, tmp_path: Path
) -> None:
    hidden = {**TASK, "status": "archived"} if isinstance(reply, dict) and "status" in reply else TASK
    rows = [OTHER, hidden] if is_shown else [OTHER]
    listed = {"tasks": rows, "total": len(rows)}
    async with serving() as engine, tracker(tmp_path, engine.url, given=given).open() as world:
        if not given:
            assert await served(engine, world, {"tasks": [TASK, OTHER], "total": 2}, "task_list", {})
        assert await served(engine, world, reply, f"task_{verb}", {"task_id": "t1"}) == reply
        asked = len(engine.asked)
        got = hidden if is_shown else GONE
        assert await served(engine, world, got, "task_get", {"task_id": "t1"}) == got
        assert await served(engine, world, listed, "task_list", {}) == listed
        assert len(engine.asked) == asked + 2


@pytest.mark.parametrize(("reply", "is_soft"), [(TRASHED, True), (TASK, False), ("Done.", False)])
async def test_what_a_removal_shows_with_a_new_time_is_removed_softly(
    reply: Json, is_soft: bool, tmp_path: Path
) -> None:
    async with serving() as engine, tracker(tmp_path, engine.url, given=True).open() as world:
        assert await served(engine, world, reply, "task_delete", {"task_id": "t1"}) == reply
        shown = await served(engine, world, TRASHED, "task_get", {"task_id": "t1"})
        assert (shown == TRASHED) is is_soft
        restored = await served(engine, world, TASK, "task_restore", {"task_id": "t1"})
        assert (restored == TASK) is is_soft
