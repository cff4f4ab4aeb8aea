"""Tools for the current time and for dates, which use the world's clock."""

from __future__ import annotations

from pathlib import Path

from support.backend_answers import STRING, error_text, simulator, success_value, tool

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
        assert "never" in error_text(await world.call("convert_time", {**asked, "time": "never"}))
