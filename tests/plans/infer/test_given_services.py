"""Services with given records whose tools are named inconsistently."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.given import INTEGER, STRING, Json, refused, service, tool, value

BOATS: Json = {
    "boats": {
        "HULL1": {"hull_code": "HULL1", "name": "Ada", "berth": "A1", "length": 9, "motor_on": False, "on": False},
        "HULL2": {"hull_code": "HULL2", "name": "Bo", "berth": "B4", "length": 12, "motor_on": False, "on": True},
    }
}


async def test_lists_of_given_records_are_bare_unless_paged(tmp_path: Path) -> None:
    tools = tool("list_boats"), tool("browse_boats", offset=INTEGER)
    async with service(tmp_path, BOATS, *tools) as simulator, simulator.open("w") as world:
        rows = value(await world.call("list_boats", {}))
        assert [row["name"] for row in rows] == ["Ada", "Bo"]
        assert value(await world.call("browse_boats", {}))["boats"] == rows


async def test_a_write_to_given_records_returns_the_record(tmp_path: Path) -> None:
    tools = tool("update_boat", "hull_code", about="Change a boat.", berth=STRING), tool("list_boats")
    async with service(tmp_path, BOATS, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("update_boat", {"hull_code": "HULL1", "berth": "C2"}))["berth"] == "C2"


async def test_a_required_filter_must_name_an_existing_record(tmp_path: Path) -> None:
    state = {**BOATS, "jobs": [{"job_id": 1, "boat_id": "HULL1", "work": "Paint"}]}
    tools = tool("list_jobs", "boat_id"), tool("search_jobs", boat_id=STRING), tool("get_boat", "boat_id")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("list_jobs", {"boat_id": "HULL2"})) == []
        assert refused(await world.call("list_jobs", {"boat_id": "HULL7"}))
        assert value(await world.call("search_jobs", {"boat_id": "HULL7"})) == []


async def test_lists_show_the_ids_that_tools_take(tmp_path: Path) -> None:
    state = {"keepers": {"K1": {"name": "Ada"}, "K2": {"name": "Bo"}}}
    tools = tool("list_keepers"), tool("get_keeper", "keeper_id"), tool("create_keeper", "name")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("create_keeper", {"name": "Cy"})
        rows = value(await world.call("list_keepers", {}))
        assert [row["keeper_id"] for row in rows] == ["K1", "K2", "K3"]
        assert value(await world.call("get_keeper", {"keeper_id": "K3"})) == {"name": "Cy"}


async def test_a_field_named_after_an_entity_with_its_keys_is_a_link(tmp_path: Path) -> None:
    works = [{"work_id": 1, "boat_ref": "HULL1", "quay": "Q1", "fitter": "Cy"}]
    state = {**BOATS, "works": works, "quays": [{"id": "Q1"}, {"id": "Q2"}], "fitters": [{"name": "Cy"}]}
    tools = tool("create_work", "boat_ref", quay=STRING, fitter=STRING), tool("list_works"), tool("list_quays")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert refused(await world.call("create_work", {"boat_ref": "HULL9"}))
        assert refused(await world.call("create_work", {"boat_ref": "HULL2", "quay": "Q7"}))
        value(await world.call("create_work", {"boat_ref": "HULL2", "quay": "Q2", "fitter": "Di"}))
        assert len(value(await world.call("list_works", {}))) == 2


async def test_a_field_of_mixed_types_is_no_link(tmp_path: Path) -> None:
    owners: Json = [
        {"owner_id": "o1", "dog_ids": ["d1"]},
        {"owner_id": "o2", "dog_ids": 7},
        {"owner_id": "o3", "dog_ids": "d1"},
    ]
    kennel: Json = {"owners": owners, "dogs": [{"dog_id": "d1", "name": "Rex"}], "_": {"*": {}}, "-": [{"": 1}]}
    tools = tool("list_dogs"), tool("get_owner", "owner_id")
    async with service(tmp_path, kennel, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_owner", {"owner_id": "o3"}))["dog_ids"] == "d1"


@pytest.mark.parametrize("noun", ["settings", "option", "device"])
async def test_a_write_never_renames_the_only_record(tmp_path: Path, noun: str) -> None:
    state: Json = {noun: {"wifi": True, "torch": False}}
    tools = tool(f"set_{noun}", f"{noun}_name", "on"), tool("get_wifi_status"), tool("get_torch_status")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_wifi_status", {})) is True
        await world.call(f"set_{noun}", {f"{noun}_name": "torch", "on": "true"})
        assert value(await world.call("get_wifi_status", {})) is True


@pytest.mark.parametrize("rows", ["map", "list"])
async def test_what_records_hold_without_a_key_is_never_surely_missing(tmp_path: Path, rows: str) -> None:
    cars = {"AB1": {"model": "Kite"}, "CD2": {"model": "Lark"}}
    held: Json = cars if rows == "map" else [{"plate": plate, **car} for plate, car in cars.items()]
    state: Json = {"accounts": {"ann": {"town": "Ulm", "cars": held}, "bob": {"town": "Jena", "cars": type(held)()}}}
    tools = [
        tool("get_account", "username"),
        tool("register_car", "username", "plate", "model"),
        tool("get_car_details", "username", "plate"),
    ]
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("get_car_details", {"username": "ann", "plate": "AB1"})
        answered = world.ledger.steps[-1]
        assert answered["guessed"] or not answered["truth"]["observation"]["is_error"]
