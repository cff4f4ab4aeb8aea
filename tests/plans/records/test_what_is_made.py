"""What tools make, by what their descriptions and schemas say that they return or take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.matched_tools import TEXT, answered, simulator, tool

Json = Any
NUMBER = {"type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"]}


@pytest.mark.parametrize("noun", ["node", "task", "ship"])
async def test_what_is_added_to_an_id_is_shown_by_its_record(noun: str, tmp_path: Path) -> None:
    tools = [
        tool("create", f"Create a {noun}.", title=TEXT),
        tool("get", f"Get a {noun}.", id=TEXT),
        tool("delete", f"Delete a {noun}.", id=TEXT),
        tool("add_note", f"Add a note to a {noun}.", id=TEXT, note=TEXT),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        key = (await answered(world, "create", title="First"))["id"]
        await answered(world, "add_note", id=key, note="It leans")
        await answered(world, "add_note", id=key, note="Still")
        assert (await answered(world, "get", id=key))["notes"] == ["It leans", "Still"]


@pytest.mark.parametrize("act", ["post", "add"])
async def test_a_number_that_a_create_returns_is_the_id_of_its_record(act: str, tmp_path: Path) -> None:
    tools = [
        tool(f"{act}_message", f"{act.title()} a message.", output=NUMBER, body=TEXT),
        tool("list_messages"),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        made = [(await answered(world, f"{act}_message", body=body))["result"] for body in ("Hello", "Bye")]
        assert made == [row["id"] for row in (await answered(world, "list_messages"))["messages"]] == [1, 2]


@pytest.mark.parametrize("said", ["Returns motion_id.", "Returns the id of the new motion.", "Returns its motion_id"])
async def test_what_a_description_says_that_it_returns_the_id_of_is_made(said: str, tmp_path: Path) -> None:
    tools = [
        tool("propose_motion", f"Propose a motion to the board. {said}", text=TEXT),
        tool("motion_vote", "Vote on a motion.", motion_id=TEXT, vote=TEXT),
        tool("list_motions"),
    ]
    async with simulator(tmp_path, tools, {}).open() as world:
        key = (await answered(world, "propose_motion", text="Paint the hall"))["motion_id"]
        [row] = (await answered(world, "list_motions"))["motions"]
        assert (row["id"], row["text"]) == (key, "Paint the hall")
