"""Tools whose result is one value, or a list of them, show it from the given record that they mean."""

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


@pytest.mark.parametrize("field", ["tempo", "key_signature", "loud"])
async def test_a_value_of_a_singleton_is_all_that_a_plain_result_shows(tmp_path: Path, field: str) -> None:
    metronome: Json = {"tempo": 96, "key_signature": "D minor", "loud": False}
    schema = {"tempo": NUMBER, "key_signature": STRING, "loud": FLAG}[field]
    tools = [showing(schema, f"get_metronome_{field}"), tool("get_metronome")]
    async with service(tmp_path, {"metronome": metronome}, *tools) as sim, sim.open() as world:
        assert value(await world.call(f"get_metronome_{field}")) == {"result": metronome[field]}
        assert value(await world.call("get_metronome")) == metronome


@pytest.mark.parametrize("named", [{}, {"description": "Turn a lamp on or off"}])
@pytest.mark.parametrize(
    ("setter", "argument", "schema", "new"),
    [("set_lamp", "lit", FLAG, True), ("set_lamp_state", "on", FLAG, True), ("update_lamp", "level", NUMBER, 7)],
)
async def test_values_under_names_are_what_their_tool_sets(
    tmp_path: Path, named: Json, setter: str, argument: str, schema: Json, new: Json
) -> None:
    lamps: Json = dict.fromkeys(("hall", "attic"), False if schema is FLAG else 3)
    setting = {**tool(setter, "name", argument, **{argument: schema}), **named}
    tools = [tool("list_lamps"), tool("get_lamp", "name"), setting]
    async with service(tmp_path, {"lamps": lamps}, *tools) as sim, sim.open() as world:
        assert value(await world.call("get_lamp", {"name": "attic"})) == {"name": "attic", argument: lamps["attic"]}
        await world.call(setter, {"name": "attic", argument: new})
        rows = [{"name": "hall", argument: lamps["hall"]}, {"name": "attic", argument: new}]
        assert value(await world.call("list_lamps")) == rows


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize(("argument", "new"), [("note", "Late"), ("weight", 4.5), ("tags", ["a"]), ("closed", True)])
async def test_what_is_null_in_all_given_records_can_be_set(
    tmp_path: Path, rows: int, argument: str, new: Json
) -> None:
    kind: Json = {"note": STRING, "weight": {"type": "number"}, "closed": {"type": "boolean"}}.get(
        argument, {"type": "array"}
    )
    update: Json = tool("update_parcel", "parcel_id")
    update["inputSchema"]["properties"][argument] = kind
    state = {"parcels": [{"id": f"p{at}", "town": "Hull", argument: None} for at in range(rows)]}
    async with service(tmp_path, state, update, tool("get_parcel", "parcel_id")) as sim, sim.open() as world:
        await world.call("update_parcel", {"parcel_id": "p0", argument: new})
        assert value(await world.call("get_parcel", {"parcel_id": "p0"}))[argument] == new
        assert not any(step.get("guessed") for step in world.ledger.steps)


@pytest.mark.parametrize(("argument", "begin", "end"), [("on_date", "starts_on", "ends_on"), ("date", "start", "end")])
async def test_a_day_is_one_of_a_period(tmp_path: Path, argument: str, begin: str, end: str) -> None:
    shows: Json = [
        {"id": "s1", begin: "2026-04-01", end: "2026-06-30"},
        {"id": "s2", begin: "2026-07-01", end: "2026-09-30"},
        {"id": "s3", begin: "2026-06-30", end: None},
    ]
    listing = tool("list_shows", argument)
    days = {"2026-03-31": [], "2026-04-01": ["s1"], "2026-06-30": ["s1", "s3"], "2026-10-01": ["s3"]}
    async with service(tmp_path, {"shows": shows}, listing) as sim, sim.open() as world:
        for day, keys in days.items():
            answer = await world.call("list_shows", {argument: day})
            assert [row["id"] for row in value(answer)] == keys


@pytest.mark.parametrize(("argument", "asked"), [("year", 2026), ("year", "2026"), ("month", "2026-07")])
async def test_a_month_or_a_year_is_that_of_the_beginning(tmp_path: Path, argument: str, asked: Json) -> None:
    shows: Json = [
        {"id": "s1", "starts_on": "2025-11-01", "ends_on": "2026-08-01"},
        {"id": "s2", "starts_on": "2026-07-01", "ends_on": "2027-01-30"},
    ]
    kind: Json = {"type": "integer" if isinstance(asked, int) else "string"}
    listing = tool("list_shows", about="List shows.", **{argument: kind})
    async with service(tmp_path, {"shows": shows}, listing) as sim, sim.open() as world:
        answer = await world.call("list_shows", {argument: asked})
        assert [row["id"] for row in value(answer)] == ["s2"]


@pytest.mark.parametrize("name", ["whoami", "get_me", "who_am_i"])
async def test_who_calls_is_the_current_user(tmp_path: Path, name: str) -> None:
    user: Json = {"id": "u1", "name": "Ada"}
    async with service(tmp_path, {"current_user": user}, tool(name)) as sim, sim.open() as world:
        assert value(await world.call(name, {})) == user
