"""Answers agree with what a call asks for: places, ways, currencies, files, events, names of what is searched."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.given import service, tool, value

from mcp_sim.generate.places import city_in, nearest_city, time_zone_of
from mcp_sim.generate.records import generate
from mcp_sim.types.domain import Domain, Entity, Field
from mcp_sim.types.scenario import GivenRecords
from mcp_sim.world.world import World

Json = Any
NOW = datetime(2030, 1, 1, 9, tzinfo=UTC)
TEXT: Json = {"type": "string"}
NUMBER: Json = {"type": "number"}
TIME: Json = {"type": "string", "format": "date-time"}


async def answered(world: World, name: str, **arguments: Json) -> Json:
    return value(await world.call(name, arguments))


def records(*entities: Entity, count: int = 60) -> dict[str, list[Json]]:
    domain = Domain({}, {one.name: one for one in entities}, {}, "", NOW)
    tables = generate(domain, {one.name: GivenRecords(count) for one in entities}, 1)
    return {name: [*rows.values()] for name, rows in tables.items()}


def entity(name: str, **fields: Json) -> Entity:
    own = {field: Field(field, schema, required=True) for field, schema in fields.items()}
    return Entity(name, "id", f"{name}_1", {"id": Field("id", TEXT), **own})


@pytest.mark.parametrize(
    ("text", "city"),
    [("1 Castle Street, Mountain View, CA", "Mountain View"), ("Torstraße 1, Berlin", "Berlin"), ("FRA", "Frankfurt"),
     ("coffee in amsterdam", "Amsterdam"), ("München", "Munich"), ("12 London Road", None), ("a nice day", None),
     ("hotels near Perth", "Perth"), ("Main Street 5, Portugal", "Lisbon"), ("", None)],
)  # fmt: skip
def test_a_text_names_a_city(text: str, city: str | None) -> None:
    found = city_in(text)
    assert (found and found.name) == city


def test_a_point_has_the_time_zone_of_its_city() -> None:
    zones = [time_zone_of(nearest_city(*point)) for point in ((34.0, -118.2), (35.7, 139.7), (47.4, 8.5))]
    assert zones == ["America/Los_Angeles", "Asia/Tokyo", "Europe/Zurich"]


async def test_coordinates_and_addresses_are_where_the_call_asks(tmp_path: Path) -> None:
    tools = tool("geocode", "address"), tool("reverse_geocode", latitude=NUMBER, longitude=NUMBER)
    async with service(tmp_path, {"flags": []}, *tools) as sim, sim.open("w") as world:
        found = await answered(world, "geocode", address="Rua Augusta 7, Lisbon")
        assert nearest_city(found["latitude"], found["longitude"]).name == "Lisbon"
        back = await answered(world, "reverse_geocode", latitude=48.2, longitude=16.37)
        assert back["formatted_address"].endswith("Vienna")


def test_the_type_of_an_event_decides_its_time() -> None:
    kind = {"type": "string", "enum": ["upcoming", "previous_meetings"]}
    for one in records(entity("meeting", type=kind, start_time=TIME))["meeting"]:
        assert (datetime.fromisoformat(one["start_time"]) > NOW) == (one["type"] == "upcoming")


def test_what_is_active_has_not_expired() -> None:
    status = {"type": "string", "enum": ["active", "expired"]}
    for one in records(entity("subscription", status=status, expires_at=TIME))["subscription"]:
        assert (datetime.fromisoformat(one["expires_at"]) > NOW) == (one["status"] == "active")
