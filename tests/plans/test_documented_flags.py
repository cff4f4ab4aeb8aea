"""Results that descriptions document as booleans."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.given import Json, service, tool, value

DOCUMENTED = [
    "Returns true or false for a successful change.",
    "Returns True if it worked.",
    "Change it.\n\nReturns:\n    bool: whether it worked",
    "Change it.\n\nReturns\n-------\nchanged : bool\n    Whether it worked.",
    "Change it.\n\n:rtype: bool",
]
STATE: Json = {"valves": [{"valve_id": "V1", "pressure": 4}, {"valve_id": "V2", "pressure": 6}]}


@pytest.mark.parametrize("about", DOCUMENTED)
async def test_writes_return_a_documented_boolean(tmp_path: Path, about: str) -> None:
    tools = [
        tool("add_valve", "valve_id", "pressure", about=about),
        tool("update_valve", "valve_id", "pressure", about=about),
        tool("delete_valve", "valve_id", about=about),
        tool("list_valves"),
    ]
    async with service(tmp_path, STATE, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call("add_valve", {"valve_id": "V3", "pressure": "1"})) is True
        assert value(await world.call("update_valve", {"valve_id": "V2", "pressure": "9"})) is True
        assert value(await world.call("delete_valve", {"valve_id": "V1"})) is True
        rows = value(await world.call("list_valves", {}))
        assert [row["valve_id"] for row in rows] == ["V2", "V3"]


@pytest.mark.parametrize("about", DOCUMENTED)
@pytest.mark.parametrize("name", ["is_tight", "verify_pin", "log_in"])
async def test_a_documented_boolean_that_nothing_determines_is_a_guess(tmp_path: Path, name: str, about: str) -> None:
    tools = tool(name, "pin", about=about), tool("list_valves")
    async with service(tmp_path, STATE, *tools) as simulator, simulator.open("w") as world:
        assert value(await world.call(name, {"pin": "1234"})) is True
        assert world.ledger.steps[-1]["guessed"]


async def test_other_results_of_the_description_stay_data(tmp_path: Path) -> None:
    about = "Returns the valve, whose `tight` is true or false."
    tools = tool("update_valve", "valve_id", "pressure", about=about), tool("list_valves")
    async with service(tmp_path, STATE, *tools) as simulator, simulator.open("w") as world:
        shown = value(await world.call("update_valve", {"valve_id": "V2", "pressure": "9"}))
        assert shown["valve_id"] == "V2"
