"""Results in unusual forms: open schemas, single values, people, references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import given
from support.services import service, value

from mcp_sim.types.errors import Crash

Json = Any

_OPEN: Json = {"type": "object", "additionalProperties": True}


def _open(name: str, *required: str, **arguments: Json) -> Json:
    return {**given.tool(name, *required, **arguments), "outputSchema": _OPEN}


async def test_an_open_result_schema_shows_the_whole_record(tmp_path: Path) -> None:
    tools = (
        _open("add_kettle", "colour"),
        _open("list_kettles", colour=given.STRING),
        _open("delete_kettle", "kettle_id"),
    )
    async with given.service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        made = [given.value(await world.call("add_kettle", {"colour": one})) for one in ("red", "blue")]
        listed = given.value(await world.call("list_kettles", {}))
        assert [one["colour"] for one in listed["kettles"]] == ["red", "blue"]
        assert listed["count"] == 2
        gone = given.value(await world.call("delete_kettle", {"kettle_id": made[0]["id"]}))
        assert gone == {"deleted": True, "id": made[0]["id"]}
        assert [one["colour"] for one in given.value(await world.call("list_kettles", {}))["kettles"]] == ["blue"]


_TEXTS: Json = {"type": "object", "additionalProperties": given.STRING}
_KETTLES: Json = {
    "kettles": [{"id": 1, "colour": "red", "litres": 1.5, "lids": ["tin"]}],
    "shelf": {"street": "Mill Lane", "town": "Ely"},
}


async def test_a_mapping_of_texts_confirms_a_write_or_shows_the_texts_of_a_record(tmp_path: Path) -> None:
    tools = [
        given.tool("add_kettle", "colour", litres=given.NUMBER),
        given.tool("get_kettle", "id", id=given.INTEGER),
        given.tool("delete_kettle", "id", id=given.INTEGER),
        given.tool("update_shelf", town=given.STRING),
    ]
    tools = [{**one, "outputSchema": _TEXTS} for one in tools]
    async with given.service(tmp_path, _KETTLES, *tools) as simulator, simulator.open("w") as world:
        assert {*given.value(await world.call("add_kettle", {"colour": "blue", "litres": 2}))} == {"message"}
        assert given.value(await world.call("get_kettle", {"id": 1})) == {"colour": "red"}
        assert {*given.value(await world.call("delete_kettle", {"id": 1}))} == {"message"}
        assert given.value(await world.call("update_shelf", {"town": "Wells"})) == {
            "street": "Mill Lane",
            "town": "Wells",
        }


async def test_an_empty_optional_property_that_takes_no_null_is_left_out(tmp_path: Path) -> None:
    shape: Json = {"type": "object", "properties": {"id": given.INTEGER, "colour": given.STRING}, "required": ["id"]}
    rows = [{"id": 1, "colour": None}, {"id": 2, "colour": "red"}]
    listed = {**given.tool("get_kettle", "id", id=given.INTEGER), "outputSchema": shape}
    async with given.service(tmp_path, {"kettles": rows}, listed) as simulator, simulator.open("w") as world:
        assert given.value(await world.call("get_kettle", {"id": 1})) == {"id": 1}
        assert given.value(await world.call("get_kettle", {"id": 2})) == {"id": 2, "colour": "red"}


TEXT, COUNT = {"type": "string"}, {"type": "integer"}


def tool(name: str, arguments: Json, *needed: str, output: Json) -> Json:
    schema: Json = {"type": "object", "properties": arguments, "required": [*needed]}
    return {"name": name, "inputSchema": schema, "outputSchema": {"type": "object", **output}}


def spec(*tools: Json) -> str:
    return f"tools: {json.dumps([*tools])}\n"


async def test_a_mapping_of_counts_by_undeclared_names_is_not_a_record(tmp_path: Path) -> None:
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


async def test_a_person_shown_as_an_object_is_not_replaced_by_a_name(tmp_path: Path) -> None:
    tools = spec(
        tool("create_issue", {"owner": TEXT, "title": TEXT, "assignee": TEXT}, "owner", "title", output=ISSUE),
        tool("get_issue", {"id": COUNT}, "id", output=ISSUE),
    )
    async with service(tmp_path, tools, "records: {issue: 5}") as sim, sim.open() as world:
        made = value(await world.call("create_issue", {"owner": "ada", "title": "Bell", "assignee": "bo"}))
        assert value(await world.call("get_issue", {"id": made["id"]})) == made
        assert made["assignee"] is None or set(made["assignee"]) == {"id", "login"}
        assert made["parent_template"] is None


async def test_a_number_is_stored_as_text_if_results_show_only_texts(tmp_path: Path) -> None:
    either = {"oneOf": [TEXT, COUNT]}
    tools = spec(
        tool("create_page", {"title": either}, "title", output={"properties": {"id": COUNT, "title": TEXT}}),
        tool("update_page", {"id": COUNT, "title": either}, "id", output={"properties": {"id": COUNT, "title": TEXT}}),
    )
    async with service(tmp_path, tools, "records: {}") as sim, sim.open() as world:
        made = value(await world.call("create_page", {"title": 1984}))
        assert made["title"] == "1984"
        assert value(await world.call("update_page", {"id": made["id"], "title": 2001}))["title"] == "2001"


async def test_a_record_without_a_key_is_the_same_in_every_call(tmp_path: Path) -> None:
    forms = {"anyOf": [{**PERSON, "required": ["id", "login"]}, {**PERSON, "required": ["login", "guest"]}]}
    tools = spec(tool("users_get_authenticated", {}, output=forms))
    async with service(tmp_path, tools, "records: {}") as sim, sim.open() as world:
        me = value(await world.call("users_get_authenticated", {}))
        assert isinstance(me["login"], str)
        assert value(await world.call("users_get_authenticated", {})) == me


async def test_a_number_stays_a_number_if_results_show_numbers(tmp_path: Path) -> None:
    ticket: Json = {"properties": {"id": COUNT, "title": TEXT, "priority": COUNT}}
    tools = spec(
        tool("create_ticket", {"title": TEXT, "priority": COUNT}, "title", output=ticket),
        tool("get_ticket", {"id": COUNT}, "id", output={}),
    )
    state = "state: {tickets: [{id: 1, title: Bell, priority: high}]}"
    async with service(tmp_path, tools, state) as sim, sim.open() as world:
        made = value(await world.call("create_ticket", {"title": "Rope", "priority": 5}))
        assert made["priority"] == 5


async def test_a_date_is_stored_as_the_date_time_that_results_declare(tmp_path: Path) -> None:
    moment: Json = {"type": "string", "format": "date-time"}
    shape: Json = {"type": "object", "properties": {"id": given.STRING, "starts": moment}, "required": ["id", "starts"]}
    tools = [{**given.tool(name, *needed), "outputSchema": shape} for name, needed in (
        ("create_regatta", ["starts"]), ("get_regatta", ["id"]),
    )]  # fmt: skip
    async with given.service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        for given_time, kept in (
            ("2030-05-20 10:00", "2030-05-20T10:00:00"),
            ("2030-05-20", "2030-05-20T00:00:00"),
            ("2030-05-20T10:00:00Z", "2030-05-20T10:00:00Z"),
        ):
            made = given.value(await world.call("create_regatta", {"starts": given_time}))
            assert made["starts"] == kept
            assert given.value(await world.call("get_regatta", {"id": made["id"]})) == made


async def test_a_tool_described_to_return_an_id_returns_only_the_id(tmp_path: Path) -> None:
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


STRING = {"type": "string"}


def wiki_tool(name: str, description: str, *arguments: str, output: Json = None) -> Json:
    schema = {"type": "object", "properties": dict.fromkeys(arguments, STRING), "required": [*arguments]}
    declared = {} if output is None else {"outputSchema": output}
    return {"name": name, "description": description, "inputSchema": schema, **declared}


def wiki(*more: Json) -> str:
    made = wiki_tool("create_page", "Create a page", "title", "content")
    return f"tools: {json.dumps([made, wiki_tool('list_pages', 'List all pages'), *more])}\n"


WRAPPED = {"type": "object", "properties": {"result": STRING}, "required": ["result"]}


async def test_a_tool_that_declares_more_than_the_text_returns_the_record(tmp_path: Path) -> None:
    tools = wiki(wiki_tool("read_page", "Read a page with its content and metadata, as JSON", "title"))
    async with service(tmp_path, tools, "records: {}") as sim, sim.open() as world:
        value(await world.call("create_page", {"title": "Home", "content": "Welcome."}))
        assert value(await world.call("read_page", {"title": "Home"}))["title"] == "Home"


async def test_a_template_shows_fields_in_another_form_and_instead_of_null(tmp_path: Path) -> None:
    shown: Json = {"id": "{id}", "uses": "{uses:count}", "size": {"{size??}": {"cm": 1}}, "maker": "{maker??none}"}
    plans = {
        "get_spade": {"result": [{"json": shown}]},
        "show_spade": {"result": [{"json": {**shown, "maker": "{id}"}}]},
    }
    schema = {"type": "object", "properties": {"spade_id": STRING}, "required": ["spade_id"]}
    tools = [{"name": name, "inputSchema": schema} for name in plans]
    rows: list[Json] = [
        {"id": "S-1", "uses": ["dig", "cut"], "size": None, "maker": None},
        {"id": "S-2", "uses": [], "size": {}},
    ]
    spec = f"tools: {json.dumps(tools)}\nsim: {json.dumps(plans)}\n"
    async with (
        service(tmp_path, spec, f"state: {json.dumps({'spades': rows})}") as simulated,
        simulated.open() as world,
    ):
        assert [value(await world.call("get_spade", {"spade_id": row["id"]})) for row in rows] == [
            {"id": "S-1", "uses": 2, "size": {"cm": 1}, "maker": "none"},
            {"id": "S-2", "uses": 0, "size": {}, "maker": "none"},
        ]
        with pytest.raises(Crash, match="maker is None"):
            await world.call("show_spade", {"spade_id": "S-1"})
