"""Tools that no backend computes: plausible data where they promise some, a confirmation elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import refused, service, tool, value

from mcp_sim.world.world import World

Json = Any
NUMBER = {"type": "number"}


async def answered(world: World, name: str, **arguments: Json) -> Json:
    return value(await world.call(name, arguments))


async def test_a_lookup_returns_data_that_repeats_what_was_asked(tmp_path: Path) -> None:
    async with service(tmp_path, {"flags": []}, tool("geocode", "address")) as sim, sim.open("w") as world:
        found = await answered(world, "geocode", address="Lisbon")
        assert found.keys() == {"address", "latitude", "longitude"}
        assert found["address"] == "Lisbon"
        assert await answered(world, "geocode", address="Lisbon") == found
        assert world.ledger.newest["step"]["guessed"] is True
        assert (await answered(world, "geocode", address="Porto"))["latitude"] != found["latitude"]


@pytest.mark.parametrize(
    ("about", "names"),
    [("Look at the reef. Returns the depth, salinity and coral cover.", {"depth", "salinity", "coral_cover"}),
     ("Probe. Returns a dict with keys: depth, murky", {"depth", "murky"})],
)  # fmt: skip
async def test_a_description_names_the_fields(about: str, names: set[str], tmp_path: Path) -> None:
    probe = {**tool("probe"), "description": about}
    async with service(tmp_path, {"flags": []}, probe) as sim, sim.open("w") as world:
        assert (await answered(world, "probe")).keys() == names


async def test_an_action_is_confirmed(tmp_path: Path) -> None:
    async with service(tmp_path, {"flags": []}, tool("click", "selector")) as sim, sim.open("w") as world:
        assert await answered(world, "click", selector="#go") == {
            "success": True, "message": "Clicked successfully", "selector": "#go"
        }  # fmt: skip


async def test_a_declared_result_repeats_what_the_given_state_says(tmp_path: Path) -> None:
    parts = {"cabin_pressure": NUMBER, "fuelLevel": NUMBER, "status": {"type": "string"}}
    inner = {"type": "object", "properties": {"fuel_level": NUMBER, "pilot": {"type": "string"}}}
    schema = {"type": "object", "properties": {**parts, "gauges": inner}, "required": [*parts, "gauges"]}
    probe = {**tool("diagnose_engine", "mode"), "outputSchema": schema}
    state_only = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
    lone = {**tool("assess_weather", "mode"), "outputSchema": state_only}
    plane = {"fuel_level": 41.5, "cabin_pressure": 0.8, "pilot": 7, "status": "parked", "flags": {"wet": True}}
    async with (
        service(tmp_path, {"plane": plane, "crew": [{"id": 1, "name": "Ada"}]}, probe, lone) as sim,
        sim.open("w") as world,
    ):
        found = await answered(world, "diagnose_engine", mode="full")
        assert {name: found[name] for name in parts} == {"cabin_pressure": 0.8, "fuelLevel": 41.5, "status": "parked"}
        assert found["gauges"]["fuel_level"] == 41.5
        assert isinstance(found["gauges"]["pilot"], str), "a value that does not fit is no fact of the result"
        assert (await answered(world, "assess_weather", mode="full"))["status"] != "parked"


async def test_an_id_of_a_record_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    tools = tool("get_dog", "dog_id"), tool("walk", "dog_id"), tool("calculate_bmi", "dog_id", weight=NUMBER)
    async with service(tmp_path, {"dogs": [{"dog_id": "D1", "name": "Rex"}]}, *tools) as sim, sim.open("w") as world:
        for name in ("walk", "calculate_bmi"):
            assert (await world.call(name, {"dog_id": "D1", "weight": 9})).ok
            assert refused(await world.call(name, {"dog_id": "D7", "weight": 9}))
