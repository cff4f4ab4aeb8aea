"""Writes that create a record or change the existing one."""

from __future__ import annotations

from pathlib import Path

from support import given

QUOTAS = (
    given.tool("set_quota", "team", "hours", hours=given.NUMBER, month=given.STRING),
    given.tool("list_quotas"),
    given.tool("get_quota_status", team=given.STRING, month=given.STRING),
)


async def test_a_setting_is_stored_once_for_each_name(tmp_path: Path) -> None:
    async with given.service(tmp_path, {}, *QUOTAS) as simulator, simulator.open("w") as world:
        for team, month, hours in (("red", "2030-01", 5), ("blue", "2030-01", 7), ("red", "2030-02", 6)):
            await world.call("set_quota", {"team": team, "month": month, "hours": hours})
        await world.call("set_quota", {"team": "red", "month": "2030-01", "hours": 9})
        rows = given.value(await world.call("list_quotas", {}))["quotas"]
        assert [(one["team"], one["month"], one["hours"]) for one in rows] == [
            ("red", "2030-01", 9), ("blue", "2030-01", 7), ("red", "2030-02", 6),
        ]  # fmt: skip
        assert given.value(await world.call("get_quota_status", {"team": "blue", "month": "2030-01"}))["hours"] == 7
        assert given.refused(await world.call("get_quota_status", {"team": "green"}))


async def test_a_record_with_an_id_or_another_creating_tool_is_not_a_setting(tmp_path: Path) -> None:
    named = given.tool("set_quota", "team_id", "hours", hours=given.NUMBER)
    made = given.tool("create_quota", "team", "hours", hours=given.NUMBER)
    async with given.service(tmp_path, {}, named, *QUOTAS[1:]) as simulator, simulator.open("w") as world:
        await world.call("set_quota", {"team_id": "t-1", "hours": 3})
        assert given.value(await world.call("list_quotas", {}))["quotas"] == []
    async with given.service(tmp_path, {}, made, *QUOTAS) as simulator, simulator.open("w") as world:
        await world.call("set_quota", {"team": "red", "hours": 3})
        assert given.value(await world.call("list_quotas", {}))["quotas"] == []
