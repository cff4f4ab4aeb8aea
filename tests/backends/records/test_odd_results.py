"""Results that real APIs declare and that are no plain records: counts by name, references that lead back, people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from support import given
from support.services import service, value

Json = Any
TEXT, COUNT = {"type": "string"}, {"type": "integer"}


def tool(name: str, arguments: Json, *needed: str, output: Json) -> Json:
    schema: Json = {"type": "object", "properties": arguments, "required": [*needed]}
    return {"name": name, "inputSchema": schema, "outputSchema": {"type": "object", **output}}


def spec(*tools: Json) -> str:
    return f"tools: {json.dumps([*tools])}\n"


async def test_counts_by_names_that_nobody_declares_are_no_record(tmp_path: Path) -> None:
    counts = tool("get_inventory", {}, output={"additionalProperties": COUNT})
    async with service(tmp_path, spec(counts), "records: {}") as sim, sim.open() as world:
        found = value(await world.call("get_inventory", {}))
        assert found
        assert all(isinstance(one, int) for one in found.values())


PERSON: Json = {"type": "object", "properties": {"id": COUNT, "login": TEXT}, "required": ["id", "login"]}
ISSUE: Json = {
    "properties": {
        "id": COUNT, "title": TEXT, "assignee": {"anyOf": [PERSON, {"type": "null"}]},
        "parent_template": {"anyOf": [{"type": "null"}, {"$ref": "#"}]},
    },
    "required": ["id", "title", "assignee", "parent_template"],
}  # fmt: skip


async def test_who_is_shown_as_an_object_is_not_set_by_a_name_alone(tmp_path: Path) -> None:
    tools = spec(
        tool("create_issue", {"owner": TEXT, "title": TEXT, "assignee": TEXT}, "owner", "title", output=ISSUE),
        tool("get_issue", {"id": COUNT}, "id", output=ISSUE),
    )
    async with service(tmp_path, tools, "records: {issue: 5}") as sim, sim.open() as world:
        made = value(await world.call("create_issue", {"owner": "ada", "title": "Bell", "assignee": "bo"}))
        assert value(await world.call("get_issue", {"id": made["id"]})) == made
        assert made["assignee"] is None or set(made["assignee"]) == {"id", "login"}
        assert made["parent_template"] is None


async def test_a_number_is_written_as_text_where_only_texts_are_shown(tmp_path: Path) -> None:
    either = {"oneOf": [TEXT, COUNT]}
    tools = spec(
        tool("create_page", {"title": either}, "title", output={"properties": {"id": COUNT, "title": TEXT}}),
        tool("update_page", {"id": COUNT, "title": either}, "id", output={"properties": {"id": COUNT, "title": TEXT}}),
    )
    async with service(tmp_path, tools, "records: {}") as sim, sim.open() as world:
        made = value(await world.call("create_page", {"title": 1984}))
        assert made["title"] == "1984"
        assert value(await world.call("update_page", {"id": made["id"], "title": 2001}))["title"] == "2001"


async def test_one_record_that_nobody_names_is_the_same_one_every_time(tmp_path: Path) -> None:
    forms = {"anyOf": [{**PERSON, "required": ["id", "login"]}, {**PERSON, "required": ["login", "guest"]}]}
    tools = spec(tool("users_get_authenticated", {}, output=forms))
    async with service(tmp_path, tools, "records: {}") as sim, sim.open() as world:
        me = value(await world.call("users_get_authenticated", {}))
        assert isinstance(me["login"], str)
        assert value(await world.call("users_get_authenticated", {})) == me


async def test_a_number_stays_one_where_results_show_numbers_whatever_given_records_hold(tmp_path: Path) -> None:
    ticket: Json = {"properties": {"id": COUNT, "title": TEXT, "priority": COUNT}}
    tools = spec(
        tool("create_ticket", {"title": TEXT, "priority": COUNT}, "title", output=ticket),
        tool("get_ticket", {"id": COUNT}, "id", output={}),
    )
    state = "state: {tickets: [{id: 1, title: Bell, priority: high}]}"
    async with service(tmp_path, tools, state) as sim, sim.open() as world:
        made = value(await world.call("create_ticket", {"title": "Rope", "priority": 5}))
        assert made["priority"] == 5


async def test_a_day_or_a_time_is_kept_as_the_moment_that_results_promise(tmp_path: Path) -> None:
    moment: Json = {"type": "string", "format": "date-time"}
    shape: Json = {"type": "object", "properties": {"id": given.STRING, "starts": moment}, "required": ["id", "starts"]}
    tools = [{**given.tool(name, *needed), "outputSchema": shape} for name, needed in (
        ("create_regatta", ["starts"]), ("get_regatta", ["id"]),
    )]  # fmt: skip
    async with given.service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        for said, kept in (
            ("2030-05-20 10:00", "2030-05-20T10:00:00"),
            ("2030-05-20", "2030-05-20T00:00:00"),
            ("2030-05-20T10:00:00Z", "2030-05-20T10:00:00Z"),
        ):
            made = given.value(await world.call("create_regatta", {"starts": said}))
            assert made["starts"] == kept
            assert given.value(await world.call("get_regatta", {"id": made["id"]})) == made


async def test_what_is_said_to_return_an_id_returns_nothing_else(tmp_path: Path) -> None:
    text: Json = {"type": "object", "properties": {"result": {"type": "string"}}, "required": ["result"]}
    tools = (
        given.tool("create_raft", "name_of_raft", about="Make a raft.\n\nReturns:\n    The ID of the new raft."),
        {**given.tool("create_oar", "wood", about="Makes an oar and returns the oar's id."), "outputSchema": text},
        given.tool("create_sail", "cloth", about="Makes a sail. Returns its id and its size."),
        given.tool("get_raft", "raft_id"),
        given.tool("get_oar", "oar_id"),
    )
    async with given.service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        raft = given.value(await world.call("create_raft", {"name_of_raft": "Kon"}))
        assert given.value(await world.call("get_raft", {"raft_id": raft}))["name_of_raft"] == "Kon"
        oar = given.value(await world.call("create_oar", {"wood": "ash"}))
        assert given.value(await world.call("get_oar", {"oar_id": oar["result"]}))["wood"] == "ash"
        assert " " in str(given.value(await world.call("create_sail", {"cloth": "linen"})))
