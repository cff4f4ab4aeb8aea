"""Tools that no backend computes: plausible data where they promise some, a confirmation elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import INTEGER, STRING, refused, service, tool, value

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


@pytest.mark.parametrize(
    ("name", "argument", "schema", "given", "shown"),
    [("calculate", "expression", STRING, "3131.1 + 4777.75 + 367.38", "8276.23"),
     ("evaluate", "formula", STRING, "(2 + 2) * 3 ^ 2", "36.0"),
     ("solve", "math_expression", STRING, "0.1 + 0.2", "0.3"),
     ("mean", "numbers", {"type": "array", "items": NUMBER}, [227.16, 2.552, 227.11, 227.09], "170.978"),
     ("sum_values", "values", {"type": "array", "items": INTEGER}, [1, 2, 4], "7.0")],
)  # fmt: skip
async def test_arithmetic_is_computed(
    name: str, argument: str, schema: Json, given: Json, shown: str, tmp_path: Path
) -> None:
    plain = tool(name, argument, **{argument: schema})
    wraps = {"type": "object", "properties": {"result": NUMBER}, "required": ["result"]}
    typed = {**plain, "name": f"{name}_2", "outputSchema": wraps}
    async with service(tmp_path, {"flags": []}, plain, typed) as sim, sim.open("w") as world:
        assert await answered(world, name, **{argument: given}) == shown
        assert await answered(world, f"{name}_2", **{argument: given}) == {"result": float(shown)}


@pytest.mark.parametrize(
    ("name", "about", "names", "shown"),
    [("sum_numbers", "", ("a", "b"), 16), ("subtract", "Subtract b from a.", ("a", "b"), 8),
     ("subtract", "Subtract x from y.", ("x", "y"), -8), ("compute_difference", "", ("left", "right"), 8),
     ("multiply_values", "", ("x", "y"), 48), ("divide", "Divide one number by another.", ("top", "low"), 3)],
)  # fmt: skip
async def test_two_numbers_are_computed_with(
    name: str, about: str, names: tuple[str, str], shown: int, tmp_path: Path
) -> None:
    number = {"type": "object", "properties": {"result": NUMBER}, "required": ["result"]}
    plain = {**tool(name, *names, about=about, **dict.fromkeys(names, NUMBER)), "outputSchema": number}
    async with service(tmp_path, {"flags": []}, plain) as sim, sim.open("w") as world:
        assert await answered(world, name, **dict(zip(names, (12, 4), strict=True))) == {"result": shown}
        assert world.ledger.newest["step"]["guessed"] is False
        guess = await answered(world, name, **dict(zip(names, (12, 0), strict=True)))
        assert world.ledger.newest["step"]["guessed"] is (name == "divide"), guess


@pytest.mark.parametrize(
    ("name", "names", "shown"),
    [("percentage", ("part", "whole"), "percentage"), ("get_margin", ("cost", "price"), "margin"),
     ("show_mean_speed", ("distance_km", "hours"), "speed"), ("add", ("a", "b"), "result")],
)  # fmt: skip
async def test_numbers_to_compute_with_name_no_records(
    name: str, names: tuple[str, str], shown: str, tmp_path: Path
) -> None:
    number = {"type": "object", "properties": {shown: NUMBER}, "required": [shown]}
    plain = tool(name, *names, about=f"Return the {shown}.", **dict.fromkeys(names, NUMBER))
    other = {**tool("add_to", "a", "b", a=NUMBER, b=NUMBER), "outputSchema": number}
    async with service(tmp_path, {}, {**plain, "outputSchema": number}, other) as sim, sim.open("w") as world:
        first = await answered(world, name, **dict(zip(names, (12, 4), strict=True)))
        assert isinstance(first[shown], int | float)
        assert await answered(world, name, **dict(zip(names, (12, 4), strict=True))) == first


async def test_numbers_that_a_record_with_an_id_keeps_are_not_computed_with(tmp_path: Path) -> None:
    parts = {"id": NUMBER, "width": NUMBER, "height": NUMBER}
    output = {"type": "object", "properties": parts, "required": [*parts]}
    make = {**tool("create_crate", "width", "height", width=NUMBER, height=NUMBER), "outputSchema": output}
    get = {**tool("get_crate", "crate_id", crate_id=NUMBER), "outputSchema": output}
    async with service(tmp_path, {}, make, get) as sim, sim.open("w") as world:
        crate = await answered(world, "create_crate", width=3, height=4)
        assert await answered(world, "get_crate", crate_id=crate["id"]) == crate


@pytest.mark.parametrize(
    ("name", "flag"),
    [("send_alert", "sent"), ("submit_form", "accepted"), ("submitOrder", "order_accepted"), ("queue_print", "queued"),
     ("upload_scan", "is_uploaded"), ("schedule_pickup", "pickup_scheduled"), ("check_line", "success"),
     ("list_lines", "ok"), ("notify_guest", "delivered"), ("create_backup", "created")],
)  # fmt: skip
async def test_a_flag_of_success_is_true_also_beside_a_new_record(name: str, flag: str, tmp_path: Path) -> None:
    parts = {flag: {"type": "boolean"}, "reference_id": STRING, "note": STRING}
    acting = {**tool(name, "target"), "outputSchema": {"type": "object", "properties": parts, "required": [*parts]}}
    async with service(tmp_path, {"flags": []}, acting) as sim, sim.open("w") as world:
        for target in "abcdef":
            assert (await answered(world, name, target=target))[flag] is True


@pytest.mark.parametrize(
    ("name", "flag"), [("verify_seal", "verified"), ("check_gas", "checked"), ("find_leak", "ok_now")]
)
async def test_a_flag_of_what_a_check_finds_may_be_false(name: str, flag: str, tmp_path: Path) -> None:
    parts = {flag: {"type": "boolean"}}
    acting = {**tool(name, "target"), "outputSchema": {"type": "object", "properties": parts, "required": [*parts]}}
    async with service(tmp_path, {"flags": []}, acting) as sim, sim.open("w") as world:
        assert {(await answered(world, name, target=f"t{number}"))[flag] for number in range(12)} == {True, False}


@pytest.mark.parametrize(
    "given", ["1 / 0", "9 ^ 9 ^ 9 ^ 9", "x + 1", "(" * 400, "().__class__", "0 9 * * 1", "'a' * 9"]
)
async def test_what_is_no_arithmetic_is_answered_as_a_guess(given: str, tmp_path: Path) -> None:
    async with service(tmp_path, {"flags": []}, tool("calculate", "expression")) as sim, sim.open("w") as world:
        await answered(world, "calculate", expression=given)
        assert world.ledger.newest["step"]["guessed"] is True


@pytest.mark.parametrize(
    ("name", "flag"),
    [("sweep_room", "swept"), ("swap_rooms", "swapped"), ("notifyGuest", "notified"), ("ring_bell", "rung"),
     ("queue_song", "queued"), ("api.mute_line", "muted")],
)  # fmt: skip
async def test_what_a_success_says_it_did_is_done(name: str, flag: str, tmp_path: Path) -> None:
    declared = {"type": "object", "properties": {flag: {"type": "boolean"}}, "required": [flag]}
    acting = {**tool(name, "target"), "outputSchema": declared}
    async with service(tmp_path, {"flags": []}, acting) as sim, sim.open("w") as world:
        for target in ("a", "b", "c", "d"):
            assert await answered(world, name, target=target) == {flag: True}
            assert world.ledger.newest["step"]["guessed"] is True
