"""Open entities: every request is answered, and always the same way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.services import service, value

from mcp_sim.simulator.compile import load
from mcp_sim.world.commits import replayed

Json = Any
TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def tool(name: str, *needed: str, output: Json = None, **more: Json) -> Json:
    schema = {"type": "object", "properties": dict.fromkeys(needed, TEXT) | more, "required": [*needed]}
    return {"name": name, "inputSchema": schema} | ({"outputSchema": output} if output else {})


def spec(*tools: Json) -> str:
    return f"tools: {json.dumps([*tools])}"


TIDE = {
    "type": "object",
    "properties": {"harbour": TEXT, "height": {"type": "number", "minimum": 0, "maximum": 9}},
    "required": ["harbour", "height"],
}
FARE = {"type": "object", "properties": {"from": TEXT, "to": TEXT, "price": NUMBER}, "required": ["price"]}


async def test_a_requested_record_exists_and_stays_the_same(tmp_path: Path) -> None:
    sea = spec(tool("get_tide", "harbour", output=TIDE))
    async with service(tmp_path, sea, "records: {}") as sim, sim.open() as world:
        first = value(await world.call("get_tide", {"harbour": "Vlissingen"}))
        assert first["harbour"] == "Vlissingen"
        assert world.ledger.newest["step"]["guessed"] is True
        (pin,) = world.ledger.newest["step"]["absorbed"]
        assert value(await world.call("get_tide", {"harbour": "Vlissingen"})) == first
        assert world.ledger.newest["step"]["absorbed"] == []
        assert value(await world.call("get_tide", {"harbour": "Den Helder"}))["harbour"] == "Den Helder"
        whole = replayed(world.origin.first.state, world.ledger.steps)
        assert whole.get("tide", "Vlissingen") == pin["record"]


async def test_a_record_requested_by_two_arguments_exists(tmp_path: Path) -> None:
    desk = spec(tool("get_fare", "from", "to", output=FARE))
    async with service(tmp_path, desk, "records: {}") as sim, sim.open() as world:
        there = value(await world.call("get_fare", {"from": "Delft", "to": "Gouda"}))
        assert (there["from"], there["to"]) == ("Delft", "Gouda")
        back = value(await world.call("get_fare", {"from": "Gouda", "to": "Delft"}))
        assert (back["from"], back["to"]) == ("Gouda", "Delft")
        assert value(await world.call("get_fare", {"from": "Delft", "to": "Gouda"})) == there


async def test_a_list_with_a_required_filter_has_some_rows(tmp_path: Path) -> None:
    async with service(tmp_path, spec(tool("list_concerts", "city")), "records: {}") as sim, sim.open() as world:
        found = value(await world.call("list_concerts", {"city": "Zwolle"}))
        assert found["count"] > 1
        assert {concert["city"] for concert in found["concerts"]} == {"Zwolle"}
        assert value(await world.call("list_concerts", {"city": "Zwolle"})) == found


@pytest.mark.parametrize(
    "tools",
    [
        (tool("get_tide", "harbour"), tool("create_tide", "harbour")),
        (tool("search_tides", "query"), tool("delete_tide", "tide_id")),
        (tool("list_todos"), tool("search_todos", "query"), tool("add_todo", "title")),
    ],
)
def test_an_entity_that_tools_create_or_delete_is_closed(tools: Json, tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text(json.dumps({"tools": [*tools]}), encoding="utf-8")
    assert not any(entity.open for entity in load(path).domain.entities.values())


async def test_a_spec_may_declare_an_open_entity(tmp_path: Path) -> None:
    declared = (
        "\nentities: {tide: {key: tide_id, open: true, fields: {tide_id: {type: string}, height: {type: number}}}}"
    )
    desk = spec(tool("get_tide", "tide_id")) + declared
    async with service(tmp_path, desk, "records: {tide: 0}") as sim, sim.open() as world:
        assert value(await world.call("get_tide", {"tide_id": "spring"}))["tide_id"] == "spring"
        assert not (await world.call("get_tide", {"tide_id": " "})).ok


async def test_each_of_several_requested_records_exists(tmp_path: Path) -> None:
    asked = {"type": "array", "items": TEXT}
    schema: Json = {"type": "object", "properties": {"tickers": asked}, "required": ["tickers"]}
    desk = spec({"name": "get_quotes", "inputSchema": schema})
    async with service(tmp_path, desk, "records: {}") as sim, sim.open() as world:
        found = value(await world.call("get_quotes", {"tickers": ["ABC", "XYZ"]}))["quotes"]
        assert {quote["ticker"] for quote in found} == {"ABC", "XYZ"}


async def test_a_refused_request_creates_no_record(tmp_path: Path) -> None:
    desk = spec(tool("list_concerts", "city", sort_by=TEXT))
    async with service(tmp_path, desk, "records: {}") as sim, sim.open() as world:
        assert not (await world.call("list_concerts", {"city": "Zwolle", "sort_by": "nonsense"})).ok
        assert not world.ledger.newest["step"]["absorbed"]


async def test_an_entity_under_the_key_of_another_exists_for_its_records_only(tmp_path: Path) -> None:
    desk = spec(tool("read_inbox", "user", output={}), tool("list_users"), tool("create_user", "name"))
    async with service(tmp_path, desk, "records: {}") as sim, sim.open() as world:
        ann = value(await world.call("create_user", {"name": "ann"}))["id"]
        assert value(await world.call("read_inbox", {"user": ann}))["user"] == ann
        assert not (await world.call("read_inbox", {"user": "nobody"})).ok
