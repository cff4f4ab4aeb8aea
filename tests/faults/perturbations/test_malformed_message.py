"""malformed_message: what comes in place of the answer is no message, or not the one that was asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError
from support.over_http import ERAS, caller, listening
from support.perturbed import ADA, ALL, SPRING, Crm, outcomes
from support.stdio_process import MODERN_META, odd, serving

from mcp_sim.server.deliverability import check_deliverable
from mcp_sim.types import BrokenDelivery
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import perturbations

FORMS = ("cut", "html", "bare", "wrong_id")


async def served(crm: Crm, form: str) -> str:
    async with crm(f"perturbations: [{{malformed_message: {form}, tools: create_deal}}]").open() as world:
        body = (await world.call("create_deal", SPRING)).body
        assert isinstance(body, BrokenDelivery)
        assert body.how == "garbled"
        assert len(world.view.find("deal", "title", "Spring order")) == 1
        assert (await world.call("get_contact", ADA)).ok
        return body.body


async def test_each_form_is_what_it_says_and_the_call_takes_effect(crm: Crm) -> None:
    cut = await served(crm, "cut")
    assert cut.startswith('{"jsonrpc":"2.0"')
    for text in (cut, await served(crm, "html")):
        with pytest.raises(ValueError, match="column"):
            json.loads(text)
    bare, wrong = json.loads(await served(crm, "bare")), json.loads(await served(crm, "wrong_id"))
    assert "jsonrpc" not in bare
    assert bare["structuredContent"]["title"] == "Spring order"
    assert (wrong["jsonrpc"], wrong["result"]) == ("2.0", bare)


async def test_an_answer_that_is_broken_already_stays_as_it_is(crm: Crm) -> None:
    entries = "{disconnect: after, id: gone}, {malformed_message: html, id: page}, {latency: 1s, id: slow}"
    async with crm(f"perturbations: [{entries}]").open() as world:
        observation = await world.call("list_deals", ALL)
        assert observation.body == BrokenDelivery("closed")
        assert outcomes(world) == [["applied", "no_effect", "applied"]]


async def test_it_composes_with_what_answers_in_the_worlds_place(crm: Crm) -> None:
    entries = "{error: {message: no}, id: e}, {malformed_message: bare, id: page}"
    async with crm(f"perturbations: [{entries}]").open() as world:
        body = (await world.call("list_deals", ALL)).body
        assert isinstance(body, BrokenDelivery)
        assert json.loads(body.body) == {"content": [{"type": "text", "text": "no"}], "isError": True}
        assert outcomes(world) == [["applied", "applied"]]


@pytest.mark.parametrize("era", ERAS)
async def test_over_http_it_comes_as_the_body_and_the_next_call_is_answered(tmp_path: Path, era: str) -> None:
    path = odd(tmp_path, *({"malformed_message": form, "when": {"nth": n}} for n, form in enumerate(FORMS, 1)))
    with listening(path) as served_at:
        async with caller(f"{served_at.url}/w/a/mcp", era) as one:
            for form in FORMS:
                response = await one.post("tools/call", {"name": "get_contact", "arguments": ADA})
                assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
                assert ("<html>" in response.text) is (form == "html")
            assert "result" in await one.call("get_contact", ADA)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_an_agent_over_http_sees_that_something_is_wrong(tmp_path: Path, mode: str) -> None:
    path = odd(tmp_path, *({"malformed_message": form, "when": {"nth": n}} for n, form in enumerate(FORMS, 1)))
    with listening(path) as served_at:
        async with Client(f"{served_at.url}/w/a/mcp", mode=mode) as client:
            for _ in FORMS:
                with anyio.fail_after(60), pytest.raises(MCPError):
                    await client.call_tool("get_contact", ADA, read_timeout_seconds=1)
            assert not (await client.call_tool("get_contact", ADA)).is_error


@pytest.mark.parametrize("handshake", [True, False])
def test_over_stdio_it_is_a_line_and_no_answer_follows(tmp_path: Path, handshake: bool) -> None:
    meta = {} if handshake else {"_meta": MODERN_META}
    entry = {"malformed_message": "html", "when": {"nth": 1}}
    with serving(odd(tmp_path, entry), handshake=handshake) as wire:
        wire.call(1, "get_contact", ADA, **meta)
        assert wire.stdout.readline().startswith(b"<!DOCTYPE html>")
        wire.call(2, "get_contact", ADA, **meta)
        assert wire.answer()["id"] == 2


def test_over_stdio_it_is_refused_where_no_time_passes(crm: Crm) -> None:
    scenario = crm("perturbations: [{malformed_message: cut, id: m}]").scenario
    with pytest.raises(UsageError, match=r"m \(malformed_message\): .*real clock"):
        check_deliverable(scenario, "stdio", "virtual")
    check_deliverable(scenario, "http", "virtual")
    check_deliverable(scenario, "stdio", "real")


@pytest.mark.parametrize("options", ["xml", 1, {"form": None}, {"shape": "cut"}])
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["malformed_message"].model_validate(options)
