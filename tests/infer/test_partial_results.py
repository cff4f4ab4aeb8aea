"""Tools that show only a part of a given record: one field, mentioned fields, the entry of a day."""

from __future__ import annotations

from pathlib import Path

from support.given import Json, refused, service, tool, value

SPA: Json = {
    "tariffs": [{"tariff_id": "T1", "name": "Basic", "water_limit": 90, "monthly_fee": 12}],
    "meters": [
        {"meter_id": "M1", "tariff_id": "T1", "water_used": 31, "water_lent": 4, "state": "open", "place": "cellar"}
    ],
    "tours": {
        "K1": {
            "tour_id": "K1",
            "side": "north",
            "days": {"2031-05-01": {"status": "full"}, "2031-05-02": {"status": "free", "seats": 4}},
        },
        "K2": {"tour_id": "K2", "side": "south", "days": {"2031-05-02": {"status": "free", "seats": 9}}},
    },
}


async def test_a_tool_named_after_a_field_shows_only_that_field(tmp_path: Path) -> None:
    tools = tool("get_meter_state", "meter_id"), tool("get_meter", "meter_id")
    async with service(tmp_path, SPA, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_meter_state", {"meter_id": "M1"})) == "open"
        assert value(await world.call("get_meter", {"meter_id": "M1"}))["place"] == "cellar"


async def test_fields_that_name_and_description_mention_are_shown_also_from_linked_records(tmp_path: Path) -> None:
    about = "Tells how much water a meter has counted, and the water limit."
    tools = tool("get_water_usage", "meter_id", about=about), tool("list_meters")
    async with service(tmp_path, SPA, *tools) as simulator, simulator.open("w") as world:
        shown = value(await world.call("get_water_usage", {"meter_id": "M1"}))
        assert shown == {"meter_id": "M1", "water_used": 31, "water_lent": 4, "water_limit": 90}
        assert refused(await world.call("get_water_usage", {"meter_id": "M9"}))


async def test_a_date_selects_the_entry_of_that_day(tmp_path: Path) -> None:
    tools = tool("search_tours", "side", "date"), tool("get_tour_status", "tour_id", "date"), tool("list_tours")
    async with service(tmp_path, SPA, *tools) as simulator, simulator.open("w") as world:
        north = {"side": "north", "date": "2031-05-02"}
        found = value(await world.call("search_tours", north))
        assert found == [{"tour_id": "K1", "side": "north", "status": "free", "seats": 4}]
        assert value(await world.call("search_tours", {**north, "side": "south", "date": "2031-05-01"})) == []
        assert value(await world.call("get_tour_status", {"tour_id": "K1", "date": "2031-05-01"})) == "full"
        assert refused(await world.call("get_tour_status", {"tour_id": "K2", "date": "2031-05-01"}))


async def test_a_part_of_a_record_is_an_object_if_the_schema_declares_an_open_one(tmp_path: Path) -> None:
    state: Json = {"taps": [{"tap_id": "T1", "litres_used": 3, "flow": "slow", "room": "Attic"}]}
    anything: Json = {"type": "object", "additionalProperties": True}
    tools = [{**tool(name, "tap_id"), "outputSchema": anything} for name in ("get_litres_used", "get_tap_flow")]
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_litres_used", {"tap_id": "T1"}))["litres_used"] == 3
        assert value(await world.call("get_tap_flow", {"tap_id": "T1"})) == {"flow": "slow"}
