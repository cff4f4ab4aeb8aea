"""What sets a number for something makes a record of it, or changes the one that there is."""

from __future__ import annotations

from pathlib import Path

from support.given import NUMBER, STRING, refused, service, tool, value

QUOTAS = (
    tool("set_quota", "team", "hours", hours=NUMBER, month=STRING),
    tool("list_quotas"),
    tool("get_quota_status", team=STRING, month=STRING),
)


async def test_a_number_is_set_once_for_each_text_that_says_what_it_is_for(tmp_path: Path) -> None:
    async with service(tmp_path, {}, *QUOTAS) as simulator, simulator.open("w") as world:
        for team, month, hours in (("red", "2030-01", 5), ("blue", "2030-01", 7), ("red", "2030-02", 6)):
            await world.call("set_quota", {"team": team, "month": month, "hours": hours})
        await world.call("set_quota", {"team": "red", "month": "2030-01", "hours": 9})
        rows = value(await world.call("list_quotas", {}))["quotas"]
        assert [(one["team"], one["month"], one["hours"]) for one in rows] == [
            ("red", "2030-01", 9), ("blue", "2030-01", 7), ("red", "2030-02", 6),
        ]  # fmt: skip
        assert value(await world.call("get_quota_status", {"team": "blue", "month": "2030-01"}))["hours"] == 7
        assert refused(await world.call("get_quota_status", {"team": "green"}))


async def test_what_is_named_by_an_id_or_made_by_another_tool_is_no_setting(tmp_path: Path) -> None:
    named = tool("set_quota", "team_id", "hours", hours=NUMBER)
    made = tool("create_quota", "team", "hours", hours=NUMBER)
    async with service(tmp_path, {}, named, *QUOTAS[1:]) as simulator, simulator.open("w") as world:
        await world.call("set_quota", {"team_id": "t-1", "hours": 3})
        assert value(await world.call("list_quotas", {}))["quotas"] == []
    async with service(tmp_path, {}, made, *QUOTAS) as simulator, simulator.open("w") as world:
        await world.call("set_quota", {"team": "red", "hours": 3})
        assert value(await world.call("list_quotas", {}))["quotas"] == []


async def test_of_several_kinds_what_has_an_amount_is_summed_up_by_its_time(tmp_path: Path) -> None:
    tools = (
        tool("add_payment", "date", "payee", "amount", amount=NUMBER),
        tool("list_payments"),
        tool("get_monthly_summary", "month"),
        *QUOTAS,
    )
    async with service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        await world.call("set_quota", {"team": "red", "hours": 3})
        await world.call("add_payment", {"date": "2030-01-04", "payee": "Ada", "amount": 4})
        told = value(await world.call("get_monthly_summary", {"month": "2030-01"}))
    assert told["count"] == 1
