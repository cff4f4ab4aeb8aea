"""Arguments that name values inside an object of a record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support import given

Json = Any

_PATRONS: Json = {
    "p1": {"since": 2029, "name": {"first": "Ada", "last": "Vos"}, "address": {"town": "Wells", "county": "SO"}},
    "p2": {"since": 2030, "name": {"first": "Ada", "last": "Lund"}, "address": {"town": "Frome", "county": "SO"}},
}
_TOOLS = (
    given.tool("find_patron_by_name_and_town", "first", "last", "town"),
    given.tool("list_patrons", county=given.STRING),
    given.tool("search_patrons", "town"),
    given.tool("update_patron_address", "patron_id", town=given.STRING, county=given.STRING),
    given.tool("add_patron", "first", "town"),
    given.tool("get_patron", "patron_id"),
)


async def test_filters_compare_values_inside_objects(tmp_path: Path) -> None:
    async with given.service(tmp_path, {"patrons": _PATRONS}, *_TOOLS) as simulator, simulator.open("w") as world:
        named = {"first": "Ada", "last": "Lund", "town": "Frome"}
        found = given.value(await world.call("find_patron_by_name_and_town", named))
        assert found["name"] == {"first": "Ada", "last": "Lund"}
        assert given.refused(await world.call("find_patron_by_name_and_town", {**named, "town": "Wells"}))
        assert len(given.value(await world.call("list_patrons", {"county": "SO"}))) == 2
        assert [
            one["address"]["town"] for one in given.value(await world.call("search_patrons", {"town": "well"}))
        ] == ["Wells"]


async def test_writes_change_values_inside_objects(tmp_path: Path) -> None:
    async with given.service(tmp_path, {"patrons": _PATRONS}, *_TOOLS) as simulator, simulator.open("w") as world:
        await world.call("update_patron_address", {"patron_id": "p1", "town": "Bath"})
        held = given.value(await world.call("get_patron", {"patron_id": "p1"}))
        assert held["address"] == {"town": "Bath", "county": "SO"}
        made = given.value(await world.call("add_patron", {"first": "Cy", "town": "Bath"}))
        assert (made["name"]["first"], made["address"]["town"]) == ("Cy", "Bath")


async def test_a_name_at_two_places_means_neither(tmp_path: Path) -> None:
    state = {"trips": {"t1": {"days": 3, "start": {"town": "Wells"}, "goal": {"town": "Bath"}}}}
    tools = given.tool("update_trip", "trip_id", town=given.STRING), given.tool("get_trip", "trip_id")
    async with given.service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("update_trip", {"trip_id": "t1", "town": "Frome"})
        held = given.value(await world.call("get_trip", {"trip_id": "t1"}))
        assert (held["start"]["town"], held["goal"]["town"], held["town"]) == ("Wells", "Bath", "Frome")


async def test_a_search_by_a_value_inside_an_object_finds_generated_records(tmp_path: Path) -> None:
    address: Json = {"type": "object", "properties": {"town": given.STRING}, "required": ["town"]}
    parts: Json = {"id": given.STRING, "name": given.STRING, "address": address}
    row: Json = {"type": "object", "properties": parts, "required": [*parts]}
    listed: Json = {"type": "object", "properties": {"inns": {"type": "array", "items": row}}, "required": ["inns"]}
    tool = {**given.tool("search_inns", "town"), "outputSchema": listed}
    async with given.service(tmp_path, None, tool) as simulator, simulator.open("w") as world:
        inns = given.value(await world.call("search_inns", {"town": "Wells"}))["inns"]
        assert inns
        assert {one["address"]["town"] for one in inns} == {"Wells"}
