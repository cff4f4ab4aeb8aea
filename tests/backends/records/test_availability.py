"""What is booked, lent or reserved must be free, is taken, and is given back."""

from __future__ import annotations

from pathlib import Path

from support.given import Json, refused, service, tool, value

DOCK: Json = {
    "canoes": {
        "K1": {"canoe_id": "K1", "colour": "red", "available": True},
        "K2": {"canoe_id": "K2", "colour": "blue", "available": False},
    },
    "huts": {"7": {"beds": 2, "status": "available"}, "9": {"beds": 4, "status": "occupied"}},
    "loans": {"L1": {"canoe_id": "K2", "paddler": "Bo", "day": "2030-05-01"}},
    "stays": {"S1": {"hut_number": "9", "hiker": "Cy", "night": "2030-05-01", "status": "checked_in"}},
}
TOOLS = (
    tool("borrow_canoe", "canoe_id", "paddler", "day"), tool("return_loan", "loan_id"), tool("get_canoe", "canoe_id"),
    tool("reserve_hut", "hut_number", "hiker", "night"), tool("cancel_stay", "stay_id"), tool("check_in", "stay_id"),
    tool("get_hut", "hut_number"), tool("list_stays"), tool("list_loans"),
)  # fmt: skip


async def test_what_is_free_is_taken_once(tmp_path: Path) -> None:
    async with service(tmp_path, DOCK, *TOOLS) as simulator, simulator.open("w") as world:
        lent = {"canoe_id": "K1", "paddler": "Di", "day": "2030-05-02"}
        assert refused(await world.call("borrow_canoe", {**lent, "canoe_id": "K2"}))
        value(await world.call("borrow_canoe", lent))
        assert value(await world.call("get_canoe", {"canoe_id": "K1"}))["available"] is False
        assert refused(await world.call("borrow_canoe", lent))
        assert len(value(await world.call("list_loans", {}))) == 2


async def test_a_state_says_what_is_taken_and_is_free_again_when_it_is_given_back(tmp_path: Path) -> None:
    async with service(tmp_path, DOCK, *TOOLS) as simulator, simulator.open("w") as world:
        made = value(await world.call("reserve_hut", {"hut_number": "7", "hiker": "Di", "night": "2030-05-02"}))
        assert made["status"] == "reserved"
        assert value(await world.call("get_hut", {"hut_number": "7"}))["status"] not in {"available", "checked_in"}
        await world.call("cancel_stay", {"stay_id": made["stay_id"]})
        assert value(await world.call("get_hut", {"hut_number": "7"}))["status"] == "available"


async def test_what_is_given_back_by_the_id_of_its_loan_ends_the_loan(tmp_path: Path) -> None:
    state: Json = {
        "boats": {"B1": {"name": "Ada", "available": False}},
        "hires": {"H1": {"boat_id": "B1", "skipper": "Bo", "status": "active"}},
    }
    tools = tool("return_boat", "hire_id"), tool("get_hire", "hire_id"), tool("get_boat", "boat_id")
    async with service(tmp_path, state, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("return_boat", {"hire_id": "H1"}))["status"] == "returned"
        assert value(await world.call("get_boat", {"boat_id": "B1"}))["available"] is True
        assert refused(await world.call("return_boat", {"hire_id": "H1"}))
