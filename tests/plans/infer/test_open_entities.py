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


async def test_a_refused_request_creates_no_record(tmp_path: Path) -> None:
    desk = spec(tool("list_concerts", "city", limit={"type": "integer"}))
    async with service(tmp_path, desk, "records: {}") as sim, sim.open() as world:
        assert not (await world.call("list_concerts", {"city": "Zwolle", "limit": -1})).ok
        assert not world.ledger.newest["step"]["absorbed"]


FLIGHTS = [
    tool("search_flights", "from", "to", "date", max_price=NUMBER, limit={"type": "integer"}),
    tool("get_flight", "flight_id"),
]


async def test_a_search_creates_records_that_match_its_filters(tmp_path: Path) -> None:
    asked = {"from": "AMS", "to": "JFK", "date": "2031-03-02", "max_price": 200, "limit": 2}
    async with service(tmp_path, spec(*FLIGHTS), "records: {}") as sim, sim.open() as world:
        found = value(await world.call("search_flights", asked))["results"]
        assert 0 < len(found) <= 2
        assert all(one["from"] == "AMS" and one["price"] <= 200 for one in found)
        assert all(one["departure_time"].startswith("2031-03-02") for one in found)
        assert value(await world.call("search_flights", asked))["results"] == found
        assert world.ledger.newest["step"]["absorbed"] == []


async def test_an_id_that_a_search_shows_leads_to_the_same_record_and_others_are_refused(tmp_path: Path) -> None:
    tracks = spec(tool("search_tracks", "query"), tool("get_track", "track_id"))
    async with service(tmp_path, tracks, "records: {}") as sim, sim.open() as world:
        first, *_ = value(await world.call("search_tracks", {"query": "blue moon"}))["results"]
        assert "blue moon" in first["title"].lower()
        assert value(await world.call("get_track", {"track_id": first["id"]})) == first
        assert not (await world.call("get_track", {"track_id": "no-such-track"})).ok


async def test_an_id_that_no_tool_shows_comes_from_outside(tmp_path: Path) -> None:
    async with service(tmp_path, spec(tool("get_artist", "artist_id")), "records: {}") as sim, sim.open() as world:
        assert value(await world.call("get_artist", {"artist_id": "4Z8W4fKeB5"}))["id"] == "4Z8W4fKeB5"


async def test_nothing_was_created_in_the_future(tmp_path: Path) -> None:
    news = spec(tool("list_articles", "topic", created_after=TEXT))
    async with service(tmp_path, news, "records: {}") as sim, sim.open() as world:
        asked = {"topic": "tea", "created_after": "2999-01-01"}
        assert value(await world.call("list_articles", asked))["articles"] == []


@pytest.mark.parametrize(("declared", "counted", "is_open"), [("", "2", False), ("{open: true}", "2", True)])
async def test_counted_records_are_all_there_are_unless_declared_open(
    declared: str, counted: str, is_open: bool, tmp_path: Path
) -> None:
    sea = spec(tool("get_tide", "harbour")) + (f"\nentities: {{tide: {declared}}}" if declared else "")
    async with service(tmp_path, sea, f"records: {{tide: {counted}}}") as sim, sim.open() as world:
        assert (await world.call("get_tide", {"harbour": "Vlissingen"})).ok is is_open


async def test_a_spec_may_close_an_entity(tmp_path: Path) -> None:
    sea = spec(tool("get_tide", "harbour")) + "\nentities: {tide: {open: false}}"
    async with service(tmp_path, sea, "records: {}") as sim, sim.open() as world:
        assert not (await world.call("get_tide", {"harbour": "Vlissingen"})).ok


async def test_a_write_to_a_record_from_outside_is_kept(tmp_path: Path) -> None:
    tools = tool("set_quota", "user", "size", size=NUMBER), tool("get_quota", "user"), tool("list_quotas")
    async with service(tmp_path, spec(*tools), "records: {}") as sim, sim.open() as world:
        before = value(await world.call("get_quota", {"user": "ada"}))
        value(await world.call("set_quota", {"user": "ada", "size": 7}))
        value(await world.call("set_quota", {"user": "tom", "size": 5}))
        assert value(await world.call("get_quota", {"user": "tom"}))["size"] == 5
        assert value(await world.call("get_quota", {"user": "ada"})) == {**before, "size": 7}
        listed = value(await world.call("list_quotas", {}))["quotas"]
        assert {one["user"]: one.get("size") for one in listed}.items() >= {"ada": 7, "tom": 5}.items()


@pytest.mark.parametrize("place", ["file", "path", "filename", "url"])
async def test_what_files_and_urls_name_may_exist_before_tools_create_it(tmp_path: Path, place: str) -> None:
    names = "create_report", "get_report", "update_report", "delete_report"
    desk = spec(*(tool(name, place, title=TEXT) for name in names), tool("read_page", place, page=NUMBER))
    async with service(tmp_path, desk, "records: {}") as sim, sim.open() as world:
        assert (await world.call("update_report", {place: "old.txt", "title": "Tides"})).ok
        assert value(await world.call("get_report", {place: "old.txt"}))["title"] == "Tides"
        assert (await world.call("read_page", {place: "old.txt"})).ok  # the page is optional
        assert value(await world.call("get_report", {place: "other.txt"}))[place] == "other.txt"
        assert (await world.call("delete_report", {place: "third.txt"})).ok
        assert (await world.call("create_report", {place: "new.txt", "title": "Winds"})).ok
        for gone in ("old.txt", "third.txt", "new.txt"):
            await world.call("delete_report", {place: gone})
            assert not (await world.call("get_report", {place: gone})).ok
            assert not (await world.call("delete_report", {place: gone})).ok


@pytest.mark.parametrize("named", ["name", "chart_name", "chart_title"])
async def test_what_has_a_name_in_a_file_is_created_first(tmp_path: Path, named: str) -> None:
    desk = spec(*(tool(f"{verb}_chart", "path", named) for verb in ("create", "delete")), tool("list_charts", "path"))
    async with service(tmp_path, desk, "records: {}") as sim, sim.open() as world:
        assert value(await world.call("list_charts", {"path": "a.txt"}))["charts"] == []
        assert not (await world.call("delete_chart", {"path": "a.txt", named: "c"})).ok
        assert (await world.call("create_chart", {"path": "a.txt", named: "c"})).ok


async def test_what_tools_only_delete_is_deleted_once(tmp_path: Path) -> None:
    async with service(tmp_path, spec(tool("remove_ban", "address")), "records: {}") as sim, sim.open() as world:
        removed = [await world.call("remove_ban", {"address": address}) for address in ("a", "b", "a")]
    assert [answer.ok for answer in removed] == [True, True, False]
