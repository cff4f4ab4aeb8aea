"""Tools whose outputSchema promises an object and nothing of what is in it, as frameworks write it for any mapping."""

from __future__ import annotations

from pathlib import Path

from support.given import INTEGER, NUMBER, STRING, Json, service, tool, value

_OPEN: Json = {"type": "object", "additionalProperties": True}


def _open(name: str, *required: str, **arguments: Json) -> Json:
    return {**tool(name, *required, **arguments), "outputSchema": _OPEN}


async def test_an_open_result_holds_what_there_is_to_tell(tmp_path: Path) -> None:
    tools = (
        _open("add_kettle", "colour"),
        _open("list_kettles", colour=STRING),
        _open("delete_kettle", "kettle_id"),
    )
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        made = [value(await world.call("add_kettle", {"colour": one})) for one in ("red", "blue")]
        listed = value(await world.call("list_kettles", {}))
        assert [one["colour"] for one in listed["kettles"]] == ["red", "blue"]
        assert listed["count"] == 2
        gone = value(await world.call("delete_kettle", {"kettle_id": made[0]["id"]}))
        assert gone == {"deleted": True, "id": made[0]["id"]}
        assert [one["colour"] for one in value(await world.call("list_kettles", {}))["kettles"]] == ["blue"]


_TEXTS: Json = {"type": "object", "additionalProperties": STRING}
_KETTLES: Json = {
    "kettles": [{"id": 1, "colour": "red", "litres": 1.5, "lids": ["tin"]}],
    "shelf": {"street": "Mill Lane", "town": "Ely"},
}


async def test_a_mapping_of_texts_says_what_was_done_or_tells_the_texts_of_a_record(tmp_path: Path) -> None:
    tools = [
        tool("add_kettle", "colour", litres=NUMBER),
        tool("get_kettle", "id", id=INTEGER),
        tool("delete_kettle", "id", id=INTEGER),
        tool("update_shelf", town=STRING),
    ]
    tools = [{**one, "outputSchema": _TEXTS} for one in tools]
    async with service(tmp_path, _KETTLES, *tools) as simulator, simulator.open("w") as world:
        assert {*value(await world.call("add_kettle", {"colour": "blue", "litres": 2}))} == {"message"}
        assert value(await world.call("get_kettle", {"id": 1})) == {"colour": "red"}
        assert {*value(await world.call("delete_kettle", {"id": 1}))} == {"message"}
        assert value(await world.call("update_shelf", {"town": "Wells"})) == {"street": "Mill Lane", "town": "Wells"}


async def test_what_holds_nothing_is_left_out_where_a_result_may_leave_it_out_and_takes_no_null(tmp_path: Path) -> None:
    shape: Json = {"type": "object", "properties": {"id": INTEGER, "colour": STRING}, "required": ["id"]}
    rows = [{"id": 1, "colour": None}, {"id": 2, "colour": "red"}]
    listed = {**tool("get_kettle", "id", id=INTEGER), "outputSchema": shape}
    async with service(tmp_path, {"kettles": rows}, listed) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_kettle", {"id": 1})) == {"id": 1}
        assert value(await world.call("get_kettle", {"id": 2})) == {"id": 2, "colour": "red"}
