"""Round trips that `check` tries: what a tool creates, with each tool that takes its key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import service

from mcp_sim.simulator.check_calls import failing_tools

Json = Any
TEXT = {"type": "string"}


def tool(name: str, *arguments: str) -> dict[str, Json]:
    schema = {"type": "object", "properties": dict.fromkeys(arguments, TEXT), "required": [*arguments]}
    return {"name": name, "description": "", "inputSchema": schema}


TOOLS = [tool("create_note", "title"), tool("get_note", "note_id"), tool("update_note", "note_id", "shelf", "title")]


async def test_a_tool_that_does_not_find_what_another_creates_is_reported(tmp_path: Path) -> None:
    entity = "entities: {note: {fields: {shelf: {type: string, default: A}}}}"
    sim = (
        "sim: {update_note: {verb: update, entity: note, key: note_id, filters: {shelf: shelf}, sets: {title: title}}}"
    )
    text = f"tools: {json.dumps(TOOLS)}\n{entity}\n{sim}"
    sentences = await failing_tools(service(tmp_path, text, "records: {note: 2}").scenario)
    assert [sentence.partition(" that")[0] for sentence in sentences] == ["create_note: update_note refuses the note"]


@pytest.mark.parametrize(("whole", "row"), [("order", "item"), ("shelf", "book"), ("ward", "bed")])
async def test_an_update_that_also_takes_the_parent_gets_that_of_the_record(
    whole: str, row: str, tmp_path: Path
) -> None:
    parent, key = f"{whole}_id", f"{row}_id"
    tools = [
        tool(f"get_{whole}", parent),
        tool(f"list_{row}s", parent),
        tool(f"add_{row}", parent, "name"),
        tool(f"update_{row}", parent, key, "name"),
    ]
    state = {f"{whole}s": [{"id": "w1"}, {"id": "w2"}], f"{row}s": [{"id": "r1", parent: "w1", "name": "Bell"}]}
    sim = service(tmp_path, f"tools: {json.dumps(tools)}", f"state: {json.dumps(state)}")
    assert sim.scenario.domain.plans[f"update_{row}"].filters
    assert await failing_tools(sim.scenario) == []


async def test_round_trips_that_work_are_not_reported(tmp_path: Path) -> None:
    text = f"tools: {json.dumps(TOOLS[:2])}"
    assert await failing_tools(service(tmp_path, text, "records: {note: 2}").scenario) == []
