"""States of given records that verbs set."""

from __future__ import annotations

from pathlib import Path

from support.given import Json, refused, service, tool, value

DEPOT: Json = {
    "wagons": [
        {"wagon_id": "W1", "load": "coal", "status": "In Use", "locked": False},
        {"wagon_id": "W2", "load": None, "status": "Out Of Order", "locked": False},
    ]
}


async def test_a_state_is_spelled_like_the_others(tmp_path: Path) -> None:
    tools = tool("close_wagon", "wagon_id"), tool("hold_wagon", "wagon_id"), tool("get_wagon", "wagon_id")
    async with service(tmp_path, DEPOT, *tools) as simulator, simulator.open("w") as world:
        for name, status in (("close_wagon", "Closed"), ("hold_wagon", "On Hold")):
            await world.call(name, {"wagon_id": "W1"})
            assert value(await world.call("get_wagon", {"wagon_id": "W1"}))["status"] == status
        assert refused(await world.call("close_wagon", {"wagon_id": "W9"}))


async def test_a_verb_sets_the_flag_of_its_name(tmp_path: Path) -> None:
    tools = tool("lock_wagon", "wagon_id"), tool("unlock_wagon", "wagon_id"), tool("get_wagon", "wagon_id")
    async with service(tmp_path, DEPOT, *tools) as simulator, simulator.open("w") as world:
        for name, locked in (("lock_wagon", True), ("unlock_wagon", False)):
            await world.call(name, {"wagon_id": "W1"})
            assert value(await world.call("get_wagon", {"wagon_id": "W1"}))["locked"] is locked
