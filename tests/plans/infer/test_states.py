"""States of given records that verbs set."""

from __future__ import annotations

from pathlib import Path

import pytest
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


@pytest.mark.parametrize(
    ("act", "about", "state"),
    [
        ("check_in", "Mark the guest of a stay as arrived.", "arrived"),
        ("check_in", "Let a guest in.", "checked_in"),
        ("finish_stay", "Mark a stay as completed.", "done"),
    ],
)
async def test_a_description_says_a_state_that_no_record_has_yet(
    tmp_path: Path, act: str, about: str, state: str
) -> None:
    states = ("booked", "cancelled", "done") if state == "done" else ("booked", "cancelled")
    stays = [{"stay_id": f"S-{number}", "status": status} for number, status in enumerate(states)]
    tools = tool(act, "stay_id", about=about), tool("get_stay", "stay_id"), tool("list_stays")
    async with service(tmp_path, {"stays": stays}, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call(act, {"stay_id": "S-0"}))["status"] == state
        assert value(await world.call("get_stay", {"stay_id": "S-0"}))["status"] == state


@pytest.mark.parametrize("status", [["planned"], {"name": "planned"}, 2.5, None])
async def test_a_described_state_is_no_list_of_states(status: Json, tmp_path: Path) -> None:
    tools = tool("scratch_run", "run_id", about="Cancel a run."), tool("get_run", "run_id")
    runs = [{"run_id": "R1", "status": status}, {"run_id": "R2", "status": "planned"}]
    async with service(tmp_path, {"runs": runs}, *tools) as simulator, simulator.open("w") as world:
        await world.call("scratch_run", {"run_id": "R1"})
        assert value(await world.call("get_run", {"run_id": "R2"}))["status"] == "planned"


@pytest.mark.parametrize(
    ("noun", "field", "values"),
    [("letter", "status", ["sent", "received", "draft"]), ("job", "type", ["hourly", "salaried", "temporary"]),
     ("film", "category", ["silent", "animated", "documentary"])],
)  # fmt: skip
async def test_a_list_has_the_records_whose_value_it_names(
    tmp_path: Path, noun: str, field: str, values: list[str]
) -> None:
    text: Json = {"type": "string"}
    row: Json = {"type": "object", "properties": {"id": text, field: {**text, "enum": values}}, "required": ["id"]}
    rows: Json = {"type": "object", "properties": {"result": {"type": "array", "items": row}}, "required": ["result"]}
    tools = [{**tool(f"get_{each}_{noun}s"), "outputSchema": rows} for each in values]
    given = [{"id": f"r{number}", field: values[number % 2]} for number in range(3)]
    async with service(tmp_path, {f"{noun}s": given}, *tools) as simulator, simulator.open("w") as world:
        shown = [value(await world.call(f"get_{each}_{noun}s", {}))["result"] for each in values]
        assert [[each["id"] for each in listed] for listed in shown] == [["r0", "r2"], ["r1"], []]


@pytest.mark.parametrize("noun", ["day", "page", "weather"])
async def test_the_current_value_of_a_part_is_shown(tmp_path: Path, noun: str) -> None:
    show: Json = {**tool(f"get_current_{noun}"), "outputSchema": {"type": "object", "properties": {
        "result": {"type": "string"}}, "required": ["result"]}}  # fmt: skip
    state: Json = {"part": {f"current_{noun}": "Seven"}, "wagons": DEPOT["wagons"]}
    async with service(tmp_path, state, show, tool("list_wagons")) as simulator, simulator.open("w") as world:
        assert value(await world.call(f"get_current_{noun}", {})) == {"result": "Seven"}
