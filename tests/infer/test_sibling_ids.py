"""Ids of which no tool tells: they are of the kind that the other ids of the server are."""

from __future__ import annotations

from pathlib import Path

from support.declared import STRING, domain, obj
from support.declared import tool as declared_tool
from support.given import INTEGER, service, tool, value


async def test_ids_of_which_no_tool_tells_are_like_their_siblings(tmp_path: Path) -> None:
    tools = (
        tool("add_buoy", "colour"),
        tool("get_buoy", "buoy_id", buoy_id=INTEGER),
        tool("add_sighting", "spot"),
        tool("list_sightings"),
    )
    async with service(tmp_path, {"buoys": [], "sightings": []}, *tools) as simulator, simulator.open("w") as world:
        for spot in ("north", "south"):
            await world.call("add_sighting", {"spot": spot})
        assert [one["id"] for one in value(await world.call("list_sightings", {}))] == [1, 2]


def test_what_is_kept_under_the_ids_of_another_has_ids_like_those() -> None:
    doctor = obj(id=STRING, name=STRING)
    rota = obj(doctor_id=STRING, days={"type": "array", "items": STRING})
    entities = domain(
        declared_tool("list_doctors", {}, output={"type": "array", "items": doctor}),
        declared_tool("get_doctor", {"doctor_id": STRING}, "doctor_id", output=doctor),
        declared_tool("get_rota", {"doctor_id": STRING}, "doctor_id", output=rota),
    ).entities
    assert entities["rota"].key == "doctor_id"
    assert entities["rota"].key_like == entities["doctor"].key_like == "doctor_00001"
