"""Writes that create a record or change the existing one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import given
from support.services import message, service, value

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


async def test_a_summary_sums_the_entity_with_an_amount_by_its_time(tmp_path: Path) -> None:
    tools = (
        given.tool("add_payment", "date", "payee", "amount", amount=given.NUMBER),
        given.tool("list_payments"),
        given.tool("get_monthly_summary", "month"),
        *QUOTAS,
    )
    async with given.service(tmp_path, {}, *tools) as simulator, simulator.open("w") as world:
        await world.call("set_quota", {"team": "red", "hours": 3})
        await world.call("add_payment", {"date": "2030-01-04", "payee": "Ada", "amount": 4})
        summary = given.value(await world.call("get_monthly_summary", {"month": "2030-01"}))
    assert summary["count"] == 1


PROMPTS = """
tools:
  - name: list_prompts
    inputSchema:
      type: object
      properties: {command: {type: string, description: Optional filter text to show only matching prompts}}
  - name: update_prompt
    inputSchema:
      type: object
      properties: {id: {type: string}, name: {type: string}, category: {type: string}, template: {type: string}}
      required: [id, name, category, template]
  - name: delete_prompt
    inputSchema: {type: object, properties: {id: {type: string}}, required: [id]}
  - name: modify_prompt
    inputSchema: {type: object, properties: {id: {type: string}, template: {type: string}}, required: [id]}
"""
WHOLE: dict[str, Any] = {"id": "greeting", "name": "Greet", "category": "talk", "template": "Hello"}


async def test_a_tool_that_takes_whole_records_creates_them_if_no_other_tool_does(tmp_path: Path) -> None:
    async with service(tmp_path, PROMPTS, "records: {prompt: 0}\n") as sim, sim.open() as world:
        assert "not found" in message(await world.call("modify_prompt", {"id": "greeting", "template": "Hi"}))
        await world.call("update_prompt", WHOLE)
        await world.call("update_prompt", {**WHOLE, "template": "Good day"})
        assert [one["template"] for one in value(await world.call("list_prompts", {}))["prompts"]] == ["Good day"]
        await world.call("delete_prompt", {"id": "greeting"})
        await world.call("update_prompt", WHOLE)
        assert world.view.count("prompt") == 1


@pytest.mark.parametrize(("text", "count"), [("greet", 1), ("nothing", 0)])
async def test_an_argument_described_as_a_filter_is_searched_for(tmp_path: Path, text: str, count: int) -> None:
    async with service(tmp_path, PROMPTS, "records: {prompt: 0}\n") as sim, sim.open() as world:
        await world.call("update_prompt", WHOLE)
        assert len(value(await world.call("list_prompts", {"command": text}))["prompts"]) == count
