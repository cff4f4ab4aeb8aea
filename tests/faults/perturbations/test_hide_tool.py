"""hide_tool: a tool is gone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from support.catalogues import LIST, announcing_calls, names, over_http, over_stdio, received_announcements
from support.perturbed import SPRING, Crm, outcomes

from mcp_sim.types import RpcError, ToolResult
from mcp_sim.types.errors import DocumentError
from mcp_sim.types.kinds import perturbations


async def test_a_hidden_tool_is_not_listed_and_unknown_when_it_is_called(crm: Crm) -> None:
    async with crm("perturbations: [{hide_tool: {}, id: gone, tools: [create_*]}]").open() as world:
        assert not [name for name in names(world) if name.startswith("create_")]
        assert "list_deals" in names(world)
        observation = await world.call("create_deal", SPRING)
        assert observation.body == RpcError(-32602, "Unknown tool: create_deal")
        assert world.ledger.newest["step"]["committed"] == []
        assert outcomes(world) == [["applied"]]
        assert (await world.call(*LIST)).ok
        assert outcomes(world)[-1] == []


async def test_it_can_still_work_or_be_refused_as_a_result(crm: Crm) -> None:
    async with crm("perturbations: [{hide_tool: {calls: answered}, tools: create_deal}]").open() as world:
        assert "create_deal" not in names(world)
        assert (await world.call("create_deal", SPRING)).ok
    async with crm("perturbations: [{hide_tool: {refusal: is_error}, tools: create_deal}]").open() as world:
        body = (await world.call("create_deal", SPRING)).body
        assert body == ToolResult("Unknown tool: create_deal", form="text", is_error=True)


async def test_with_times_it_is_gone_as_long_as_they_hold_and_clients_are_shown_at_both_ends(crm: Crm) -> None:
    entry = "{hide_tool: {announced: true}, id: gone, tools: create_deal, when: {between: [2 calls, 4 calls]}}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        shown = list[bool]()
        served = list[int]()
        for n in range(1, 7):
            shown.append("create_deal" in names(world))
            served += [n] if await announcing_calls(world, 1) else []
        assert shown == [True, True, False, False, True, True]
        assert served == [3, 5]


async def test_with_other_triggers_it_lasts_from_the_call_on_for_which_they_hold(crm: Crm) -> None:
    entry = "{hide_tool: {announced: true}, id: gone, tools: create_deal, when: {nth: 2}}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        assert (await world.call("create_deal", SPRING)).ok
        assert "create_deal" in names(world)
        twin = world.fork()
        assert await announcing_calls(world, 2, ("create_deal", SPRING)) == [1]
        assert "create_deal" not in names(world)
        assert "create_deal" in names(twin)
        assert not (await world.call("create_deal", SPRING)).ok
        world.reset()
        assert "create_deal" in names(world)


async def test_what_is_so_from_the_start_or_not_announced_is_no_news(crm: Crm) -> None:
    async with crm("perturbations: [{hide_tool: {announced: true}, tools: create_deal}]").open() as world:
        assert await announcing_calls(world, 3) == []
    async with crm("perturbations: [{hide_tool: {}, tools: create_deal, when: {after: 1 calls}}]").open() as world:
        assert await announcing_calls(world, 3) == []


async def test_what_is_inside_of_a_refused_call_is_preempted_and_latency_is_too(crm: Crm) -> None:
    entries = "{latency: 1s, id: slow}, {empty_result: {}, id: empty}, {hide_tool: {calls: answered}, id: gone}"
    async with crm(f"perturbations: [{entries}]").open() as world:
        assert (await world.call(*LIST)).delay.total_seconds() == 1
        assert outcomes(world) == [["applied", "applied", "applied"]]


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
async def test_clients_hear_of_it_in_both_eras(crm: Crm, mode: str) -> None:
    entry = "{hide_tool: {announced: true}, tools: create_deal, when: {after: 1 calls}}"
    async with crm(f"perturbations: [{entry}]").open() as world:
        assert len(await received_announcements(world, mode, [LIST, LIST, LIST])) == 1


async def test_over_http_and_stdio_it_is_not_listed(tmp_path: Path) -> None:
    entry: dict[str, Any] = {"hide_tool": {}, "tools": "create_deal"}
    for shown in (*await over_http(tmp_path, entry), *over_stdio(tmp_path, entry)):
        assert "create_deal" not in shown
        assert "list_deals" in shown


def test_it_takes_no_keys_for_single_calls(crm: Crm) -> None:
    with pytest.raises(DocumentError, match="fires: applies to faults of single calls"):
        crm("perturbations: [{hide_tool: {}, fires: 1}]")


@pytest.mark.parametrize("options", ["no", {"calls": "ignored"}, {"refusal": "http"}])
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["hide_tool"].model_validate(options)
