"""Ids of which no tool tells: they are of the kind that the other ids of the server are."""

from __future__ import annotations

from pathlib import Path

from tests.given import INTEGER, service, tool, value


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
