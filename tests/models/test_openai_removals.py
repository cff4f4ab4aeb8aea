"""What answers show of records reaches the world whatever names them, and leaves it when the records are removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.desk import Desk, said, tool, value
from support.endpoint import serving

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


async def test_a_removed_id_is_not_given_again_in_another_notation(desk: Desk) -> None:
    async with serving() as engine, desk(engine.url).open() as world:
        await said(engine, world, json.dumps({**BELL, "id": 7}), "get_ticket", {"ticket_id": "7"})
        await said(engine, world, "Deleted.", "update_ticket", {"ticket_id": "7", "delete": True})
        again = await said(engine, world, json.dumps({**BELL, "id": "7"}), "create_ticket", {"title": "Bell"})
        assert value(again)["id"] not in (7, "7")
        assert not (await said(engine, world, json.dumps(BELL | {"id": 7}), "get_ticket", {"ticket_id": "7"})).ok
