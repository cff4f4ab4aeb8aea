"""Tools that keep a list of notes without ids."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from support.backend_answers import INTEGER, STRING, Json, error_text, simulator, success_value, tool
from support.matched_tools import backends

from mcp_sim.backends.library import Library
from mcp_sim.backends.refusal import Refused

TODOS: Json = {"type": "array", "items": {"type": "object", "properties": {"content": STRING, "status": STRING}}}
TODO = [
    tool("add_todo", {"task": STRING}),
    tool("list_todos"),
    tool("complete_todo", {"index": INTEGER}),
    tool("remove_todo", {"index": INTEGER}),
]


async def test_a_scratchpad_is_appended_to_read_and_cleared(tmp_path: Path) -> None:
    tools = [tool("append_to_scratchpad", {"text": STRING}), tool("read_scratchpad"), tool("clear_scratchpad")]
    async with simulator(tmp_path, tools) as sim, sim.open() as world:
        assert "No" in success_value(await world.call("read_scratchpad", {}))
        success_value(await world.call("append_to_scratchpad", {"text": "milk"}))
        success_value(await world.call("append_to_scratchpad", {"text": "eggs"}))
        assert success_value(await world.call("read_scratchpad", {})) == "1. milk\n2. eggs"
        assert "2" in success_value(await world.call("clear_scratchpad", {}))
        assert world.view.count("scratchpad") == 0


async def test_tasks_are_checked_off_by_position(tmp_path: Path) -> None:
    async with simulator(tmp_path, TODO, {"todos": ["Call Ada", "Write to Bo"]}) as sim, sim.open() as world:
        success_value(await world.call("add_todo", {"task": "Pay the rent"}))
        success_value(await world.call("complete_todo", {"index": 1}))
        assert "Call Ada" in success_value(await world.call("remove_todo", {"index": 0}))
        assert success_value(await world.call("list_todos", {})) == "0. [x] Write to Bo\n1. Pay the rent"
        assert "0 to 1" in error_text(await world.call("remove_todo", {"index": 2}))


async def test_a_list_that_is_written_as_a_whole_is_read_as_it_was_written(tmp_path: Path) -> None:
    tools = [tool("todo_write", {"todos": TODOS}), tool("todo_read", {}, {"todos": TODOS})]
    async with simulator(tmp_path, tools) as sim, sim.open() as world:
        for rows in ([{"content": "a", "status": "open"}], [{"content": "b", "status": "done"}]):
            success_value(await world.call("todo_write", {"todos": rows}))
            assert success_value(await world.call("todo_read", {})) == {"todos": rows}


def test_notes_with_ids_are_records(tmp_path: Path) -> None:
    tools = [
        tool("add_note", {"text": STRING}),
        tool("list_notes"),
        tool("get_note", {"note_id": STRING}),
        tool("clear_notes"),
    ]
    known = backends(simulator(tmp_path, tools))
    assert known["add_note"] == "records"
    assert not [one for one in known.values() if one.startswith("notes")]


async def test_operations_are_called_from_python(tmp_path: Path) -> None:
    async with simulator(tmp_path, TODO).open() as world:
        notes = Library("notes", world.view, datetime(2026, 1, 1, tzinfo=UTC))
        for text in ("milk", "eggs", "rice"):
            notes.add(text)
        notes.tick(1)
        notes.change(2, "six eggs")
        notes.remove(3)
        assert notes.read().text == "1. [x] milk\n2. six eggs"
        assert notes.search("EGG").facts["count"] == 1
        assert notes.untick(1).text == "Note 1 is open again: milk"
        with pytest.raises(Refused, match="there are 1 to 2"):
            notes.remove(3)
        notes.replace(["tea"])
        assert notes.clear().text == "Cleared 1 notes"
        assert {one.entity for one in notes.changes} == {"note"}
