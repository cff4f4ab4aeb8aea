"""Tools that log an agent's thoughts."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from support.backend_answers import INTEGER, STRING, simulator, success_value, tool

from mcp_sim.backends.library import Library

BOOLEAN = {"type": "boolean"}


async def test_thoughts_are_counted_and_branches_named(tmp_path: Path) -> None:
    words = {
        "thought": STRING,
        "nextThoughtNeeded": BOOLEAN,
        "thoughtNumber": INTEGER,
        "totalThoughts": INTEGER,
        "branchId": STRING,
    }
    tools = [tool("sequentialthinking", words, optional=["branchId"])]
    thought = {"thought": "Well", "nextThoughtNeeded": True, "thoughtNumber": 1, "totalThoughts": 2}
    async with simulator(tmp_path, tools) as sim, sim.open() as world:
        first = success_value(await world.call("sequentialthinking", thought))
        assert first == {
            "thoughtNumber": 1,
            "totalThoughts": 2,
            "nextThoughtNeeded": True,
            "branches": [],
            "thoughtHistoryLength": 1,
        }
        second = success_value(await world.call("sequentialthinking", {**thought, "thoughtNumber": 3, "branchId": "b"}))
        assert (second["totalThoughts"], second["branches"], second["thoughtHistoryLength"]) == (3, ["b"], 2)


async def test_thoughts_can_be_stored_from_python(tmp_path: Path) -> None:
    async with simulator(tmp_path, [tool("think", {"thought": STRING})]) as sim, sim.open() as world:
        log = Library("thinking_log", world.view, datetime(2026, 1, 1, tzinfo=UTC))
        assert log.think("Well").text == "Well"
        assert log.think("Done", number=2, total=1).value["thoughtHistoryLength"] == 2
        assert [change.op for change in log.changes] == ["put", "put"]
