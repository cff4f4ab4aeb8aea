"""malformed: the answer is not what it should be made of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import types
from support.perturbed import ADA, DEAL, SPRING, Crm, calls, outcomes, repeats_and_differs, truth

from mcp_sim.server.testing import connected, spawned
from mcp_sim.types import ToolResult
from mcp_sim.world.world import World


async def broken(crm: Crm, how: str, tool: str, arguments: dict[str, Any]) -> tuple[ToolResult, Any]:
    """Return the result as it is served, and the true value."""
    async with crm(f"perturbations: [{{malformed: {how}, id: bad}}]").open() as world:
        body = (await world.call(tool, arguments)).body
        assert isinstance(body, ToolResult)
        assert not body.is_error
        assert outcomes(world) == [["applied"]]
        return body, truth(world)


async def test_cut_json_ends_in_the_middle_and_the_call_took_effect(crm: Crm) -> None:
    async with crm("perturbations: [{malformed: cut_json, id: bad}]").open() as world:
        body = (await world.call("create_deal", SPRING)).body
        assert isinstance(body, ToolResult)
        assert json.dumps(truth(world), separators=(",", ":")).startswith(body.value)
        with pytest.raises(json.JSONDecodeError):
            json.loads(body.value)
        assert world.view.count("deal") == 3
        assert calls(world)[-1]["served"]["form"] == "text"


async def test_html_is_the_page_of_a_gateway(crm: Crm) -> None:
    body, _ = await broken(crm, "html", "get_contact", ADA)
    assert body.form == "text"
    assert body.value.startswith("<!DOCTYPE html>")


async def test_wrong_type_has_a_list_for_an_object_and_an_object_for_a_list(crm: Crm) -> None:
    body, true = await broken(crm, "wrong_type", "get_contact", ADA)
    assert body.value == [true]
    body, true = await broken(crm, "wrong_type", "list_deals", {})
    assert body.value == {**true, "deals": {"0": true["deals"][0], "1": true["deals"][1]}}


async def test_double_encoded_is_json_in_a_json_string(crm: Crm) -> None:
    body, true = await broken(crm, "double_encoded", "get_contact", ADA)
    assert json.loads(json.loads(body.content[0]["text"])) == true


@pytest.mark.parametrize(("tool", "arguments"), [("list_deals", {}), ("get_deal", DEAL)])
async def test_disagree_says_one_thing_in_the_text_and_another_in_structured_content(
    crm: Crm, tool: str, arguments: dict[str, Any]
) -> None:
    body, true = await broken(crm, "disagree", tool, arguments)
    assert body.value == true
    assert json.loads(body.content[0]["text"]) != true


async def test_it_has_no_effect_on_errors_and_where_it_is_not_decided(crm: Crm) -> None:
    async with crm("perturbations: [{malformed: html, id: bad, when: {nth: 1}}]").open() as world:
        await world.call("get_contact", {"contact_id": "con_99999"})
        await world.call("get_contact", ADA)
        assert (await world.call("get_contact", ADA)).body == ToolResult(truth(world))
        assert outcomes(world) == [["no_effect"], ["applied"], []]


async def test_the_same_seed_repeats_it_and_another_differs(crm: Crm) -> None:
    assert await repeats_and_differs(crm("perturbations: [{malformed: {}, id: p}]"), [("get_deal", DEAL)], "served")


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28"])
@pytest.mark.parametrize("how", ["cut_json", "html", "wrong_type", "double_encoded", "disagree"])
async def test_a_client_that_knows_the_list_of_tools_takes_the_broken_answer(crm: Crm, how: str, mode: str) -> None:
    async with crm(f"perturbations: [{{malformed: {how}}}]").open() as world, connected(world, mode=mode) as client:
        assert not any(tool.output_schema for tool in (await client.list_tools()).tools)
        result = await client.call_tool("get_contact", ADA)
        assert isinstance(result, types.CallToolResult)
        assert not result.is_error
        text = result.content[0]
        assert isinstance(text, types.TextContent)
        assert text.text == served_text(world)


async def test_over_stdio_the_broken_answer_arrives_too(crm: Crm, tmp_path: Path) -> None:
    crm("perturbations: [{malformed: wrong_type}]")
    with (tmp_path / "stderr").open("w") as errlog:
        async with spawned(str(tmp_path / "scenario.yaml"), mode="2026-07-28", errlog=errlog) as client:
            assert not any(tool.output_schema for tool in (await client.list_tools()).tools)
            result = await client.call_tool("get_contact", ADA)
    assert isinstance(result, types.CallToolResult)
    assert isinstance(result.structured_content, list)


def served_text(world: World) -> str:
    served = calls(world)[-1]["served"]
    if "text" in served or served["form"] == "text":
        return served.get("text", served["result"])
    return json.dumps(served["result"], separators=(",", ":"), ensure_ascii=False)


async def test_only_tools_in_reach_are_listed_without_their_output_schema_unless_configured_otherwise(crm: Crm) -> None:
    async def bare(rest: str) -> set[str]:
        entries = f"perturbations: [{{malformed: html, tools: get_*}}, {{stale_read: {{}}, tools: list_*}}]\n{rest}"
        async with crm(entries).open() as world:
            return {tool.name for tool in world.catalogue("crm") if tool.output_schema is None}

    every = {"search_contacts", "create_deal", "get_contact", "list_deals"}
    assert await bare("") == {"get_contact", "get_company", "get_deal"}
    assert await bare("advertise_output_schema: always") == set()
    assert every <= await bare("advertise_output_schema: never")
