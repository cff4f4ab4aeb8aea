"""The latest, the oldest and the next of the records that there are, where no argument names one."""

from __future__ import annotations

from pathlib import Path

from support.given import INTEGER, Json, refused, service, tool, value

CHORES: Json = [
    {"id": 1, "title": "Dig", "status": "todo", "priority": "low", "created_at": "2026-01-03T00:00:00Z"},
    {"id": 2, "title": "Sow", "status": "todo", "priority": "high", "created_at": "2026-01-01T00:00:00Z"},
    {"id": 3, "title": "Mow", "status": "done", "priority": "urgent", "created_at": "2026-01-02T00:00:00Z"},
]
TOOLS = (
    tool("create_chore", "title"),
    tool("list_chores"),
    tool("finish_chore", "chore_id", chore_id=INTEGER),
    tool("get_latest_chore"),
    tool("get_oldest_chore"),
    tool("get_next_chore"),
    tool("get_random_chore"),
)


async def test_the_latest_is_the_newest_and_the_oldest_is_not(tmp_path: Path) -> None:
    async with service(tmp_path, {"chores": CHORES}, *TOOLS) as simulator, simulator.open("w") as world:
        assert value(await world.call("get_latest_chore", {}))["title"] == "Dig"
        assert value(await world.call("get_oldest_chore", {}))["title"] == "Sow"
        assert value(await world.call("get_random_chore", {})) in CHORES
        await world.call("create_chore", {"title": "Rake"})
        assert value(await world.call("get_latest_chore", {}))["title"] == "Rake"


async def test_the_next_is_the_most_urgent_of_what_is_not_done(tmp_path: Path) -> None:
    async with service(tmp_path, {"chores": CHORES}, *TOOLS) as simulator, simulator.open("w") as world:
        for title in ("Sow", "Dig"):
            found = value(await world.call("get_next_chore", {}))
            assert found["title"] == title
            await world.call("finish_chore", {"chore_id": found["id"]})
        assert refused(await world.call("get_next_chore", {}))
