"""States and flags of given records that descriptions mention."""

from __future__ import annotations

from pathlib import Path

from support.given import Json, refused, service, tool, value

DEPOT: Json = {
    "wagons": [
        {"wagon_id": "W1", "load": "coal", "status": "Ready", "brake_enabled": True, "has_heating": False},
        {"wagon_id": "W2", "load": None, "status": "In Repair", "brake_enabled": False, "has_heating": False},
    ],
    "drivers": [{"driver_id": "D1", "name": "Ada", "status": "on_duty"}],
}


async def test_a_described_state_is_set_in_the_spelling_of_the_others(tmp_path: Path) -> None:
    about = "Sends the papers of a wagon. Checks: wagon exists. Logic: Sets wagon status to AWAITING_CUSTOMS and waits."
    tools = tool("send_papers", "wagon_id", about=about), tool("get_wagon", "wagon_id")
    async with service(tmp_path, DEPOT, *tools) as simulator, simulator.open("w") as world:
        await world.call("send_papers", {"wagon_id": "W1"})
        assert value(await world.call("get_wagon", {"wagon_id": "W1"}))["status"] == "Awaiting Customs"
        assert refused(await world.call("send_papers", {"wagon_id": "W9"}))


async def test_enable_and_disable_set_a_flag_of_the_named_record(tmp_path: Path) -> None:
    tools = tool("disable_brakes", "wagon_id"), tool("enable_heating", "wagon_id"), tool("get_wagon", "wagon_id")
    async with service(tmp_path, DEPOT, *tools) as simulator, simulator.open("w") as world:
        await world.call("disable_brakes", {"wagon_id": "W1"})
        await world.call("enable_heating", {"wagon_id": "W1"})
        shown = value(await world.call("get_wagon", {"wagon_id": "W1"}))
        assert (shown["brake_enabled"], shown["has_heating"]) == (False, True)


async def test_freeze_adds_a_state_that_no_record_has_yet(tmp_path: Path) -> None:
    state = {"passes": [{"pass_id": "p1", "status": "ACTIVE"}, {"pass_id": "p2", "status": "CLOSED"}]}
    tools = tool("freeze_pass", "pass_id"), tool("unfreeze_pass", "pass_id"), tool("get_pass", "pass_id")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        await world.call("freeze_pass", {"pass_id": "p1"})
        assert value(await world.call("get_pass", {"pass_id": "p1"}))["status"] == "FROZEN"
        assert refused(await world.call("freeze_pass", {"pass_id": "p1"}))
        assert value(await world.call("unfreeze_pass", {"pass_id": "p1"}))["status"] == "ACTIVE"
