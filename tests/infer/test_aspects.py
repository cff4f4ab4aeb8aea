"""Tools that show no more of a given record than a part of it: one field, what a name speaks of, an entry for a day."""

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


async def test_a_field_that_is_asked_for_by_name_is_told_alone(tmp_path: Path) -> None:
    tools = tool("get_meter_state", "meter_id"), tool("get_meter", "meter_id")
    async with service(tmp_path, SPA, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_meter_state", {"meter_id": "M1"})) == "open"
        assert value(await world.call("get_meter", {"meter_id": "M1"}))["place"] == "cellar"


async def test_what_a_name_and_a_description_speak_of_is_shown_also_by_a_link(tmp_path: Path) -> None:
    about = "Tells how much water a meter has counted, and the water limit."
    tools = tool("get_water_usage", "meter_id", about=about), tool("list_meters")
    async with service(tmp_path, SPA, *tools) as simulator, simulator.open("w") as world:
        told = value(await world.call("get_water_usage", {"meter_id": "M1"}))
        assert told == {"meter_id": "M1", "water_used": 31, "water_lent": 4, "water_limit": 90}
        assert refused(await world.call("get_water_usage", {"meter_id": "M9"}))


async def test_a_day_picks_what_records_have_for_it(tmp_path: Path) -> None:
    tools = tool("search_tours", "side", "date"), tool("get_tour_status", "tour_id", "date"), tool("list_tours")
    async with service(tmp_path, SPA, *tools) as simulator, simulator.open("w") as world:
        north = {"side": "north", "date": "2031-05-02"}
        found = value(await world.call("search_tours", north))
        assert found == [{"tour_id": "K1", "side": "north", "status": "free", "seats": 4}]
        assert value(await world.call("search_tours", {**north, "side": "south", "date": "2031-05-01"})) == []
        assert value(await world.call("get_tour_status", {"tour_id": "K1", "date": "2031-05-01"})) == "full"
        assert refused(await world.call("get_tour_status", {"tour_id": "K2", "date": "2031-05-01"}))


async def test_a_part_of_a_record_is_shown_in_an_object_that_promises_nothing(tmp_path: Path) -> None:
    state: Json = {"taps": [{"tap_id": "T1", "litres_used": 3, "flow": "slow", "room": "Attic"}]}
    anything: Json = {"type": "object", "additionalProperties": True}
    tools = [{**tool(name, "tap_id"), "outputSchema": anything} for name in ("get_litres_used", "get_tap_flow")]
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_litres_used", {"tap_id": "T1"}))["litres_used"] == 3
        assert value(await world.call("get_tap_flow", {"tap_id": "T1"})) == {"flow": "slow"}
