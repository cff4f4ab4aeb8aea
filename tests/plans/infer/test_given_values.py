"""Tools whose result is one value, or a list of them, show it from the given record that their argument names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.given import STRING, service, tool, value

Json = Any
NUMBER: Json = {"type": "number"}
FLAG: Json = {"type": "boolean"}
TEXTS: Json = {"type": "array", "items": STRING}


def showing(schema: Json, name: str, *required: str) -> Json:
    """Return a tool with the outputSchema that frameworks declare for a plain value."""
    output: Json = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
    return {**tool(name, *required), "outputSchema": output}


ENGINES: Json = {"e1": {"fuel": 0.5, "rpm": 900, "running": True}, "e2": {"fuel": 0, "rpm": 0, "running": False}}
LEVELS: Json = {"north": 3.25, "south": 0}


@pytest.mark.parametrize(
    ("state", "name", "argument", "schema", "shown"),
    [
        ({"engines": ENGINES}, "get_engine_fuel", "engine_id", NUMBER, {"e1": 0.5, "e2": 0}),
        ({"engines": ENGINES}, "get_rpm", "engine_id", {"type": "integer"}, {"e1": 900, "e2": 0}),
        ({"engines": ENGINES}, "get_engine_running", "engine_id", FLAG, {"e1": True, "e2": False}),
        ({"water_levels": LEVELS}, "get_water_level", "basin", NUMBER, LEVELS),
        ({"basins": LEVELS}, "get_basin_reading", "basin_id", NUMBER, LEVELS),
    ],
)
async def test_a_number_or_a_flag_is_that_of_the_record(
    tmp_path: Path, state: Json, name: str, argument: str, schema: Json, shown: Json
) -> None:
    tools = [showing(schema, name, argument), tool("get_engine", "engine_id")]
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        answers = {key: value(await world.call(name, {argument: key})) for key in shown}
        assert answers == {key: {"result": held} for key, held in shown.items()}


@pytest.mark.parametrize(
    ("field", "name", "key"),
    [
        ("allergens", "get_dish_allergens", "dish_id"),
        ("allergens", "list_dish_allergens", "dish_id"),
        ("seated", "list_seated_guests", "dish_id"),
        ("seated", "get_seated_guests", "dish_code"),
    ],
)
async def test_a_list_of_plain_values_is_that_of_the_record(tmp_path: Path, field: str, name: str, key: str) -> None:
    dishes: Json = {"d1": {"price": 4, field: ["a1", "a2"]}, "d2": {"price": 5, field: []}}
    tools = [showing(TEXTS, name, key), tool("get_dish", key), tool("list_guests")]
    state = {"dishes": dishes, "guests": [{"guest_id": "a1", "age": 7}, {"guest_id": "a2", "age": 8}]}
    async with service(tmp_path, state, *tools) as sim, sim.open() as world:
        answers = [value(await world.call(name, {key: dish})) for dish in dishes]
        assert answers == [{"result": ["a1", "a2"]}, {"result": []}]
