"""Given data with loosely named tools, flags and keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support.given import NUMBER, STRING, refused, service, tool, value

Json = Any


def showing(result: Json, name: str, *required: str) -> dict[str, Json]:
    return {**tool(name, *required), "outputSchema": {"type": "object", "properties": {"result": result}}}


STALLS: Json = {"stalls": {"7": {"goods": "tea", "rent": 20}, "12": {"goods": "figs", "rent": 35}}}


async def test_an_undeclared_result_holds_records_not_a_sentence(tmp_path: Path) -> None:
    stalls = [{"stall_id": "ST1", "goods": "tea"}, {"stall_id": "ST2", "goods": "figs"}]
    tools = showing({}, "get_stall", "stall_id"), showing({"title": "R"}, "list_stalls")
    async with service(tmp_path, {"stalls": stalls}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_stall", {"stall_id": "ST2"})) == {"result": stalls[1]}
        assert value(await world.call("list_stalls", {})) == {"result": stalls}


async def test_a_search_with_optional_arguments_finds_several_or_none(tmp_path: Path) -> None:
    memos = [{"memo_id": "m-1", "about": "rain"}, {"memo_id": "m-2", "about": "rain"}]
    tools = tool("search_memo", memo_id=STRING), tool("remove_memo", "memo_id")
    tools[0]["inputSchema"]["properties"] = {"memo_id": STRING, "about": STRING}
    async with service(tmp_path, {"memo": memos}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("search_memo", {"about": "rain"})) == memos
        assert value(await world.call("search_memo", {"memo_id": "m-2"})) == memos[1:]
        await world.call("remove_memo", {"memo_id": "m-2"})
        assert value(await world.call("search_memo", {"memo_id": "m-2"})) == []


async def test_an_outer_key_is_shown_under_the_name_that_tools_use(tmp_path: Path) -> None:
    tools = tool("get_stall", "stall_number"), tool("list_stalls")
    async with service(tmp_path, STALLS, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_stall", {"stall_number": "12"}))["stall_number"] == "12"
        assert [row["stall_number"] for row in value(await world.call("list_stalls", {}))] == ["7", "12"]


async def test_add_creates_a_record_if_it_takes_more_of_its_fields(tmp_path: Path) -> None:
    state: Json = {
        "shelves": {"top": {"tools": ["saw"]}},
        "tools": {"saw": {"kind": "iron", "shelf": "top", "sharp": False}},
    }
    tools = tool("add_tool", "tool_id", "kind", "shelf"), tool("get_tool", "tool_id"), tool("get_shelf", "shelf")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("add_tool", {"tool_id": "axe", "kind": "steel", "shelf": "top"})
        assert value(await world.call("get_tool", {"tool_id": "axe"}))["kind"] == "steel"
        assert refused(await world.call("add_tool", {"tool_id": "axe", "kind": "steel", "shelf": "top"}))


async def test_a_number_outside_a_described_range_is_refused(tmp_path: Path) -> None:
    heat = tool("set_lamp_heat", "lamp_id", "heat", lamp_id=STRING)
    heat["inputSchema"]["properties"]["heat"] = {**NUMBER, "description": "Degrees, between 16 and 30"}
    state = {"lamps": {"L1": {"place": "hall", "heat": 20}, "L2": {"place": "attic", "heat": 20}}}
    async with service(tmp_path, state, heat) as simulator, simulator.open("w") as world:
        assert refused(await world.call("set_lamp_heat", {"lamp_id": "L1", "heat": 15.5}))
        assert not refused(await world.call("set_lamp_heat", {"lamp_id": "L1", "heat": 16}))


async def test_an_end_before_the_start_is_refused(tmp_path: Path) -> None:
    stays = [{"stay_id": 1, "check_in": "2031-02-03", "check_out": "2031-02-05"}]
    tools = tool("create_stay", "check_in", "check_out"), tool("list_stays")
    async with service(tmp_path, {"stays": stays}, *tools) as simulator, simulator.open("w") as world:
        backwards = {"check_in": "2031-03-09", "check_out": "2031-03-07"}
        assert refused(await world.call("create_stay", backwards))
        assert not refused(await world.call("create_stay", {**backwards, "check_out": "2031-03-10"}))
        assert len(value(await world.call("list_stays", {}))) == 2
