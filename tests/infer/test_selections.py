"""Arguments that name the field to set or to show."""

from __future__ import annotations

from pathlib import Path

from support.given import Json, refused, service, tool, value

OVENS: Json = {
    "ovens": [
        {"oven_id": "O1", "room": "Bakery", "degrees": 180, "hot": False},
        {"oven_id": "O2", "room": "Cellar", "degrees": 90.5, "hot": True},
    ]
}
TOOLS = (
    tool("get_oven", "oven_id"),
    tool("get_oven_property", "oven_id", "field"),
    tool("update_oven", "oven_id", "field", "new_value"),
)


async def test_one_argument_names_the_field_that_another_sets(tmp_path: Path) -> None:
    async with service(tmp_path, OVENS, *TOOLS) as simulator, simulator.open("w") as world:
        await world.call("update_oven", {"oven_id": "O1", "field": "room", "new_value": "Attic"})
        await world.call("update_oven", {"oven_id": "O1", "field": "degrees", "new_value": "200"})
        await world.call("update_oven", {"oven_id": "O1", "field": "hot", "new_value": "true"})
        found = value(await world.call("get_oven", {"oven_id": "O1"}))
        assert found == {"oven_id": "O1", "room": "Attic", "degrees": 200, "hot": True}
        assert value(await world.call("get_oven_property", {"oven_id": "O1", "field": "room"})) == {"room": "Attic"}


async def test_only_existing_fields_can_be_named(tmp_path: Path) -> None:
    async with service(tmp_path, OVENS, *TOOLS) as simulator, simulator.open("w") as world:
        assert refused(await world.call("update_oven", {"oven_id": "O1", "field": "colour", "new_value": "x"}))
        assert refused(await world.call("update_oven", {"oven_id": "O9", "field": "room", "new_value": "x"}))
        assert refused(await world.call("get_oven_property", {"oven_id": "O1", "field": "colour"}))


async def test_a_numeric_text_is_stored_as_a_number_in_a_number_field(tmp_path: Path) -> None:
    tools = tool("get_oven", "oven_id"), tool("heat_oven", "oven_id"), tool("set_oven_degrees", "oven_id", "degrees")
    async with service(tmp_path, OVENS, *tools) as simulator, simulator.open("w") as world:
        await world.call("set_oven_degrees", {"oven_id": "O2", "degrees": "75"})
        assert value(await world.call("get_oven", {"oven_id": "O2"}))["degrees"] == 75
        await world.call("set_oven_degrees", {"oven_id": "O2", "degrees": "warm"})
        assert value(await world.call("get_oven", {"oven_id": "O2"}))["degrees"] == "warm"
