"""disconnect: the connection breaks before the call, in the middle of its answer, or after it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import ValidationError
from support.over_http import ERAS, caller, listening
from support.perturbed import ADA, ALL, SPRING, Crm, outcomes
from support.stdio_process import MODERN_META, odd, serving, steps

from mcp_sim.server.deliverability import check_deliverable
from mcp_sim.types import BrokenDelivery
from mcp_sim.types.errors import UsageError
from mcp_sim.types.kinds import perturbations

eras = pytest.mark.parametrize("era", ERAS)


async def test_before_nothing_is_committed_and_in_the_middle_and_after_everything_is(crm: Crm) -> None:
    for at, committed in (("before", 0), ("middle", 1), ("after", 1)):
        async with crm(f"perturbations: [{{disconnect: {{at: {at}}}, tools: create_deal}}]").open() as world:
            observation = await world.call("create_deal", SPRING)
            assert isinstance(observation.body, BrokenDelivery)
            assert observation.body.how == ("partial" if at == "middle" else "closed")
            step = world.ledger.newest["step"]
            assert len(step["committed"]) == committed
            assert (step["truth"] is None) is (at == "before")
            assert len(world.view.find("deal", "title", "Spring order")) == committed
            assert (await world.call("get_contact", ADA)).ok


async def test_in_the_middle_a_beginning_of_the_true_answer_is_served(crm: Crm) -> None:
    async with crm("perturbations: [{disconnect: {at: middle}, id: d, when: {nth: 2}}]").open() as world:
        assert (await world.call("get_contact", ADA)).ok
        body = (await world.call("get_contact", ADA)).body
        assert isinstance(body, BrokenDelivery)
        assert body.body.startswith('{"jsonrpc":"2.0","result":{"content"')
        with pytest.raises(ValueError, match="column"):
            json.loads(body.body)


async def test_a_second_break_has_no_effect_and_what_is_inside_of_the_first_is_preempted(crm: Crm) -> None:
    entries = "{disconnect: {at: middle}, id: inner}, {disconnect: after, id: outer}, {latency: 2s, id: slow}"
    async with crm(f"perturbations: [{entries}]").open() as world:
        observation = await world.call("list_deals", ALL)
        assert outcomes(world) == [["applied", "no_effect", "applied"]]
        assert observation.delay.total_seconds() == 2
    entries = "{error: {}, id: inner}, {disconnect: {at: before}, id: outer}"
    async with crm(f"perturbations: [{entries}]").open() as world:
        await world.call("list_deals", ALL)
        assert outcomes(world) == [["preempted", "applied"]]


@eras
async def test_over_http_the_connection_is_closed(tmp_path: Path, era: str) -> None:
    path = odd(
        tmp_path,
        {"disconnect": {"at": "before"}, "tools": "create_deal", "when": {"nth": 1}},
        {"disconnect": {"at": "middle"}, "tools": "create_deal", "when": {"nth": 2}},
        {"disconnect": {"at": "after"}, "tools": "create_deal", "when": {"nth": 3}},
    )
    with listening(path) as served:
        async with caller(f"{served.url}/w/a/mcp", era) as one:
            totals = [await total(one)]
            for _ in range(3):
                with pytest.raises(httpx2.RemoteProtocolError):
                    await one.call("create_deal", SPRING)
                totals.append(await total(one))
    assert [count - totals[0] for count in totals] == [0, 0, 1, 2]


async def total(one: Any) -> int:
    return (await one.call("list_deals", {}))["result"]["structuredContent"]["total"]


@pytest.mark.parametrize("session", ["kept", "lost"])
async def test_a_lost_session_is_unknown_from_then_on_and_the_named_world_is_still_there(
    tmp_path: Path, session: str
) -> None:
    path = odd(tmp_path, {"disconnect": {"session": session}, "tools": "create_deal"})
    with listening(path) as served:
        async with caller(f"{served.url}/w/a/mcp", ERAS[0]) as one:
            before = await total(one)
            with pytest.raises(httpx2.RemoteProtocolError):
                await one.call("create_deal", SPRING)
            response = await one.post("tools/call", {"name": "list_deals", "arguments": {}})
            assert response.status_code == (404 if session == "lost" else 200)
            one.session = {}
            await one.shake_hands()
            assert await total(one) == before + 1


@pytest.mark.parametrize("handshake", [True, False])
async def test_over_stdio_the_server_is_gone(tmp_path: Path, handshake: bool) -> None:
    trace = tmp_path / "trace.jsonl"
    entry = {"disconnect": {"at": "middle"}}
    with serving(odd(tmp_path, entry), "--trace", str(trace), handshake=handshake) as wire:
        wire.call(1, "create_deal", SPRING, **({} if handshake else {"_meta": MODERN_META}))
        assert wire.stdout.read().startswith(b'{"jsonrpc":"2.0","result":')
        assert wire.process.wait(10) == 0
    assert steps(trace)[1]["committed"][0]["record"]["title"] == "Spring order"


async def test_a_stall_answers_nothing_and_is_refused_where_no_time_passes(crm: Crm) -> None:
    simulator = crm("perturbations: [{disconnect: {then: stall}, id: d}]")
    async with simulator.open() as world:
        assert (await world.call("list_deals", ALL)).body == BrokenDelivery("no_answer")
    with pytest.raises(UsageError, match=r"d \(disconnect\): .*real clock"):
        check_deliverable(simulator.scenario, "http", "virtual")
    check_deliverable(simulator.scenario, "http", "real")


@pytest.mark.parametrize(
    "options", ["never", {"at": "middle", "then": "stall"}, {"then": "stall", "session": "lost"}, {"session": "gone"}]
)
def test_impossible_options_are_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        perturbations["disconnect"].model_validate(options)
