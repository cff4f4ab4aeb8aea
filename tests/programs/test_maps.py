"""The maps service: an open world whose places, distances and ways agree with each other."""

from __future__ import annotations

from typing import Any

import pytest
from support.services import message, value
from support.vendors import compiled

from mcp_sim import Simulator
from mcp_sim.world.world import World

Json = Any


async def ask(world: World, tool: str, **arguments: Json) -> Json:
    return value(await world.call(tool, arguments))


async def test_the_same_question_has_the_same_answer_in_all_worlds() -> None:
    simulator = Simulator.load("maps")
    async with simulator, simulator.open("one", seed=1) as one, simulator.open("two", seed=2) as two:
        place = await ask(one, "maps_geocode", address="Alexanderplatz 5, Berlin")
        assert await ask(two, "maps_geocode", address="Alexanderplatz 5, Berlin") == place
        for other in ("alexanderplatz 5 BERLIN", "Alexanderplatz 5, Berlin, Germany", place["formatted_address"]):
            assert await ask(one, "maps_geocode", address=other) == place
        assert place["formatted_address"].endswith("Berlin, Germany")
        assert (await ask(one, "maps_geocode", address="Alexanderplatz 6, Berlin"))["location"] != place["location"]
        assert one.view.count("place") == 2
        at = {"latitude": place["location"]["lat"], "longitude": place["location"]["lng"]}
        assert (await ask(one, "maps_reverse_geocode", **at))["place_id"] == place["place_id"]


async def test_found_places_are_near_and_have_details() -> None:
    async with Simulator.load("maps").open() as world:
        query: Json = {"query": "bakeries", "location": {"latitude": 48.2, "longitude": 16.37}, "radius": 800}
        places = (await ask(world, "maps_search_places", **query))["places"]
        assert len(places) >= 3
        assert (await ask(world, "maps_search_places", **query))["places"] == places
        for place in places:
            assert place["formatted_address"].endswith("Vienna, Austria")
            there = f"{place['location']['lat']},{place['location']['lng']}"
            (row,) = (await ask(world, "maps_distance_matrix", origins=["48.2,16.37"], destinations=[there]))["results"]
            assert row["elements"][0]["distance"]["value"] <= 800 * 1.3
            details = await ask(world, "maps_place_details", place_id=place["place_id"])
            assert details["name"] == place["name"]
            assert len(details["opening_hours"]["weekday_text"]) == 7


@pytest.mark.parametrize("mode", ["driving", "walking", "bicycling", "transit"])
async def test_distances_are_symmetric_and_steps_add_up(mode: str) -> None:
    ends: Json = ["Dam Square, Amsterdam", "Mill Street 3, Utrecht"]
    async with Simulator.load("maps").open() as world:
        matrix = await ask(world, "maps_distance_matrix", origins=ends, destinations=ends, mode=mode)
        (same, there), (back, _) = (row["elements"] for row in matrix["results"])
        assert there == back
        assert same["distance"]["value"] == 0
        (way,) = (await ask(world, "maps_directions", origin=ends[0], destination=ends[1], mode=mode))["routes"]
        for name in ("distance", "duration"):
            assert way[name] == there[name]
            assert sum(step[name]["value"] for step in way["steps"]) == way[name]["value"]
        assert {step["travel_mode"] for step in way["steps"]} == {mode.upper()}
        assert 33_000 < there["distance"]["value"] < 70_000  # 35 km apart as the crow flies, give or take the suburbs


async def test_elevations_stay_and_what_cannot_be_is_refused() -> None:
    async with Simulator.load("maps").open() as world:
        points: Json = [{"latitude": 46.5, "longitude": 7.9}, {"latitude": 46.6, "longitude": 8.0}]
        one = await ask(world, "maps_elevation", locations=points)
        assert await ask(world, "maps_elevation", locations=points) == one
        assert one["results"][0]["elevation"] != one["results"][1]["elevation"]
        refused: list[tuple[str, Json]] = [
            ("maps_elevation", {"locations": [{"latitude": 91, "longitude": 0}]}),
            ("maps_reverse_geocode", {"latitude": 0, "longitude": -140}),
            ("maps_place_details", {"place_id": "ChIJnowhere"}),
            ("maps_directions", {"origin": "Paris", "destination": "Sydney", "mode": "walking"}),
        ]
        assert [message(await world.call(tool, arguments)) for tool, arguments in refused] == [
            "Elevation request failed: INVALID_REQUEST",
            "Reverse geocoding failed: ZERO_RESULTS",
            "Place details request failed: NOT_FOUND",
            "Directions request failed: ZERO_RESULTS",
        ]


async def test_a_scenario_describes_places() -> None:
    async with Simulator(compiled("calm_maps")).open() as world:
        depot = await ask(world, "maps_geocode", address="Depot Lageweide, Utrecht")
        assert depot["location"] == {"lat": 52.1126, "lng": 5.0501}
