"""Tools for the current time and for dates, which use the world's clock."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.backend_answers import INTEGER, STRING, Json, error_text, simulator, success_value, tool

ZONE = {"timezone": STRING}


async def test_now_is_the_worlds_time_in_any_zone(tmp_path: Path) -> None:
    tools = [tool("get_current_time", ZONE, optional=["timezone"])]
    async with simulator(tmp_path, tools) as sim, sim.open() as world:
        here = success_value(await world.call("get_current_time", {}))
        assert here["datetime"].startswith("2030-01-01T09:00:0")
        there = success_value(await world.call("get_current_time", {"timezone": "Asia/Kathmandu"}))
        assert there["timezone"] == "Asia/Kathmandu"
        assert there["datetime"].startswith("2030-01-01T14:45:0")
        assert "Europe/Amsterdam" in error_text(await world.call("get_current_time", {"timezone": "Europe/Amsterdm"}))


async def test_a_time_is_converted_to_another_zone(tmp_path: Path) -> None:
    words = {"source_timezone": STRING, "time": STRING, "target_timezone": STRING}
    async with simulator(tmp_path, [tool("convert_time", words)]) as sim, sim.open() as world:
        asked = {"source_timezone": "America/New_York", "time": "16:30", "target_timezone": "Asia/Tokyo"}
        answer = success_value(await world.call("convert_time", asked))
        assert answer["target"]["datetime"] == "2030-01-02T06:30:00+09:00"
        assert answer["time_difference"] == "+14.0h"
        assert "HH:MM" in error_text(await world.call("convert_time", {**asked, "time": "26:30"}))


@pytest.mark.parametrize(
    ("definition", "arguments", "expected"),
    [
        (tool("add_days", {"date": STRING, "days": INTEGER}), {"date": "2028-02-28", "days": 2}, "2028-03-01"),
        (tool("addToDate", {"date": STRING, "amount": INTEGER, "unit": STRING}),
         {"date": "2030-01-31", "amount": 1, "unit": "month"}, "2030-02-28"),
        (tool("days_between", {"start_date": STRING, "end_date": STRING}, about="Days between two dates"),
         {"start_date": "2030-01-01", "end_date": "2030-03-01"}, "59"),
        (tool("format_date", {"date": STRING, "format": STRING}), {"date": "2030-01-31", "format": "DD/MM/YYYY"},
         "31/01/2030"),
        (tool("get_day_of_week", {"date": STRING}), {"date": "2030-01-01"}, "Tuesday"),
        (tool("date_to_timestamp", {"date": STRING}), {"date": "2030-01-01"}, "1893456000"),
    ],
)  # fmt: skip
async def test_dates_are_shifted_compared_and_formatted(
    tmp_path: Path, definition: Json, arguments: Json, expected: str
) -> None:
    async with simulator(tmp_path, [definition]) as sim, sim.open() as world:
        assert success_value(await world.call(definition["name"], arguments)) == expected
        wrong = {name: "never" if isinstance(value, str) else value for name, value in arguments.items()}
        assert "never" in error_text(await world.call(definition["name"], wrong))
