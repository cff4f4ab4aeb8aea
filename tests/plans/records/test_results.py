"""Results in unusual forms: open schemas, single values, people, references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import given
from support.services import service, value

from mcp_sim.types import ToolResult
from mcp_sim.types.errors import Crash

Json = Any

_OPEN: Json = {"type": "object", "additionalProperties": True}


def _open(name: str, *required: str, **arguments: Json) -> Json:
    return {**given.tool(name, *required, **arguments), "outputSchema": _OPEN}


async def test_open_result_schemas_show_whole_records_and_return_what_is_missing(tmp_path: Path) -> None:
    tools = (
        _open("add_kettle", "colour"),
        _open("list_kettles", colour=given.STRING),
        _open("delete_kettle", "kettle_id"),
        _open("descale"),
    )
    async with given.service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        made = [given.value(await world.call("add_kettle", {"colour": one})) for one in ("red", "blue")]
        assert [[*one][:3] for one in made] == [["success", "message", "kettle_id"]] * 2
        assert [one["colour"] for one in made] == ["red", "blue"]
        key = made[0]["kettle_id"]
        listed = given.value(await world.call("list_kettles", {}))
        assert [one["colour"] for one in listed["kettles"]] == ["red", "blue"]
        assert [*listed] == ["kettles", "count"]
        gone = {"success": True, "kettle_id": key, "message": f"Kettle {key} deleted successfully"}
        assert given.value(await world.call("delete_kettle", {"kettle_id": key})) == gone
        missing = await world.call("delete_kettle", {"kettle_id": key})
        assert isinstance(missing.body, ToolResult)
        assert (missing.ok, missing.body.is_error) == (False, False)
        assert missing.body.value == {"error": f"Kettle {key} not found"}
        assert [one["colour"] for one in given.value(await world.call("list_kettles", {}))["kettles"]] == ["blue"]
        assert given.value(await world.call("descale", {}))["success"] is True


@pytest.mark.parametrize("data", [_OPEN, {"anyOf": [_OPEN, {"type": "null"}], "default": None}])
async def test_rows_fill_an_open_object_and_the_message_beside_it_is_short(tmp_path: Path, data: Json) -> None:
    parts = {"success": {"type": "boolean"}, "message": given.STRING, "data": data}
    form = {"type": "object", "properties": parts, "required": ["success", "message"]}
    tools = [
        {**given.tool("add_kettle", "colour", colour=given.STRING), "outputSchema": form},
        {**given.tool("list_kettles"), "outputSchema": form},
    ]
    async with given.service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        empty = given.value(await world.call("list_kettles", {}))
        await world.call("add_kettle", {"colour": "red"})
        listed = given.value(await world.call("list_kettles", {}))
    assert empty["data"] == {"kettles": [], "count": 0}
    assert [row["colour"] for row in listed["data"]["kettles"]] == ["red"]
    assert (listed["message"], listed["data"]["count"]) == ("Found 1 kettle", 1)


async def test_an_empty_optional_property_that_takes_no_null_is_left_out(tmp_path: Path) -> None:
    shape: Json = {"type": "object", "properties": {"id": given.INTEGER, "colour": given.STRING}, "required": ["id"]}
    rows = [{"id": 1, "colour": None}, {"id": 2, "colour": "red"}]
    listed = {**given.tool("get_kettle", "id", id=given.INTEGER), "outputSchema": shape}
    async with given.service(tmp_path, {"kettles": rows}, listed) as simulator, simulator.open("w") as world:
        assert given.value(await world.call("get_kettle", {"id": 1})) == {"id": 1}
        assert given.value(await world.call("get_kettle", {"id": 2})) == {"id": 2, "colour": "red"}


TEXT, COUNT = {"type": "string"}, {"type": "integer"}


def spec(*tools: Json) -> str:
    return f"tools: {json.dumps([*tools])}\n"


STRING = {"type": "string"}


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


@pytest.mark.parametrize("about", ["Returns the new id.", "Returns its id: keep it.", "Return a run_id."])
@pytest.mark.parametrize(("form", "argument"), [("json", "run_id"), ("json", "id"), ("prose", "run_id")])
async def test_an_id_alone_has_its_name_in_data(tmp_path: Path, about: str, form: str, argument: str) -> None:
    tools = given.tool("create_run", "label", about=f"Begin a run. {about}"), given.tool("get_run", argument)
    spec = f"text: {form}\ntools: {json.dumps([*tools])}\n"
    async with service(tmp_path, spec, "records: {run: 0}") as simulator, simulator.open("w") as world:
        answer = given.value(await world.call("create_run", {"label": "Docs"}))
        key = answer if form == "prose" else answer[argument]
        assert answer == (key if form == "prose" else {argument: key})
        assert (await world.call("get_run", {argument: key})).ok
